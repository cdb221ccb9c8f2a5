package qacct

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(env), account) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func account(ctx context.Context, env opt.Env, w *query) int {
	if err := w.check(); err != nil {
		return opt.Complain(env, command(env), err)
	}
	if err := w.expand(ctx, env); err != nil {
		return env.Report(err, 1)
	}
	in, err := w.open(env)
	if err != nil {
		if !w.format.JSON() {
			defer fmt.Fprintln(env.Stdout, "no jobs running since startup")
		}
		return env.Report(err, 1)
	}
	defer in.Close()
	out := bufio.NewWriterSize(env.Stdout, 1<<16)
	defer out.Flush()
	code := 0
	if w.jobs {
		code = w.records(env, in, out)
	} else {
		code = w.summary(env, in, out)
	}
	if w.gone > 0 {
		fmt.Fprintf(env.Stderr, "%d jobs ignored for accounting. Jobs' master queue no longer exists.\n", w.gone)
	}
	return code
}

// expand finds the hosts of -q QUEUE@@GROUP, and the queue instances that have
// now what -l requests: only qmaster knows of either.
func (w *query) expand(ctx context.Context, env opt.Env) error {
	queue, group, grouped := strings.Cut(w.by["q"], "@@")
	if !grouped && len(w.requests) == 0 {
		return nil
	}
	kinds := []grid.Kind{grid.KindHGroup}
	if len(w.requests) > 0 {
		kinds = view.ClusterKinds()
	}
	st, err := env.Fetch(ctx, gdi.Get{Kinds: kinds})
	if err != nil {
		return err
	}
	if err := w.meet(view.Of(st)); err != nil || !grouped {
		return err
	}
	w.hosts, w.by["q"] = view.Members(st, "@"+group), cmp.Or(queue, "*")
	if len(w.hosts) == 0 {
		return switches.Errorf("No queues remaining after -q queue selection")
	}
	return nil
}

// meet finds out which queue instances meet -l.
func (w *query) meet(known *view.View) error {
	if len(w.requests) == 0 {
		return nil
	}
	found, err := known.Queues(view.QueueFilter{Requests: w.requests}, "")
	if err != nil {
		return err
	}
	all, err := known.Queues(view.QueueFilter{}, "")
	if err != nil {
		return err
	}
	w.meeting = map[string]bool{}
	for _, q := range all {
		w.meeting[q.Name()] = false
	}
	for _, q := range found {
		w.meeting[q.Name()] = true
	}
	return nil
}

// open opens the file of -f, or those of the cell.
func (w *query) open(env opt.Env) (io.ReadCloser, error) {
	path := w.file
	switch {
	case path == "-":
		return io.NopCloser(env.Stdin), nil
	case path == "":
		cell, err := cell.FindIn(env.Getenv)
		if err != nil {
			return nil, err
		}
		f, err := cell.OpenAccounting()
		return f, missing(cell.Accounting(), err)
	case !filepath.IsAbs(path):
		path = filepath.Join(env.Dir, path)
	}
	f, err := os.Open(path)
	return f, missing(path, err)
}

// missing returns Grid Engine's error for a file that does not exist.
func missing(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: No such file or directory", path)
	}
	return err
}

// each calls f with the selected records. Lines that hold none are reported
// and left out.
func (w *query) each(env opt.Env, in io.Reader, f func(*grid.Accounting, *accounting.Usage)) error {
	selects := w.selector()
	return accounting.EachMeasured(in, func(a *grid.Accounting, measured *accounting.Usage) {
		if selects(a) {
			f(a, measured)
		}
	}, func(line int) { fmt.Fprintf(env.Stderr, "error: ignoring invalid entry in line %d\n", line) })
}
