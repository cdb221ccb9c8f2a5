package qacct

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return command().App(env, account) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func account(_ context.Context, env opt.Env, w *wish) int {
	if err := w.check(); err != nil {
		return command().Complain(env, err)
	}
	in, err := w.open(env)
	if err != nil {
		fmt.Fprintln(env.Stderr, err)
		fmt.Fprintln(env.Stdout, "no jobs running since startup")
		return 1
	}
	defer in.Close()
	out := bufio.NewWriterSize(env.Stdout, 1<<16)
	defer out.Flush()
	if w.jobs {
		return w.records(env, in, out)
	}
	return w.summary(env, in, out)
}

// open finds the file: -f, or the cell's.
func (w *wish) open(env opt.Env) (io.ReadCloser, error) {
	path := w.file
	switch {
	case path == "-":
		return io.NopCloser(env.Stdin), nil
	case path == "":
		cell, err := client.FindCellIn(env.Getenv)
		if err != nil {
			return nil, err
		}
		path = cell.Accounting()
	case !filepath.IsAbs(path):
		path = filepath.Join(env.Dir, path)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: No such file or directory", path)
	}
	return f, err
}

// each calls f with the selected records. Lines that hold none are told of
// and left out.
func (w *wish) each(env opt.Env, in io.Reader, f func(*grid.Accounting)) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if line != "" {
			a, _, bad := accounting.ParseLine(line)
			switch {
			case errors.Is(bad, accounting.ErrComment):
			case bad != nil:
				fmt.Fprintf(env.Stderr, "error: ignoring invalid entry in line %d\n", n)
			case w.selects(a):
				f(a)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
