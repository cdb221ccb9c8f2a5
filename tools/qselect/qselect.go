package qselect

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/tools/qstat/cluster"
	"github.com/quill-grid/quill/tools/qstat/queueoptions"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), list) }

// Run is the whole command; it returns the exit status: 1 when nothing
// matches.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func command() *switches.Command[cluster.Selection] {
	sel := queueoptions.Table(func(s *cluster.Selection) *cluster.Selection { return s })
	return &switches.Command[cluster.Selection]{
		Name: "qselect", Usage: "[options]", Indent: 8, Column: 42,
		Unknown: func(word string) error {
			return &switches.Error{Text: "invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[cluster.Selection]{{Name: "help", Help: "print this help"}, sel["l"], sel["pe"], sel["q"], sel["qs"], sel["U"]},
		Legend:   queueoptions.Legend,
	}
}

func list(ctx context.Context, env opt.Env, s *cluster.Selection) int {
	instances, err := fetch(ctx, env, *s)
	if err == nil && len(instances) == 0 {
		err = cluster.ErrNone
	}
	if err != nil {
		return env.Fail(err)
	}
	for _, i := range instances {
		fmt.Fprintln(env.Stdout, i.Name())
	}
	return 0
}

func fetch(ctx context.Context, env opt.Env, s cluster.Selection) ([]*cluster.Instance, error) {
	c, err := env.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var all cluster.Cluster
	if _, err := c.Get(ctx, gdi.Get{Kinds: cluster.Kinds()}, func(o grid.Object) error { all.Add(o); return nil }); err != nil {
		return nil, err
	}
	return all.Select(s)
}
