package qselect

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/ge/qstat/queueoptions"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), list) }

// Run is the whole command; it returns the exit status: 1 when nothing
// matches.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// query is the query of the command line.
type query struct {
	filter view.QueueFilter
	format switches.Format
}

func command() *switches.Command[query] {
	sel := queueoptions.Table(func(w *query) *view.QueueFilter { return &w.filter })
	return &switches.Command[query]{
		Name: "qselect", Usage: "[options]", Indent: 8, Column: 42,
		Unknown: func(word string) error {
			return &switches.Error{Text: "invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[query]{switches.Fmt(func(w *query) *switches.Format { return &w.format }),
			{Name: "help", Help: "print this help"}, sel["l"], sel["pe"], sel["q"], sel["qs"], sel["U"]},
		Legend: queueoptions.Legend,
	}
}

func list(ctx context.Context, env opt.Env, w *query) int {
	queues, err := fetch(ctx, env, w.filter)
	if err == nil && len(queues) == 0 {
		err = view.ErrNone
	}
	switch {
	case err != nil:
		return env.Fail(err)
	case w.format.JSON():
		return env.Document(document.SelectedOf(queues))
	}
	for _, q := range queues {
		fmt.Fprintln(env.Stdout, q.Name())
	}
	return 0
}

func fetch(ctx context.Context, env opt.Env, s view.QueueFilter) ([]view.Queue, error) {
	st, err := env.Fetch(ctx, gdi.Get{Kinds: view.ClusterKinds()})
	if err != nil {
		return nil, err
	}
	return view.Of(st).Queues(s, "")
}
