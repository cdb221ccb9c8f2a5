package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/outcome"
	"github.com/quill-grid/quill/tools/simulator/workload"
)

// Command replays a workload log, to try a policy before users feel it.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "sim", Usage: "replay a workload log on virtual time and show how its jobs fare",
		Description: "The log is in the Standard Workload Format of the Parallel Workloads Archive, compressed\n" +
			"or not. Its jobs go through qmaster's core and the scheduler as in a real cell; the machine\n" +
			"is one pool of processors, and a job ends after its run time in the log. Jobs ask\n" +
			"for their estimate (-l h_rt) and a reservation (-R y).\n\n" +
			"Without --config jobs go in the order of submission and DURATION_OFFSET is 0. With several\n" +
			"--config, --algorithm or --max-reservation the schedules are shown side by side. With --projects\n" +
			"each algorithm is configured to divide the pool by their weights, unless the configuration\n" +
			"has a section for it:\n\n" +
			"   quill sim --trace KTH-SP2-1996-2.swf.gz --procs 100 --max-reservation 0 --max-reservation 1\n" +
			"   quill sim --trace LOG.swf --projects 3 --weights 3,2,1 --algorithm all --report report.html\n" +
			"   qconf -ssconf > now; cp now new; vi new; quill sim --trace LOG.swf --procs 64 --config now --config new",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "trace", Usage: "the workload log, `FILE`.swf or FILE.swf.gz"},
			&cli.Int64Flag{Name: "procs", Usage: "processors of the pool, `N`; jobs that need more are left out",
				DefaultText: "the log's MaxProcs"},
			&cli.StringFlag{Name: "mode", Value: "batch",
				Usage: "`MODE`: batch, one scheduling pass for all that happens in a second; event, one after each submission and each end"},
			&cli.StringSliceFlag{Name: "max-reservation",
				Usage:       "reservations in a pass, `K` or \"unlimited\": 0 is none, 1 is EASY backfilling",
				DefaultText: "the configuration's, else 0"},
			&cli.StringFlag{Name: "noest",
				Usage: "what stands for the estimate of jobs without one, `WHAT`: only \"run\", the run time. By default such jobs are left out"},
			&cli.StringSliceFlag{Name: "config", Usage: "scheduler configuration, a `FILE` as qconf -ssconf prints it"},
			&cli.StringSliceFlag{Name: "algorithm", Usage: "scheduling `ALGORITHM` as sched_conf(5) names it, or \"all\"",
				DefaultText: "the configuration's"},
			&cli.StringFlag{Name: "projects",
				Usage: "whose the jobs are, `N|FIELD`: the log's users dealt out to N projects (its jobs, when it has too few users), or its user, group or queue"},
			&cli.StringFlag{Name: "weights", Usage: "weights of the projects in their order, `W,W,...`", DefaultText: "all 1"},
			&cli.Float64Flag{Name: "load", Value: 1, Usage: "submit `F` times as fast as in the log"},
			&cli.BoolFlag{Name: "tasks",
				Usage: "submit a job of N processors as an array of N tasks of one; by default when --algorithm is given, as not all know parallel jobs"},
			&cli.IntFlag{Name: "first", Usage: "only the first `N` usable jobs of the log", DefaultText: "all"},
			&cli.StringFlag{Name: "out", Usage: "write the start second of each job to `FILE`, as job,start"},
			&cli.StringFlag{Name: "plot", Usage: "draw utilisation and queue length over time, `FILE`.svg"},
			&cli.StringFlag{Name: "shares", Usage: "draw each project's part of what runs over time, `FILE`.svg"},
			&cli.StringFlag{
				Name: "report", Usage: "write tables and pictures as one page that needs no other file, `FILE`.html"},
			opt.JSONFlag(),
			&cli.StringFlag{Name: "gantt", Usage: fmt.Sprintf("draw who has which processors, `FILE`.svg; at most %d jobs",
				outcome.GanttMost)},
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
	if o.Projects, o.Project, err = projects(c, env, jobs); err != nil {
		return err
	}
	o.Tasks = c.Bool("tasks") || !c.IsSet("tasks") && c.IsSet("algorithm")
	if n := len(jobs); c.String("gantt") != "" && n > outcome.GanttMost {
		return fmt.Errorf("--gantt shows at most %d jobs, not %d; --first takes fewer", outcome.GanttMost, n)
	}
	what, total := "jobs", int64(len(jobs))
	if o.Tasks {
		what, total = "tasks", 0
		for _, j := range jobs {
			total += j.Requested
		}
	}
	compared := &outcome.Comparison{Workload: filepath.Base(c.String("trace")), Unit: what, Machine: "processors"}
	var last *workload.Replay
	for _, v := range variants {
		o.Conf, o.Progress = v.conf, progress(env.Stderr, v.name, what, total)
		if e, ok := algorithm.Find(shipped.Algorithms(), v.conf.Algorithm); ok {
			o.Conf = e.Divide(v.conf, o.Projects)
		}
		r, err := workload.Run(c.Context, jobs, o)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		last = r
		one := r.Outcome(v.name)
		one.Policy = v.conf.Algorithm
		compared.Add(one, r.Passes, r.Took)
	}
	if c.Bool("json") {
		if err := compared.JSON(env.Stdout); err != nil {
			return err
		}
	} else {
		compared.Table(env.Stdout)
	}
	if err := starts(c, last); err != nil {
		return err
	}
	return files(c).Write(compared, opt.Entered(c))
}

