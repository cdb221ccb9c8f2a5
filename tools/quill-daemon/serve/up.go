package serve

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/web"
)

// upCommand is a whole cell in one process.
func upCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "up", Usage: "run a whole cell in this process: server, qmaster, schedd, execds and the HTTP API",
		Description: "Runs in the foreground until interrupted or `quill down`. Jobs that run then continue;\n" +
			"the next `quill up` finds them. What was submitted is still there.",
		Flags: append(append([]cli.Flag{
			opt.DirFlag(),
			&cli.IntFlag{Name: "hosts", Value: 1, Usage: "`N` execution hosts, all on this machine"},
			&cli.StringFlag{Name: "scratch", Usage: "`DIR` for the directories and TMPDIRs of running jobs, best in memory",
				DefaultText: "in the cell"},
			&cli.StringFlag{Name: "web", Value: web.DefaultListen,
				Usage:       "serve the HTTP API at `HOST:PORT`, a loopback address; none: do not serve it",
				DefaultText: web.DefaultListen + ", or another port if that is in use"},
			&cli.IntFlag{Name: "slots", Usage: "`N` slots in all, spread over the hosts", DefaultText: "one for each processor"},
		}, serverFlags(false)...), logFlags()...),
		Action: func(c *cli.Context) error {
			where, err := opt.CellOf(env, c)
			if err != nil {
				return err
			}
			if c.Int("hosts") < 1 || c.Int("slots") < 0 {
				return errors.New("up: --hosts must be at least 1 and --slots must not be negative")
			}
			if !c.IsSet("log-level") {
				c.Set("log-level", "warn")
			}
			log := logger(env, c, "quill")
			up := &daemons.Up{
				Cell: where, Master: masterOptions(c, where, log.Named("qmaster")), Log: log,
				Hosts: c.Int("hosts"), Slots: c.Int("slots"), Durable: c.Bool("durable"), Scratch: c.String("scratch"),
			}
			if up.Web, up.WebElse = c.String("web"), !c.IsSet("web"); up.Web == "none" {
				up.Web = ""
			}
			return up.Run(c.Context, func() {
				provide(where, log)
				fmt.Fprintf(env.Stdout, "cell %s is up: %s, %s\n", where.Dir(), opt.Count(up.Hosts, "host"),
					opt.Count(up.Total(), "slot"))
				if home, err := cell.FindIn(env.Getenv); err != nil || home != where {
					fmt.Fprintf(env.Stdout, "export SGE_ROOT=%s\n", where.Root)
				}
				if up.API() != "" {
					fmt.Fprintf(env.Stdout, "API: %s\n", up.API())
				}
				fmt.Fprintln(env.Stdout, "try: qsub -b y hostname; qstat; qacct -j 1       stop: quill down, or interrupt")
			})
		},
	}
}
