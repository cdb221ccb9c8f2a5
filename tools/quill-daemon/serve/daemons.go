package serve

import (
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/tools/daemons"
)

// logFlags are the same for every daemon.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-level", Value: "info",
			Usage: "log messages of `LEVEL` and above: trace, debug, info, warn, error or off",
			Action: func(_ *cli.Context, level string) error {
				if hclog.LevelFromString(level) == hclog.NoLevel {
					return fmt.Errorf("--log-level %q: none of trace, debug, info, warn, error, off", level)
				}
				return nil
			}},
		&cli.BoolFlag{Name: "log-json", Usage: "log as JSON lines"},
	}
}

// logger is a daemon's log on stderr.
func logger(env opt.Env, c *cli.Context, name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: name, Level: hclog.LevelFromString(c.String("log-level")), Output: env.Stderr, JSONFormat: c.Bool("log-json"),
	})
}

// httpFlag is where a daemon serves its metrics.
func httpFlag() cli.Flag {
	return &cli.StringFlag{Name: "http",
		Usage: "serve /metrics, /healthz and /readyz at `HOST:PORT`, without authentication", DefaultText: "nowhere"}
}

// serveHTTP serves a daemon's metrics at --http until stop is called.
func serveHTTP(c *cli.Context, set *metrics.Set, log hclog.Logger) (stop func(), err error) {
	server, err := metrics.Serve(c.String("http"), set, log)
	if err != nil {
		return nil, err
	}
	return server.Close, nil
}

// serverFlags say where and how the log is kept.
func serverFlags(durable bool) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "durable", Value: durable,
			Usage: "acknowledge only what survives a power cut; without it a crash of the machine may lose the last second"},
		&cli.StringFlag{Name: "nats", Usage: "use the NATS server at `URL` instead of the embedded one"},
		&cli.StringFlag{Name: "nats-seed", Usage: "`FILE` with the seed of qmaster's key for --nats",
			DefaultText: "that of \"quill key qmaster\""},
		&cli.IntFlag{Name: "replicas", Value: 1, Usage: "`N` copies of the log, on the servers of --nats"},
		&cli.StringFlag{Name: "listen",
			Usage: "TCP `ADDRESS` for other hosts; beyond loopback --tls-cert, --tls-key and --tls-ca are needed"},
		&cli.StringFlag{Name: "keys", Usage: "`FILE` with the public keys that are accepted at --listen",
			DefaultText: "those that \"quill key\" has registered"},
		&cli.StringFlag{Name: "tls-cert", Usage: "PEM `FILE` with the certificate of this host"},
		&cli.StringFlag{Name: "tls-key", Usage: "PEM `FILE` with its private key"},
		&cli.StringFlag{
			Name: "tls-ca", Usage: "PEM `FILE` with the authorities that verify the certificates of the other end"},
		&cli.IntFlag{Name: "snapshot-events", Value: 100_000, Usage: "write a snapshot after `N` events"},
		&cli.DurationFlag{Name: "snapshot-every", Value: 5 * time.Minute,
			Usage: "write one after a `TIME` in which anything happened, too"},
		&cli.BoolFlag{Name: "forget", Usage: "delete history that no snapshot needs, instead of keeping it for replay"},
		&cli.BoolFlag{Name: "repair", Usage: "continue after damage of the log; what cannot be read is lost"},
	}
}

func masterOptions(c *cli.Context, where cell.Cell, log hclog.Logger) qmaster.Options {
	o := qmaster.Options{
		Cell: where, Log: log, Durable: c.Bool("durable"), NATS: c.String("nats"),
		Seed:     c.String("nats-seed"),
		Replicas: c.Int("replicas"), Listen: c.String("listen"), Keys: c.String("keys"), Repair: c.Bool("repair"),
		SnapshotEvents: c.Int("snapshot-events"), SnapshotEvery: c.Duration("snapshot-every"), Forget: c.Bool("forget"),
	}
	o.TLS.Cert, o.TLS.Key, o.TLS.CA = c.String("tls-cert"), c.String("tls-key"), c.String("tls-ca")
	return daemons.WithRules(o)
}

func qmasterCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "qmaster", Usage: "run the master daemon of the cell in the foreground",
		Flags: append(append(serverFlags(true), httpFlag()), logFlags()...),
		Action: func(c *cli.Context) error {
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			log := logger(env, c, "qmaster")
			if err := os.MkdirAll(where.Common(), 0o755); err != nil {
				return err
			}
			provide(where, log)
			systemd := newNotifier(c.Context)
			o := masterOptions(c, where, log)
			if c.IsSet("http") {
				o.Metrics = qmaster.NewMetrics()
				stop, err := serveHTTP(c, o.Metrics.Set, log)
				if err != nil {
					return err
				}
				defer stop()
			}
			o.Ready = systemd.ready
			o.Standby = func() { systemd.standby("standby: another qmaster leads") }
			return qmaster.Run(c.Context, o)
		},
	}
}

func scheddCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "schedd", Usage: "run the scheduler of the cell in the foreground",
		Flags: append([]cli.Flag{httpFlag()}, logFlags()...),
		Action: func(c *cli.Context) error {
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			systemd := newNotifier(c.Context)
			o := schedd.Options{Logger: logger(env, c, "schedd")}
			if c.IsSet("http") {
				o.Metrics = schedd.NewMetrics()
				stop, err := serveHTTP(c, o.Metrics.Set, o.Logger)
				if err != nil {
					return err
				}
				defer stop()
			}
			o.Ready = systemd.awaits(where.Dir())
			return daemons.Schedd(c.Context, where, o)
		},
	}
}

func execdCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "execd", Usage: "run the execution daemon of this host in the foreground",
		Flags: execdFlags(env),
		Action: func(c *cli.Context) error {
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			o := execdOptions(env, c)
			if c.IsSet("http") {
				o.Metrics = execd.NewMetrics()
				stop, err := serveHTTP(c, o.Metrics.Set, o.Logger)
				if err != nil {
					return err
				}
				defer stop()
			}
			systemd := newNotifier(c.Context)
			o.Ready = systemd.awaits(where.Dir())
			provide(where, o.Logger)
			return daemons.Execd(c.Context, where, o)
		},
	}
}

// execdFlags are those of execd and of its shepherd in a unit of its own, which finds its directory by them and serves
// no metrics.
func execdFlags(env opt.Env) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "host", Value: env.Host, Usage: "the host's `NAME` in the cell", DefaultText: "its own"},
		&cli.StringFlag{Name: "dir", Usage: "spool directory `DIR`", DefaultText: "execd/NAME in the cell"},
		&cli.StringFlag{Name: "active", Usage: "`DIR` for the directories of running jobs, best in memory",
			DefaultText: "active_jobs in the spool directory"},
		&cli.BoolFlag{Name: "durable", Value: true,
			Usage: "record begin and end of each job so that they survive a power cut"},
		&cli.StringFlag{Name: "shepherd-unit",
			Usage:       "systemd `UNIT` that runs the shepherd with the same options, started when no shepherd answers",
			DefaultText: "execd starts the shepherd itself"},
		httpFlag(),
	}, logFlags()...)
}

func execdOptions(env opt.Env, c *cli.Context) execd.Options {
	return execd.Options{
		Host: c.String("host"), Dir: c.String("dir"), Active: c.String("active"), Durable: c.Bool("durable"),
		Unit:   c.String("shepherd-unit"),
		Logger: logger(env, c, "execd"),
	}
}

// shepherdCommand supervises a host's jobs: in DIR when execd starts it, in the directory of the execd with these
// options when systemd does. It must outlive an interrupt of its execd, so it does not end with the command's context.
func shepherdCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "shepherd", Usage: "supervise the jobs of a host; execd or its systemd unit starts it",
		ArgsUsage: "[DIR]", Hidden: true,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "reserve",
				Usage:       "`SIZE` of memory that all jobs together leave to the rest of the host, as in 2G; 0: none",
				DefaultText: "384M and a hundredth of the memory"},
		}, execdFlags(env)...),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return shepherd.Run(c.Args().First())
			}
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			var reserve shepherd.Reserve
			if size := c.String("reserve"); size != "" {
				bytes, ok := grid.ParseMemory(size)
				if !ok || bytes < 0 {
					return fmt.Errorf("shepherd: --reserve %q is not a size of memory, as in 2G", size)
				}
				reserve = shepherd.Reserve{None: bytes == 0, Bytes: uint64(bytes)}
			}
			return daemons.RunShepherd(where, execdOptions(env, c), reserve, newNotifier(c.Context).ready)
		},
	}
}
