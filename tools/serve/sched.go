package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// schedCommand looks at the scheduling algorithms.
func schedCommand(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "sched", Usage: "show the scheduling algorithm in use, its view and decisions, and set its parameters",
		Subcommands: []*cli.Command{
			{
				Name: "explain", Usage: "show how the algorithm sees the cell now",
				Description: "The state is read from qmaster and given to the same algorithm, under the configuration\n" +
					"of the cell (qconf -ssconf). Nothing is decided by that. Why one job waits: qstat -j.",
				Flags:  []cli.Flag{opt.JSONFlag()},
				Action: func(c *cli.Context) error { return explain(c, env) },
			},
			{
				Name: "get", Usage: "print parameters of an algorithm that are in effect", ArgsUsage: "[[ALGORITHM.]PARAMETER...]",
				Description: "Without a name all parameters of the algorithm at work; without ALGORITHM its own. \"quill sched algorithms\"\n" +
					"lists the names, with what they mean and their defaults.",
				Flags:  []cli.Flag{opt.JSONFlag()},
				Action: func(c *cli.Context) error { return getParameters(c, env) },
			},
			{
				Name: "set", Usage: "set a parameter of an algorithm, as qconf -mattr sched_conf does", ArgsUsage: "[ALGORITHM.]PARAMETER VALUE...",
				Description: "In a table each VALUE is a row, and together they are the whole table:\n" +
					"\"quill sched set ALGORITHM.TABLE 'ROW ONE' 'ROW TWO'\". The change is in effect with the next run.",
				Flags:  []cli.Flag{opt.JSONFlag()},
				Action: func(c *cli.Context) error { return setParameter(c, env) },
			},
			{
				Name: "algorithms", Usage: "list the algorithms that qconf -msconf may name, with their parameters",
				Flags:  []cli.Flag{opt.JSONFlag()},
				Action: func(c *cli.Context) error { return listAlgorithms(env, c) },
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
	e, ok := algorithm.Find(schedd.Algorithms(), conf.Algorithm)
	if !ok {
		return fmt.Errorf("sched explain: the cell's algorithm %q is not in this program", conf.Algorithm)
	}
	a, err := e.New(conf)
	if err != nil {
		return err
	}
	a.Apply(full)
	lines := a.Explain(algorithm.Run{Now: full.At})
	if len(lines) == 0 {
		lines = []string{"it has no view of its own: see sge_share_mon for the shares, qstat -pri, -urg and -ext for the priorities of jobs"}
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.Explanation{Algorithm: e.Name, Lines: lines})
	}
	fmt.Fprintf(env.Stdout, "algorithm %s\n", e.Name)
	for _, l := range lines {
		fmt.Fprintln(env.Stdout, l)
	}
	return nil
}

// listAlgorithms shows each algorithm with the parameters that it has by
// default.
func listAlgorithms(env opt.Env, c *cli.Context) error {
	if c.Args().Present() {
		return opt.Usagef("sched algorithms takes no %q", c.Args().First())
	}
	var rows []document.Algorithm
	for _, e := range schedd.Algorithms() {
		var conf grid.SchedConf
		if err := e.Complete(&conf); err != nil {
			return err
		}
		rows = append(rows, document.AlgorithmOf(e.Name, conf.Section(e.Name)))
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.Algorithms{Algorithms: document.RowsOf(rows)})
	}
	for _, a := range rows {
		fmt.Fprintln(env.Stdout, a.Name)
		for _, p := range a.Parameters {
			if p.Help != "" {
				fmt.Fprintf(env.Stdout, "  # %s\n", p.Help)
			}
			fmt.Fprintf(env.Stdout, "  %s.%s  %s\n", a.Name, p.Name, p.Value)
		}
	}
	return nil
}

// schedulerConf is the scheduler configuration of the cell, with the section of
// the algorithm that a parameter is named after, or of the one at work.
func schedulerConf(c *cli.Context, remote client.Client, name string) (conf grid.SchedConf, e algorithm.Entry, parameter string, err error) {
	_, err = remote.Get(c.Context, gdi.Get{Kinds: []grid.Kind{grid.KindSchedConf}}, func(o grid.Object) error {
		conf = *o.(*grid.SchedConf)
		return nil
	})
	if err != nil {
		return conf, e, "", err
	}
	of, parameter, dotted := strings.Cut(name, ".")
	if !dotted {
		of, parameter = conf.Algorithm, name
	}
	e, ok := algorithm.Find(schedd.Algorithms(), of)
	if !ok {
		return conf, e, "", fmt.Errorf("there is no algorithm %q; `quill sched algorithms` lists them", of)
	}
	return conf, e, parameter, e.Complete(&conf)
}

func getParameters(c *cli.Context, env opt.Env) error {
	remote, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer remote.Close()
	names := c.Args().Slice()
	if len(names) == 0 {
		names = []string{""}
	}
	var rows []document.Algorithm
	for _, name := range names {
		conf, e, parameter, err := schedulerConf(c, remote, name)
		if err != nil {
			return fmt.Errorf("sched get: %w", err)
		}
		var found []grid.Param
		for _, p := range conf.Section(e.Name) {
			if parameter == "" || p.Name == parameter {
				found = append(found, p)
			}
		}
		if len(found) == 0 && parameter != "" {
			return fmt.Errorf("sched get: %s has no parameter %q, or no row of it", e.Name, parameter)
		}
		rows = append(rows, document.AlgorithmOf(e.Name, found))
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.Algorithms{Algorithms: document.RowsOf(rows)})
	}
	for _, a := range rows {
		for _, p := range a.Parameters {
			fmt.Fprintf(env.Stdout, "%s.%s %s\n", a.Name, p.Name, p.Value)
		}
	}
	return nil
}

func setParameter(c *cli.Context, env opt.Env) error {
	if c.NArg() < 2 {
		return opt.Usagef("sched set: a parameter and its value are needed")
	}
	remote, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer remote.Close()
	conf, e, parameter, err := schedulerConf(c, remote, c.Args().First())
	if err != nil {
		return fmt.Errorf("sched set: %w", err)
	}
	params := slices.DeleteFunc(slices.Clone(conf.Section(e.Name)), func(p grid.Param) bool { return p.Name == parameter })
	for _, value := range c.Args().Tail() {
		params = append(params, grid.Param{Name: parameter, Text: value})
	}
	conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: params})
	reply, err := remote.Do(c.Context, "qconf", &gdi.Modify{Objects: []grid.Object{&conf}})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		if code := env.Results(nil, reply); code != 0 {
			return cli.Exit("", code)
		}
		return nil
	}
	for _, a := range reply.Answers {
		if a.Status != gdi.StatusOK {
			return cli.Exit(a.Text, 1)
		}
		fmt.Fprintln(env.Stdout, a.Text)
	}
	return nil
}