// files are those that the options name.
func files(c *cli.Context) outcome.Files {
	return outcome.Files{Plot: c.String("plot"), Shares: c.String("shares"), Gantt: c.String("gantt"),
		Report: c.String("report")}
}

// simVariants are the configurations, each with each number of reservations and
// each algorithm.
func simVariants(c *cli.Context) (all []variant, err error) {
	bases, err := reservations(c)
	if err != nil || !c.IsSet("algorithm") {
		return bases, err
	}
	names, err := shipped.Named(c.StringSlice("algorithm"))
	if err != nil {
		return nil, err
	}
	for _, v := range bases {
		for _, name := range names {
			n := v
			n.conf.Algorithm = name
			n.name = strings.TrimSpace(v.name + " " + name)
			all = append(all, n)
		}
	}
	return all, nil
}

// reservations are the configurations, each with each number of reservations.
func reservations(c *cli.Context) ([]variant, error) {
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
	case len(bases) == 0 && len(limits) == 0 && c.IsSet("algorithm"):
		return []variant{{conf: workload.Conf(0)}}, nil
	case len(bases) == 0 && len(limits) == 0:
		limits = []string{"0"}
		fallthrough
	case len(bases) == 0:
		bases = []variant{{conf: workload.Conf(0)}}
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
	switch mode, estimate := c.String("mode"), c.String("noest"); {
	case c.String("shares") != "" && c.String("projects") == "":
		return opt.Usagef("--shares shows projects: --projects says whose the jobs are")
	case c.String("weights") != "" && c.String("projects") == "":
		return opt.Usagef("--weights are those of projects: --projects says whose the jobs are")
	case c.Args().Present():
		return opt.Usagef("unknown argument %q", c.Args().First())
	case c.String("trace") == "":
		return opt.Usagef("--trace is missing: which log?")
	case mode != "batch" && mode != "event":
		return fmt.Errorf("--mode %q: neither batch nor event", mode)
	case estimate != "" && estimate != "run":
		return fmt.Errorf("--noest %q: the only way is run", estimate)
	case !(c.Float64("load") > 0 && c.Float64("load") <= 1000):
		return opt.Usagef("--load takes a positive number, at most 1000")
	case c.Int("first") < 0 || c.IsSet("procs") && c.Int64("procs") <= 0:
		return opt.Usagef("--first and --procs take positive numbers")
	}
	return files(c).Check()
}

// simJobs reads the log, and says on stderr which of its jobs are left out.
func simJobs(c *cli.Context, env opt.Env) ([]workload.Job, workload.ReplayOptions, error) {
	path := c.String("trace")
	f, err := os.Open(path)
	if err != nil {
		return nil, workload.ReplayOptions{}, err
	}
	defer f.Close()
	log, err := workload.ReadLog(f)
	if err != nil {
		return nil, workload.ReplayOptions{}, fmt.Errorf("%s: %w", path, err)
	}
	o := workload.ReplayOptions{Processors: c.Int64("procs"), Begin: workload.Begin(log),
		Events: c.String("mode") == "event"}
	if o.Processors == 0 {
		if o.Processors, err = strconv.ParseInt(log.Field("MaxProcs"), 10, 64); err != nil || o.Processors <= 0 {
			return nil, o, fmt.Errorf("%s has no MaxProcs: --procs is needed", path)
		}
	}
	jobs, dropped := log.Usable(workload.Machine{Processors: o.Processors, RunAsEstimate: c.String("noest") == "run"})
	for _, d := range []struct {
		n   int
		why string
	}{
		{dropped.TooLarge, fmt.Sprintf("need more than %d processors", o.Processors)},
		{dropped.NoProcessors, "have no number of processors"},
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
	for i := range jobs {
		jobs[i].Submit = int64(float64(jobs[i].Submit) / c.Float64("load"))
	}
	return jobs, o, nil
}

// starts writes the start times, if they were asked for.
func starts(c *cli.Context, replay *workload.Replay) error {
	path := c.String("out")
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(replay.WriteStarts(f), f.Close())
}

// progress says every two seconds how far a replay is.
func progress(to io.Writer, name, what string, total int64) func(ended, waiting int) {
	begun := time.Now()
	last := begun
	return func(ended, waiting int) {
		if now := time.Now(); now.Sub(last) >= 2*time.Second {
			last = now
			fmt.Fprintf(to, "sim: %s: %d of %d %s ended, %d wait, %.0f a second\n",
				name, ended, total, what, waiting, float64(ended)/now.Sub(begun).Seconds())
		}
	}
}
