package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
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
				Name: "get", Usage: "print parameters of an algorithm that are in effect",
				ArgsUsage: "[[ALGORITHM.]PARAMETER|ATTRIBUTE...]",
				Description: "Without a name all parameters of the algorithm at work; without ALGORITHM its own, or the attribute of\n" +
					"sched_conf(5) of that name. \"quill sched algorithms\" lists the parameters, with what they mean and their defaults.",
				Flags:  []cli.Flag{opt.JSONFlag()},
				Action: func(c *cli.Context) error { return getParameters(c, env) },
			},
			{
				Name: "set", Usage: "set a parameter of an algorithm, as qconf -mattr sched_conf does",
				ArgsUsage: "[ALGORITHM.]PARAMETER|ATTRIBUTE VALUE...",
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
	cell, err := schedulerConf(c, remote)
	if err != nil {
		return err
	}
	full := events.List{At: grid.TimeOf(env.Now())}
	brief := cell.Algorithm == grid.DefaultSchedConf().Algorithm // others read the context of jobs
	full.Seq, err = remote.Get(c.Context, gdi.Get{Kinds: kinds, Where: gdi.Where{Brief: brief}},
		func(o grid.Object) error {
			full.Events = append(full.Events, events.Listed(o))
			return nil
		})
	if err != nil {
		return err
	}
	e, ok := algorithm.Find(shipped.Algorithms(), cell.Algorithm)
	if !ok {
		return fmt.Errorf("sched explain: the cell's algorithm %q is not in this program", cell.Algorithm)
	}
	a, err := e.New(cell)
	if err != nil {
		return err
	}
	a.Apply(full)
	lines := a.Explain(algorithm.Run{Now: full.At})
	if len(lines) == 0 {
		lines = []string{
			"it has no view of its own: see sge_share_mon for the shares, qstat -pri, -urg and -ext for the priorities of jobs"}
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
	for _, e := range shipped.Algorithms() {
		var conf grid.SchedConf
		if err := e.Complete(&conf, nil); err != nil {
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

// schedulerConf returns the scheduler configuration of the cell.
func schedulerConf(c *cli.Context, remote client.Client) (conf grid.SchedConf, err error) {
	_, err = remote.Get(c.Context, gdi.Get{Kinds: []grid.Kind{grid.KindSchedConf}}, func(o grid.Object) error {
		conf = *o.(*grid.SchedConf)
		return nil
	})
	return conf, err
}

// setting is what a name of quill sched get and set means: a parameter of an algorithm, or an attribute of
// sched_conf(5).
type setting struct {
	conf      grid.SchedConf
	of        algorithm.Entry
	parameter string // of the algorithm; "": all
	attribute string // of the configuration; "": it is a parameter
}

// findSetting reads the scheduler configuration of the cell, and finds what a name means in it: ALGORITHM.PARAMETER, a
// parameter of the algorithm at work, or an attribute.
func findSetting(c *cli.Context, remote client.Client, name string) (s setting, err error) {
	if s.conf, err = schedulerConf(c, remote); err != nil {
		return s, err
	}
	of, parameter, dotted := strings.Cut(name, ".")
	if !dotted {
		of, parameter = s.conf.Algorithm, name
	}
	var ok bool
	if s.of, ok = algorithm.Find(shipped.Algorithms(), of); !ok {
		return s, fmt.Errorf("there is no algorithm %q; `quill sched algorithms` lists them", of)
	}
	if err := s.of.Complete(&s.conf, nil); err != nil {
		return s, err
	}
	var known []string
	for _, p := range s.conf.Section(s.of.Name) {
		known = append(known, p.Name)
	}
	known = slices.Compact(known)
	attributes := conf.Attributes(grid.KindSchedConf)
	switch {
	case parameter == "" || slices.Contains(known, parameter):
		s.parameter = parameter
	case !dotted && slices.Contains(attributes, parameter):
		s.attribute = parameter
	case dotted && len(known) == 0:
		return s, fmt.Errorf("%s has no parameters of its own; attributes of sched_conf(5) are named without it: %s",
			s.of.Name, strings.Join(attributes, ", "))
	case dotted:
		return s, fmt.Errorf("%s has no parameter %q; it has %s", s.of.Name, parameter, strings.Join(known, ", "))
	default:
		return s, fmt.Errorf("%q is neither a parameter of %s nor an attribute of sched_conf(5); there are %s", parameter,
			s.of.Name, strings.Join(append(known, attributes...), ", "))
	}
	return s, nil
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
		s, err := findSetting(c, remote, name)
		if err != nil {
			return fmt.Errorf("sched get: %w", err)
		}
		var found []grid.Param
		for _, p := range s.conf.Section(s.of.Name) {
			if s.attribute == "" && (s.parameter == "" || p.Name == s.parameter) {
				found = append(found, p)
			}
		}
		of := s.of.Name
		if s.attribute != "" {
			text, _ := conf.Get(&s.conf, s.attribute)
			of, found = "", []grid.Param{{Name: s.attribute, Text: text}}
		}
		rows = append(rows, document.AlgorithmOf(of, found))
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.Algorithms{Algorithms: document.RowsOf(rows)})
	}
	for _, a := range rows {
		for _, p := range a.Parameters {
			fmt.Fprintf(env.Stdout, "%s %s\n", strings.TrimPrefix(a.Name+"."+p.Name, "."), p.Value)
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
	s, err := findSetting(c, remote, c.Args().First())
	if err != nil {
		return fmt.Errorf("sched set: %w", err)
	}
	changed, err := s.withValues(c.Args().Tail())
	if err != nil {
		return fmt.Errorf("sched set: %w", err)
	}
	reply, err := remote.Do(c.Context, "qconf", &gdi.Modify{Objects: []grid.Object{changed}})
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

// withValues returns the configuration with other values: of a table its rows, else one.
func (s *setting) withValues(values []string) (grid.Object, error) {
	if s.attribute != "" {
		if len(values) > 1 {
			return nil, opt.Usagef("%s has one value, not %d", s.attribute, len(values))
		}
		return conf.Set(&s.conf, s.attribute, values[0])
	}
	return conf.WithRows(&s.conf, s.of.Name, s.parameter, values), nil
}
