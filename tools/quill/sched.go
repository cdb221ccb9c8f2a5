package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// schedCommand looks at the scheduling algorithms.
func schedCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "sched", Usage: "look at the scheduling algorithm at work",
		Subcommands: []*cli.Command{
			{
				Name: "explain", Usage: "show how the algorithm sees the cell now: what it would decide by",
				Description: "The state is read from qmaster and given to the same algorithm, under the configuration\n" +
					"of the cell (qconf -ssconf). Nothing is decided by that. Why one job waits: qstat -j.",
				Action: func(c *cli.Context) error { return explain(c, env) },
			},
			{
				Name: "algorithms", Usage: "list the algorithms that qconf -msconf may name, with their parameters",
				Action: func(c *cli.Context) error { return listAlgorithms(env) },
			},
		},
	}
}

func explain(c *cli.Context, env opt.Env) error {
	remote, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer remote.Close()
	var kinds []grid.Kind
	for _, k := range grid.Kinds {
		if !k.Fact && k.Kind != grid.KindReceipt {
			kinds = append(kinds, k.Kind)
		}
	}
	full := events.List{At: grid.TimeOf(env.Now())}
	full.Seq, err = remote.Get(c.Context, gdi.Get{Kinds: kinds, Where: gdi.Where{Brief: true}}, func(o grid.Object) error {
		full.Events = append(full.Events, events.Listed(o))
		return nil
	})
	if err != nil {
		return err
	}
	var conf grid.SchedConf
	for _, e := range full.Events {
		if s, ok := e.Object.(*grid.SchedConf); ok {
			conf = *s
		}
	}
	for _, e := range schedd.Algorithms() {
		if e.Name != conf.Algorithm {
			continue
		}
		a, err := e.New(conf)
		if err != nil {
			return err
		}
		a.Apply(full)
		lines := a.Explain(algorithm.Run{Now: full.At})
		if len(lines) == 0 {
			lines = []string{"see qstat -pri, -urg and -ext for what each job is worth, sge_share_mon for the share tree"}
		}
		fmt.Fprintf(env.Stdout, "algorithm %s\n", e.Name)
		for _, l := range lines {
			fmt.Fprintln(env.Stdout, l)
		}
		return nil
	}
	return fmt.Errorf("sched explain: the cell's algorithm %q is not in this program", conf.Algorithm)
}

// listAlgorithms shows each algorithm with the parameters that it has by
// default.
func listAlgorithms(env opt.Env) error {
	for _, e := range schedd.Algorithms() {
		var conf grid.SchedConf
		if err := e.Complete(&conf); err != nil {
			return err
		}
		fmt.Fprintln(env.Stdout, e.Name)
		for _, p := range conf.Section(e.Name) {
			if p.Help != "" {
				fmt.Fprintf(env.Stdout, "  # %s\n", p.Help)
			}
			fmt.Fprintf(env.Stdout, "  %s.%s  %s\n", e.Name, p.Name, p.Text)
		}
	}
	return nil
}
