package log

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/redact"
)

func (c command) export() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a part of the log, with the full state before it and the recorded runs, to one file",
		ArgsUsage: "[FILE]",
		Description: "The file needs nothing else: every command that takes --log reads it, and `quill log import`\n" +
			"makes a cell's directory of it. Without FILE it goes to the standard output.\n\n" +
			"With --redact users, unix groups and projects become u0001, u0002, ..., job names j0001, ..., in\n" +
			"the order of the names, for that order decides ties; paths, commands, arguments, scripts,\n" +
			"environments, contexts, mail addresses, accounts and remarks become digests under a random key\n" +
			"that is thrown away. In messages and configuration, words that are such names or paths are\n" +
			"replaced. Numbers, times, sizes, states, requests, load values, and the names of hosts, queues,\n" +
			"parallel environments, complexes, usersets, departments, host groups and calendars stay, and so\n" +
			"do patterns over names in quota rules. Decisions replayed on the file are the same.",
		Flags: []cli.Flag{
			logFlag,
			&cli.StringFlag{Name: "from", Usage: "begin with `SEQ|TIME`: the list, or the first not before the time",
				DefaultText: "the earliest possible"},
			&cli.StringFlag{Name: "to", Usage: "end with `SEQ|TIME`: the list, or the last not later",
				DefaultText: "the last one"},
			&cli.BoolFlag{Name: "redact", Usage: "replace names, so that the file can be given away"},
			opt.JSONFlag(),
		},
		Action: c.write,
	}
}

// write writes the file.
func (c command) write(x *cli.Context) (err error) {
	words, err := opt.Words(x)
	if err != nil {
		return fmt.Errorf("log export: %w", err)
	}
	if len(words) > 1 {
		return opt.Usagef("log export writes one file, not %q as well", words[1])
	}
	path := strings.Join(words, "")
	if x.Bool("json") && (path == "" || path == "-") {
		return opt.Usagef("log export: --json describes a file: name one")
	}
	now := c.env.Now()
	var near history.Source
	from, to := x.String("from"), x.String("to")
	for _, p := range []struct {
		text string
		at   *gdi.Place
	}{{from, &near.From}, {to, &near.To}} {
		if p.text == "" {
			continue
		}
		var err error
		if *p.at, err = opt.ParseMoment(p.text, now); err != nil {
			return err
		}
	}
	l, err := c.open(x.Context, logOf(x), func(s *history.Source) {
		s.To = near.To
		switch s.From = near.From; {
		case s.From.Seq > 1:
			s.From.Seq-- // the state before it
		case s.From.At > 0:
			s.From.At--
		}
	})
	if err != nil {
		return err
	}
	defer l.Close()
	e := history.Export{About: l.About()}
	e.About.Program, e.About.Made, e.About.Store = "quill "+product.Version, grid.TimeOf(now), nil
	if e.From, err = l.Begin(near.From); err != nil {
		return err
	}
	if e.To, err = l.End(near.To); err != nil {
		return err
	}
	if x.Bool("redact") {
		if err := redacted(l, &e); err != nil {
			return err
		}
	}
	err = c.into(path, func(out io.Writer) error { return l.Export(out, e) })
	if damage := (*frame.Damage)(nil); x.Bool("json") && (err == nil || errors.As(err, &damage)) {
		err = errors.Join(c.printWritten(x.Context, path), err)
	}
	return err
}

// printWritten reads a file that was written and prints what it has.
func (c command) printWritten(ctx context.Context, path string) error {
	l, err := c.open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	return c.printCopy(path, l.Check(), l.About())
}

// redacted makes e write other names. All of the stretch is read once for the
// names, and once more to be written.
func redacted(l *history.Log, e *history.Export) error {
	key := make([]byte, 32)
	rand.Read(key)
	r := redact.New(key)
	begin, _ := l.Span()
	full, err := l.Full(max(e.From, begin.Seq+1) - 1)
	if err != nil {
		return err
	}
	full.Full(func(o events.Event) bool {
		r.Note(events.List{Events: []events.Event{o}})
		return true
	})
	for list, err := range l.Lists(full.Seq) {
		if err != nil || e.To > 0 && list.Seq > e.To {
			break // a damage shows again when it is written
		}
		r.Note(list)
	}
	for run, err := range l.Runs(full.Seq) {
		if err != nil {
			return err
		}
		r.NoteRecord(run)
	}
	e.About.Redacted = true
	e.Show = r.List
	e.Run = func(o orders.Record) (orders.Record, bool) { return r.Record(o), true }
	return nil
}

// into has write write a file, wholly or not at all; what is good of a damaged
// log is a whole file.
func (c command) into(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		if f, ok := c.env.Stdout.(*os.File); ok && path == "" && terminal(f) {
			return errors.New("the file is not for the eyes: name one, or send it on with >")
		}
		return write(c.env.Stdout)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone after the rename
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	var damage *frame.Damage
	err = write(out)
	if err != nil && !errors.As(err, &damage) {
		return err
	}
	if err := errors.Join(out.Flush(), f.Chmod(0o600), f.Sync(), os.Rename(f.Name(), path)); err != nil {
		return err
	}
	if damage != nil {
		return fmt.Errorf("%w\n%s holds what comes before", damage, path)
	}
	return nil
}

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
