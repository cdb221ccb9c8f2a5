package qevent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// options is what the words of a command line ask for.
type options struct {
	full, causes bool
	kinds        []grid.Kind // only these; empty: all
}

func command() *opt.Command[options] {
	return &opt.Command[options]{
		Name: "qevent", Usage: "[options]", Indent: 3, Column: 28,
		Unknown: func(word string) error {
			return &opt.Error{Text: "qevent: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []opt.Switch[options]{
			{Name: "full", Help: "first print the full state, as LIST events",
				Set: func(o *options, _ []string) error { o.full = true; return nil }},
			{Name: "cause", Help: "print when each list came about, and who asked for what",
				Set: func(o *options, _ []string) error { o.causes = true; return nil }},
			{Name: "kinds", Args: "kind,...", Help: "print only events of these kinds: JOB, JATASK, CQUEUE, ...", Take: opt.One,
				Set: setKinds},
			{Name: "help", Help: "print this help"},
		},
	}
}

func setKinds(o *options, w []string) error {
	for _, name := range opt.Names(w[0]) {
		n := slices.IndexFunc(grid.Kinds, func(s grid.Spec) bool { return strings.EqualFold(s.Name, name) })
		if n < 0 {
			return opt.Errorf("qevent: unknown kind %q", name)
		}
		o.kinds = append(o.kinds, grid.Kinds[n].Kind)
	}
	return nil
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return command().App(env, watch) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// watcher is a client that can be told everything that happens.
type watcher interface {
	Watch(context.Context, client.Watcher) error
}

func watch(ctx context.Context, env opt.Env, o *options) int {
	c, err := env.Connect(ctx)
	if err != nil {
		fmt.Fprintln(env.Stderr, err)
		return 1
	}
	defer c.Close()
	w, ok := c.(watcher)
	if !ok {
		fmt.Fprintln(env.Stderr, "error: this connection tells no events")
		return 1
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &printer{options: o, w: env.Stdout, stop: stop}
	err = w.Watch(ctx, client.Watcher{
		Fresh: func() events.Sink { p.live = false; return p },
		Full:  func(_, _ uint64) { p.live = true },
	})
	if err = errors.Join(err, p.err); err != nil {
		fmt.Fprintln(env.Stderr, err)
		return 1
	}
	return 0
}

// printer prints the lists it is told.
type printer struct {
	*options
	w    io.Writer
	live bool // the full state is told
	stop func()
	err  error
}

// Apply prints a list. When nobody reads on, the watch ends.
func (p *printer) Apply(l events.List) {
	if p.err != nil || !p.live && !p.full {
		return
	}
	if len(p.kinds) > 0 {
		l.Events = slices.DeleteFunc(slices.Clone(l.Events), func(e events.Event) bool { return !slices.Contains(p.kinds, e.Kind) })
	}
	if len(l.Events) == 0 {
		return
	}
	text := events.Text(l)
	if p.causes && p.live {
		text = fmt.Sprintf("# %s %s\n", l.At.Std().Format("01/02/2006 15:04:05.000"), l.Cause) + text
	}
	if _, p.err = io.WriteString(p.w, text); p.err != nil {
		p.stop()
	}
}
