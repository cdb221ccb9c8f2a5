package log

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

// Command is quill log.
func Command(env opt.Env) *cli.Command {
	c := command{env}
	return &cli.Command{
		Name: "log", Usage: "show the extent of a cell's log; export, import, verify, move it",
		Description: "Without a command, prints what there is. The log is that of the running cell, asked through\n" +
			"qmaster (managers are shown all, other users what the events show them), of a cell that does\n" +
			"not run, by its directory, or an exported file.",
		Flags:       []cli.Flag{logFlag, opt.JSONFlag()},
		Action:      c.info,
		Subcommands: []*cli.Command{c.export(), c.imports(), c.verify(), c.move()},
	}
}

type command struct{ env opt.Env }

var logFlag = &cli.StringFlag{Name: "log",
	Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
	DefaultText: "that of the cell"}

// open opens the log that the user means. near says which stretch of it.
func (c command) open(ctx context.Context, path string, near func(*history.Source)) (*history.Log, error) {
	s, err := history.Find(path, c.env.Getenv)
	if err != nil {
		return nil, err
	}
	s.Odd = func(u *codec.Unreadable) { fmt.Fprintln(c.env.Stderr, "quill log:", u) }
	if near != nil {
		near(&s)
	}
	return history.Open(ctx, s)
}

// logOf is the path that the user gave, before or after the verb.
func logOf(c *cli.Context) string {
	for _, level := range c.Lineage() {
		if path := level.String("log"); path != "" {
			return path
		}
	}
	return ""
}

const stamp = "2006-01-02 15:04:05"

func (c command) mark(m history.Mark) string {
	return fmt.Sprintf("list %d of %s", m.Seq, m.At.Std().In(c.env.Now().Location()).Format(stamp))
}

// info prints what there is.
func (c command) info(x *cli.Context) error {
	if x.Args().Present() {
		return opt.Usagef("log: unknown command %q", x.Args().First())
	}
	l, err := c.open(x.Context, logOf(x), func(s *history.Source) { s.From = gdi.Place{Seq: 1 << 62} })
	if err != nil {
		return err
	}
	defer l.Close()
	if x.Bool("json") {
		return document.Write(c.env.Stdout, documentOf(l))
	}
	s := l.Store()
	line := func(name, format string, args ...any) {
		fmt.Fprintf(c.env.Stdout, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("from", "%s", c.mark(s.First))
	line("to", "%s", c.mark(s.Last))
	line("span", "%s", s.Last.At.Std().Sub(s.First.At.Std()).Round(time.Second))
	line("epoch", "%d", s.Epoch.Reign())
	line("size", "%s, on disk %s", size(s.Bytes), size(s.Packed))
	line("segments", "%d", s.Segments)
	for i, m := range s.States {
		name := ""
		if i == 0 {
			name = "states"
		}
		line(name, "%s", c.mark(m))
	}
	if len(s.States) == 0 {
		line("states", "none: reading begins with the first list")
	}
	runs := "none"
	if s.RunsFrom > 0 {
		runs = fmt.Sprintf("from list %d on, %s", s.RunsFrom, size(s.Runs))
	}
	line("runs", "%s", runs)
	_, last := l.Span()
	if full, err := l.Full(last.Seq); err == nil {
		if conf := full.Conf("global"); conf != nil {
			if seconds, most, ok := conf.KeptOrders(); ok {
				line("kept", "runs %s", limits(seconds, most))
			}
			if seconds, most, ok := conf.KeptHistory(); ok {
				line("", "lists %s", limits(seconds, most))
			}
		}
	}
	for _, note := range notes(l.About()) {
		line("note", "%s", note)
	}
	return nil
}

// limits returns how long and how much something is kept.
func limits(seconds, bytes float64) string {
	text := "for ever"
	if seconds < grid.Infinity {
		text = fmt.Sprintf("for %s", time.Duration(seconds)*time.Second)
	}
	if bytes < grid.Infinity {
		text += ", at most " + size(int64(bytes))
	}
	return text
}

// notes are what one must know of a file.
func notes(a history.About) (out []string) {
	if a.Redacted {
		out = append(out, "redacted: names stand for others")
	}
	if a.Partial {
		out = append(out, "without what only managers may see: scripts, environments, recorded runs")
	}
	if a.Damage != "" {
		out = append(out, "ends before a damage of the log it is from: "+a.Damage)
	}
	return out
}

func size(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for ; v >= 10_000 && i < len(units)-1; i++ {
		v /= 1024
	}
	return strings.TrimSuffix(fmt.Sprintf("%.0f %s", v, units[i]), " ")
}
