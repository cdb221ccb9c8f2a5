package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/sim/trace"
	"github.com/quill-grid/quill/tools/swf"
)

// Command replays a workload log, to try a policy before users feel it.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "sim", Usage: "replay a workload log on virtual time and see how its jobs fare",
		ArgsUsage: " ",
		Description: "The log is in the Standard Workload Format of the Parallel Workloads Archive, compressed\n" +
			"or not. Its jobs go through qmaster's core and the scheduler as in a real cell; the machine\n" +
			"is one pool of processors, and a job ends after the run time that the log tells. Jobs ask\n" +
			"for their estimate (-l h_rt) and a reservation (-R y).\n\n" +
			"Without --config jobs go in the order of submission and DURATION_OFFSET is 0. With several\n" +
			"--config or --max-reservation the schedules are shown side by side:\n\n" +
			"   quill sim --trace KTH-SP2-1996-2.swf.gz --procs 100 --max-reservation 0 --max-reservation 1\n" +
			"   qconf -ssconf > now; cp now new; vi new; quill sim --trace LOG.swf --procs 64 --config now --config new",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "trace", Usage: "the log: `FILE`.swf or FILE.swf.gz"},
			&cli.Int64Flag{Name: "procs", Usage: "processors of the pool, `N`; by default the log's MaxProcs. Jobs that need more are left out"},
			&cli.StringFlag{Name: "mode", Value: "batch", Usage: "`MODE`: batch, one scheduling pass for all that happens in a second; event, one after each submission and each end"},
			&cli.StringSliceFlag{Name: "max-reservation", Usage: "reservations in a pass, `K` or \"unlimited\": 0 is none, 1 is EASY backfilling; by default the configuration's, else 0"},
			&cli.StringFlag{Name: "noest", Usage: "what stands for the estimate of jobs without one, `WHAT`: only \"run\", the run time. By default such jobs are left out"},
			&cli.StringSliceFlag{Name: "config", Usage: "scheduler configuration, a `FILE` as qconf -ssconf prints it"},
			&cli.IntFlag{Name: "first", Usage: "only the first `N` usable jobs of the log"},
			&cli.StringFlag{Name: "out", Usage: "write the start second of each job to `FILE`, as job,start"},
			&cli.StringFlag{Name: "plot", Usage: "draw utilisation and queue length over time, `FILE`.svg or .png"},
			&cli.StringFlag{Name: "gantt", Usage: fmt.Sprintf("draw who has which processors, `FILE`.svg or .png; at most %d jobs", trace.GanttMost)},
		},
		Action: func(c *cli.Context) error {
			if err := simulate(c, env); err != nil {
				return fmt.Errorf("sim: %w", err)
			}
			return nil
		},
	}
}

// variant is one schedule to make of the log.
type variant struct {
	name string
	conf grid.SchedConf
}

