package bench

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

// Command measures throw-away cells against this machine's limits.
func Command(env opt.Env) *cli.Command {
	c := &cli.Command{
		Name: "bench", Usage: "measure throw-away cells against the limits of this machine",
		Description: "Figures go to standard output, one JSON object a line; progress and a table to standard error.",
	}
	add := func(name, usage string, benches ...string) {
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name: name, Usage: usage, Flags: flags(),
			OnUsageError: func(_ *cli.Context, err error, _ bool) error { return err },
			Action: func(c *cli.Context) error {
				return Run(c.Context, env, options(c), benches...)
			},
		})
	}
	var all []string
	for _, b := range Benches {
		add(b.Name, b.Usage, b.Name)
		all = append(all, b.Name)
	}
	add("all", "all of them, one after the other", all...)
	c.Subcommands = append(c.Subcommands, &cli.Command{
		Name: "part", Hidden: true, Usage: "be a process of a cell that is measured; the benches start it",
		Action: func(c *cli.Context) error { return Part(c.Context, env) },
	})
	return c
}

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "jobs", Usage: "how many; each bench has its own default"},
		&cli.IntFlag{Name: "clients", Usage: "how many submit at the same time, where several do"},
		&cli.IntFlag{Name: "hosts", Usage: "execution hosts; 1 by default"},
		&cli.IntFlag{Name: "slots", Usage: "slots in all; 8 by default"},
		&cli.BoolFlag{Name: "durable", Usage: "acknowledge only what a power cut can't take; by default submit and latency do"},
		&cli.StringFlag{Name: "scratch", Usage: "`DIR` for the folders of running jobs; by default /dev/shm where there is one, \"none\" for the cell's"},
		&cli.StringFlag{Name: "dir", Usage: "make the cells in `DIR`: the disk to measure"},
		&cli.BoolFlag{Name: "keep", Usage: "leave the cells' directories"},
		&cli.StringFlag{Name: "cpuprofile", Usage: "`FILE` for a processor profile of the process that hosts the cell; FILE.2, ... for further cells"},
		&cli.StringFlag{Name: "memprofile", Usage: "`FILE` for a memory profile of it"},
	}
}

func options(c *cli.Context) Options {
	o := Options{
		Jobs: c.Int("jobs"), Clients: c.Int("clients"), Hosts: c.Int("hosts"), Slots: c.Int("slots"),
		Dir: c.String("dir"), Keep: c.Bool("keep"), Scratch: c.String("scratch"), CPUProfile: c.String("cpuprofile"), MemProfile: c.String("memprofile"),
	}
	if c.IsSet("durable") {
		durable := c.Bool("durable")
		o.Durable = &durable
	}
	return o
}
