package qstat

import (
	"context"
	"fmt"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// RunQselect is qselect(1): it prints the queue instances that match, one a line or as JSON. It returns the exit
// status: 1 when nothing matches.
func RunQselect(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, selectCommand(), selectQueues), args)
}

// queueQuery is the command line of qselect.
type queueQuery struct {
	filter view.QueueFilter
	format switches.Format
}

func selectCommand() *switches.Command[queueQuery] {
	sel := queueSwitches(func(w *queueQuery) *view.QueueFilter { return &w.filter })
	return &switches.Command[queueQuery]{
		Name: "qselect", Usage: "[options]", Indent: 8, Column: 42,
		Unknown: func(word string) error {
			return &switches.Error{Text: "invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[queueQuery]{switches.Fmt(func(w *queueQuery) *switches.Format { return &w.format }),
			{Name: "help", Help: "print this help"}, sel["l"], sel["pe"], sel["q"], sel["qs"], sel["U"]},
		Legend: queueLegend,
	}
}

func selectQueues(ctx context.Context, env opt.Env, w *queueQuery) int {
	queues, err := fetchQueues(ctx, env, w.filter)
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

func fetchQueues(ctx context.Context, env opt.Env, s view.QueueFilter) ([]view.Queue, error) {
	st, err := env.Fetch(ctx, gdi.Get{Kinds: view.ClusterKinds()})
	if err != nil {
		return nil, err
	}
	return view.Of(st).Queues(s, "")
}