// simulate reads everything, then replays, then shows.
func simulate(c *cli.Context, env opt.Env) error {
	variants, err := simVariants(c)
	if err != nil {
		return err
	}
	if err := simFlags(c, len(variants)); err != nil {
		return err
	}
	jobs, o, err := simJobs(c, env)
	if err != nil {
		return err
	}
	if n := len(jobs); c.String("gantt") != "" && n > trace.GanttMost {
		return fmt.Errorf("--gantt shows at most %d jobs, not %d; --first takes fewer", trace.GanttMost, n)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a short life with little memory
	var names []string
	var replays []*trace.Replay
	var summaries []trace.Summary
	for _, v := range variants {
		o.Conf, o.Progress = v.conf, progress(env.Stderr, v.name, len(jobs))
		r, err := trace.Run(c.Context, jobs, o)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		names, replays, summaries = append(names, v.name), append(replays, r), append(summaries, r.Summary())
	}
	trace.Table(env.Stdout, names, summaries)
	return simFiles(c, names, replays)
}

// simVariants are the configurations, each with each number of reservations.
func simVariants(c *cli.Context) ([]variant, error) {
	var bases []variant
	for _, path := range c.StringSlice("config") {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		v := variant{filepath.Base(path), *grid.DefaultSchedConf()}
		if err := conf.Parse(string(text), &v.conf); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		bases = append(bases, v)
	}
	limits := c.StringSlice("max-reservation")
	switch {
	case len(bases) == 0 && len(limits) == 0:
		limits = []string{"0"}
		fallthrough
	case len(bases) == 0:
		bases = []variant{{conf: trace.Conf(0)}}
	case len(limits) == 0:
		return bases, nil
	}
	var all []variant
	for _, v := range bases {
		for _, text := range limits {
			limit, err := strconv.ParseUint(text, 10, 32)
			if text == "unlimited" {
				limit, err = 1<<32-1, nil
			}
			if err != nil {
				return nil, fmt.Errorf("--max-reservation %q: neither a number nor \"unlimited\"", text)
			}
			n := v
			n.conf.MaxReservation = uint32(limit)
			n.name = strings.TrimSpace(v.name + " max_reservation " + text)
			all = append(all, n)
		}
	}
	return all, nil
}

// simFlags refuses what makes no sense before a long run.
func simFlags(c *cli.Context, variants int) error {
	for _, name := range []string{"out", "gantt"} {
		if c.String(name) != "" && variants > 1 {
			return fmt.Errorf("--%s shows one schedule, and %d are asked for", name, variants)
		}
	}
	for _, name := range []string{"plot", "gantt"} {
		if path := c.String(name); path != "" {
			if _, err := trace.PictureFormat(path); err != nil {
				return fmt.Errorf("--%s %w", name, err)
			}
		}
	}
	switch mode, estimate := c.String("mode"), c.String("noest"); {
	case c.Args().Present():
		return fmt.Errorf("unknown argument %q", c.Args().First())
	case c.String("trace") == "":
		return errors.New("--trace is missing: which log?")
	case mode != "batch" && mode != "event":
		return fmt.Errorf("--mode %q: neither batch nor event", mode)
	case estimate != "" && estimate != "run":
		return fmt.Errorf("--noest %q: the only way is run", estimate)
	case c.Int("first") < 0 || c.IsSet("procs") && c.Int64("procs") <= 0:
		return errors.New("--first and --procs take positive numbers")
	}
	return nil
}

// simJobs reads the log, and says on stderr which of its jobs are left out.
func simJobs(c *cli.Context, env opt.Env) ([]swf.Job, trace.Options, error) {
	path := c.String("trace")
	f, err := os.Open(path)
	if err != nil {
		return nil, trace.Options{}, err
	}
	defer f.Close()
	log, err := swf.Read(f)
	if err != nil {
		return nil, trace.Options{}, fmt.Errorf("%s: %w", path, err)
	}
	o := trace.Options{Processors: c.Int64("procs"), Begin: trace.Begin(log), Events: c.String("mode") == "event"}
	if o.Processors == 0 {
		if o.Processors, err = strconv.ParseInt(log.Field("MaxProcs"), 10, 64); err != nil || o.Processors <= 0 {
			return nil, o, fmt.Errorf("%s does not tell its MaxProcs: --procs is needed", path)
		}
	}
	jobs, dropped := log.Usable(swf.Machine{Processors: o.Processors, RunAsEstimate: c.String("noest") == "run"})
	for _, d := range []struct {
		n   int
		why string
	}{
		{dropped.TooLarge, fmt.Sprintf("need more than %d processors", o.Processors)},
		{dropped.NoProcessors, "tell no number of processors"},
		{dropped.NoRun, "have not run"},
		{dropped.NoEstimate, "have no estimate (--noest run takes the run time)"},
		{dropped.NoSubmit, "were submitted before the log began"},
	} {
		if d.n > 0 {
			fmt.Fprintf(env.Stderr, "sim: %d of %d jobs are left out: they %s\n", d.n, len(log.Jobs), d.why)
		}
	}
	if len(jobs) == 0 {
		return nil, o, fmt.Errorf("%s has no job that could be replayed", path)
	}
	if n := c.Int("first"); n > 0 {
		jobs = jobs[:min(n, len(jobs))]
	}
	return jobs, o, nil
}

// simFiles writes what was asked for.
func simFiles(c *cli.Context, names []string, replays []*trace.Replay) error {
	if path := c.String("out"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := errors.Join(replays[0].WriteStarts(f), f.Close()); err != nil {
			return err
		}
	}
	if path := c.String("plot"); path != "" {
		if err := trace.PlotCurves(path, names, replays); err != nil {
			return err
		}
	}
	if path := c.String("gantt"); path != "" {
		return replays[0].PlotGantt(path)
	}
	return nil
}

// progress says every two seconds how far a replay is.
func progress(to io.Writer, name string, jobs int) func(ended, waiting int) {
	begun := time.Now()
	last := begun
	return func(ended, waiting int) {
		if now := time.Now(); now.Sub(last) >= 2*time.Second {
			last = now
			fmt.Fprintf(to, "sim: %s: %d of %d jobs ended, %d wait, %.0f jobs/s\n",
				name, ended, jobs, waiting, float64(ended)/now.Sub(begun).Seconds())
		}
	}
}
