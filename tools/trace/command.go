package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
)

// Command exports the traces of jobs.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "trace", Usage: "export an OpenTelemetry trace of each job from the log, of the past or as jobs end",
		Description: "A trace has a span for the job and below it one for each reason for which it waited, for its start\n" +
			"(transfer and prolog), its run, suspensions and finish (epilog and report), of an array for each task.\n" +
			"A span is exported when it has ended. Identifiers follow from cell and job number: a span that is\n" +
			"exported again is the same. The job's processes have their parent in TRACEPARENT.\n\n" +
			"The collector is that of OTEL_EXPORTER_OTLP_ENDPOINT, with the other variables of the OTLP exporter\n" +
			"over HTTP; without them http://localhost:4318.\n\n" +
			"   quill trace --from -1d\n" +
			"   quill trace --follow\n" +
			"   quill trace --job 4711 --json\n\n" + opt.MomentLegend,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "begin at `SEQ|TIME`",
				DefaultText: "the beginning of the log; with --follow now"},
			&cli.BoolFlag{Name: "follow", Usage: "continue with what happens, until interrupted"},
			&cli.StringFlag{Name: "job", Usage: "only the traces of these `JOBS`: numbers separated by commas"},
			&cli.StringFlag{Name: "log",
				Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
				DefaultText: "that of the cell"},
			&cli.BoolFlag{Name: "json", Usage: "print each span as a line of JSON instead of exporting it"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return fmt.Errorf("trace: %q is not an option", c.Args().First())
			}
			var off string
			var err error
			if !c.Bool("json") {
				off, err = disabledBy(os.Getenv)
			}
			switch {
			case err != nil:
			case off != "":
				fmt.Fprintf(env.Stderr, "quill trace: %s: nothing is exported\n", off)
			default:
				err = run(c, env)
			}
			if err != nil {
				return fmt.Errorf("trace: %w", err)
			}
			return nil
		},
	}
}

// closeWait bounds sending what is left at the end.
const closeWait = 30 * time.Second

func run(c *cli.Context, env opt.Env) (err error) {
	jobs, err := jobsOf(c.String("job"))
	if err != nil {
		return err
	}
	if c.Bool("follow") && c.String("log") != "" {
		return errors.New("--follow needs a cell that runs, without --log")
	}
	source, err := history.Find(c.String("log"), env.Getenv)
	if err != nil {
		return err
	}
	source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(env.Stderr, "quill trace:", u) }
	name := cmp.Or(source.Cell.Name, env.Getenv("SGE_CELL"), cell.DefaultName) // a file does not say of which cell it is
	if source.Dir != "" {
		name = filepath.Base(source.Dir)
	}
	t := &tracing{env: env, ctx: c.Context, source: source, cell: name, jobs: jobs}
	if t.to, err = t.exporter(c.Bool("json")); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context), closeWait)
		defer cancel()
		err = errors.Join(err, t.to.close(ctx))
	}()
	if c.String("from") != "" || !c.Bool("follow") {
		if err := t.past(c.String("from")); err != nil {
			return err
		}
	}
	if c.Bool("follow") {
		return t.follow()
	}
	if unseen := t.tracer.Unseen(); len(unseen) > 0 {
		return gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("job %d is not in this stretch of the log", unseen[0]))
	}
	return nil
}

// jobsOf reads --job.
func jobsOf(text string) (jobs []uint32, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("--job: %q is not the number of a job", word)
		}
		jobs = append(jobs, uint32(n))
	}
	return jobs, nil
}

// tracing is a run of the command.
type tracing struct {
	env    opt.Env
	ctx    context.Context
	source history.Source
	cell   string
	jobs   []uint32
	to     exporter
	tracer *Tracer // nil before the first list
}

func (t *tracing) exporter(json bool) (exporter, error) {
	if json {
		return newLines(t.env.Stdout), nil
	}
	return newCollector(t.ctx, t.cell, t.env.Stderr)
}

// past exports what the log has from a moment on.
func (t *tracing) past(from string) error {
	log, err := history.Open(t.ctx, t.source)
	if err != nil {
		return err
	}
	defer log.Close()
	first, last := log.Span()
	begin := first.Seq
	if from != "" {
		m, err := opt.ParseMoment(from, last.At.Std())
		if err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		seq, err := log.Begin(m)
		if err = cmp.Or(log.Reach(m), err); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		begin = cmp.Or(seq, first.Seq)
	}
	st := state.New()
	if begin > 1 {
		if st, err = log.Full(begin - 1); err != nil {
			return err
		}
	}
	t.tracer = New(t.cell, st, t.jobs...)
	return t.lists(log, last.Seq)
}

// lists exports what ends with the lists of a log after those that the tracer has, up to one.
func (t *tracing) lists(log *history.Log, to uint64) error {
	for l, err := range log.Lists(t.tracer.Seq() + 1) {
		switch {
		case err != nil:
			return err
		case t.ctx.Err() != nil:
			return t.ctx.Err()
		case l.Seq > to:
			return nil
		case l.Seq <= t.tracer.Seq():
			continue
		}
		for _, s := range t.tracer.Apply(l) {
			if err := t.to.export(s); err != nil {
				return err
			}
		}
	}
	return nil
}
