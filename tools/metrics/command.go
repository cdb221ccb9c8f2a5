package metrics

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

// Command writes the metrics of the past.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "metrics", Usage: "write the metrics of the past as OpenMetrics, for Prometheus to import",
		Description: "The metrics that follow from the event log: jobs, tasks by state, starts, ends, waiting times, hosts. Counters\n" +
			"begin with 0 at --from, which is at the earliest the beginning of the log.\n\n" +
			"   quill metrics --from -30d --out quill.om\n" +
			"   promtool tsdb create-blocks-from openmetrics quill.om /var/lib/prometheus\n\n" + opt.MomentLegend,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "begin at `SEQ|TIME`", DefaultText: "the beginning of the log"},
			&cli.StringFlag{Name: "to", Usage: "end at `SEQ|TIME`", DefaultText: "the end of the log"},
			&cli.DurationFlag{Name: "step", Value: 5 * time.Minute, Usage: "a sample each `TIME`"},
			&cli.StringFlag{Name: "log",
				Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
				DefaultText: "that of the cell"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`", DefaultText: "standard output"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return fmt.Errorf("metrics: %q is not an option", c.Args().First())
			}
			if c.Duration("step") < time.Second {
				return fmt.Errorf("metrics: --step %s is less than a second", c.Duration("step"))
			}
			if err := run(c, env); err != nil {
				return fmt.Errorf("metrics: %w", err)
			}
			return nil
		},
	}
}

func run(c *cli.Context, env opt.Env) error {
	log, err := open(c.Context, env, c.String("log"))
	if err != nil {
		return err
	}
	defer log.Close()
	first, last := log.Span()
	from, to := first, last
	for flag, place := range map[string]*history.Mark{"from": &from, "to": &to} {
		if err := mark(log, c.String(flag), last.At, place); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	from.At = max(from.At, first.At) // nothing is known of the time before the log
	if to.At < from.At {
		return errors.New("--to is before --from")
	}
	var text func(io.Writer) error
	if text, err = sample(c.Context, log, from, to, c.Duration("step")); err != nil {
		return err
	}
	if c.String("out") == "" {
		return text(env.Stdout)
	}
	return write(c.String("out"), text)
}

func open(ctx context.Context, env opt.Env, path string) (*history.Log, error) {
	source, err := history.Find(path, env.Getenv)
	if err != nil {
		return nil, err
	}
	source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(env.Stderr, "quill metrics:", u) }
	return history.Open(ctx, source)
}

// mark sets a place in the log to the one that a user names, if any.
func mark(log *history.Log, text string, end grid.Time, place *history.Mark) error {
	if text == "" {
		return nil
	}
	m, err := opt.ParseMoment(text, end.Std())
	if err != nil {
		return err
	}
	seq, err := log.At(m)
	if err = cmp.Or(log.Reach(m), err); err != nil {
		return err
	}
	*place = history.Mark{Seq: seq, At: m.At}
	if m.At != 0 {
		return nil
	}
	for l, err := range log.Lists(seq) {
		place.At = l.At
		return err
	}
	return nil
}

// write writes a file, none if that fails.
func write(path string, text func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	if err = errors.Join(text(out), out.Flush(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
