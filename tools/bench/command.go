package bench

import (
	"fmt"
	"maps"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

// Command measures throw-away cells against this machine's limits.
func Command(env opt.Env) *cli.Command {
	c := &cli.Command{
		Name: "bench", Usage: "measure throw-away cells against the limits of this machine",
		Description: "Figures go to standard output, one JSON object a line; progress and a table to standard error.",
	}
	add := func(name, usage string, t takes, benches ...string) {
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name: name, Usage: usage, Flags: t.flags(),
			Action: func(c *cli.Context) error {
				if c.Args().Present() {
					return fmt.Errorf("bench %s takes no %q", name, c.Args().First())
				}
				return runBenches(c.Context, env, optionsOf(c), benches...)
			},
		})
	}
	var names []string
	all := takes{}
	for _, b := range Benches {
		t := maps.Clone(b.takes)
		if b.Name != "schedule" { // it has no cell of processes
			maps.Copy(t, ofCells)
		}
		add(b.Name, b.Usage, t, b.Name)
		names = append(names, b.Name)
		for name := range t {
			all[name] = "each bench's own"
		}
	}
	maps.Copy(all, ofCells)
	add("all", "all of them, one after the other", all, names...)
	c.Subcommands = append(c.Subcommands, &cli.Command{
		Name: "part", Hidden: true, Usage: "be a process of a cell that is measured; the benches start it",
		Action: func(c *cli.Context) error { return Part(c.Context, env) },
	})
	return c
}

// ofCells are the flags of every bench that brings up cells.
var ofCells = takes{"dir": "", "keep": "", "cpuprofile": "", "memprofile": ""}

// flags are those that a bench takes.
func (t takes) flags() (some []cli.Flag) {
	for _, f := range []cli.Flag{
		&cli.IntFlag{Name: "jobs", Usage: "measure with `N` jobs", DefaultText: t["jobs"]},
		&cli.IntFlag{Name: "clients", Usage: "`N` submit at the same time, in the case of many", DefaultText: t["clients"]},
		&cli.IntFlag{Name: "hosts", Usage: "`N` execution hosts", DefaultText: t["hosts"]},
		&cli.IntFlag{Name: "slots", Usage: "`N` slots in all", DefaultText: t["slots"]},
		&cli.BoolFlag{Name: "durable", Usage: "acknowledge only what survives a power cut", DefaultText: t["durable"]},
		&cli.StringFlag{Name: "scratch", Usage: "`DIR` for the directories of running jobs, \"none\" for the cell's",
			DefaultText: t["scratch"]},
		&cli.StringFlag{Name: "dir", Usage: "make the cells in `DIR`: the disk to measure",
			DefaultText: "the system's for temporary files"},
		&cli.BoolFlag{Name: "keep", Usage: "keep the cells' directories"},
		&cli.StringFlag{Name: "cpuprofile",
			Usage: "`FILE` for a processor profile of the process that hosts the cell; FILE.2, ... for further cells"},
		&cli.StringFlag{Name: "memprofile", Usage: "`FILE` for a memory profile of it"},
	} {
		if _, taken := t[f.Names()[0]]; taken {
			some = append(some, f)
		}
	}
	return append(some, &cli.BoolFlag{Name: "json", Usage: "no effect: figures are always JSON lines"})
}

func optionsOf(c *cli.Context) options {
	o := options{
		Jobs: c.Int("jobs"), Clients: c.Int("clients"), Hosts: c.Int("hosts"), Slots: c.Int("slots"),
		Dir: c.String("dir"), Keep: c.Bool("keep"), Scratch: c.String("scratch"), CPUProfile: c.String("cpuprofile"),
		MemProfile: c.String("memprofile"),
	}
	if c.IsSet("durable") {
		durable := c.Bool("durable")
		o.Durable = &durable
	}
	return o
}
