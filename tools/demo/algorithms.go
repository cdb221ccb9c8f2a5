package demo

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
)

// rivals are the projects of the stream. Both submit the same.
var rivals = []algorithm.Project{{Name: "gold", Weight: 3}, {Name: "silver", Weight: 1}}

// rivalSlots is the size of the cell on which they meet. taskSeconds is how long
// each of their tasks takes.
const (
	rivalSlots  = 8
	taskSeconds = 0.4
)

// settling is how long what an earlier algorithm has started continues. pause is
// the time between submissions; headStart is how many come at once before the
// first algorithm is looked at, so that both projects have jobs waiting.
const (
	settling  = 500 * time.Millisecond
	pause     = 500 * time.Millisecond
	headStart = 4
)

// phase is the time of an algorithm.
type phase struct {
	algorithm   string
	first, last grid.Time
}

// Algorithms shows a stream of jobs from two projects under each algorithm in
// turn, swapped while jobs run: what each project got, and what the algorithm
// promises. A task that was lost, or run twice, is an error.
func Algorithms(ctx context.Context, env opt.Env, o Options) error {
	if o.Span == 0 {
		o.Span = 6 * time.Second
	}
	return onCell(ctx, env, o, 2, rivalSlots, func(ctx context.Context, d *demo) error { return d.swap(ctx, o.Span) })
}

// swap lets the stream flow and changes the algorithm under it.
func (d *demo) swap(ctx context.Context, span time.Duration) error {
	c, err := client.Connect(ctx, d.where)
	if err != nil {
		return err
	}
	defer c.Close()
	algorithms, err := divided(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout,
		"Projects gold and silver have weights 3 and 1. Both submit %.0f %% of what fits, in tasks of\n%.1f s; each of %d algorithms decides for %s.\n\n",
		100*taskSeconds/pause.Seconds(), taskSeconds, len(algorithms), span)
	facts := &facts{}
	go c.Watch(ctx, client.Watcher{Fresh: func() events.Sink { return facts }})
	for range headStart {
		if err := d.round(ctx); err != nil {
			return err
		}
	}
	flow, stop := context.WithCancel(ctx)
	defer stop()
	fed := make(chan error, 1)
	go func() { fed <- d.stream(ctx, flow) }()
	var phases []phase
	for _, name := range algorithms {
		if err := d.qconf(ctx, "-mattr", "sched_conf", "algorithm", name); err != nil {
			return err
		}
		fmt.Fprintf(d.Stdout, "%6.1f s  qconf -mattr sched_conf algorithm %s\n", time.Since(d.begun).Seconds(), name)
		first := grid.TimeOf(time.Now().Add(settling))
		select {
		case err := <-fed:
			return err
		case <-time.After(span + settling):
		}
		phases = append(phases, phase{name, first, grid.TimeOf(time.Now())})
	}
	stop()
	if err := <-fed; err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "%6.1f s  nothing more is submitted; what waits still runs\n", time.Since(d.begun).Seconds())
	return d.judge(ctx, facts, phases)
}

// divided makes the projects and configures every algorithm to divide the cell
// among them. It names the algorithms.
func divided(ctx context.Context, c client.Client) (names []string, err error) {
	var conf grid.SchedConf
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindSchedConf}}, func(o grid.Object) error {
		conf = *o.(*grid.SchedConf)
		return nil
	})
	if err != nil {
		return nil, err
	}
	at := conf.Algorithm
	for _, e := range shipped.Algorithms() {
		names = append(names, e.Name)
		conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name}) // without what it has by default
		conf = e.Divide(conf, rivals)
		if prompt := e.Division.Prompt; len(prompt) > 0 {
			conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: append(conf.Section(e.Name), prompt...)})
		}
	}
	conf.Algorithm = at
	var projects []grid.Object
	for _, p := range algorithm.Projects(rivals) {
		projects = append(projects, &p)
	}
	for _, b := range []gdi.Body{&gdi.Add{Objects: projects}, &gdi.Modify{Objects: []grid.Object{&conf}}} {
		reply, err := c.Do(ctx, "qconf", b)
		if err == nil {
			err = reply.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// stream submits for both projects until flow ends.
func (d *demo) stream(ctx, flow context.Context) error {
	for {
		if err := d.round(ctx); err != nil {
			return err
		}
		select {
		case <-flow.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// round submits for both projects once, for each as much as would fill the cell
// alone.
func (d *demo) round(ctx context.Context) error {
	const tasks = rivalSlots
	for _, p := range rivals {
		_, err := d.qsub(ctx, "", "-P", p.Name, "-N", p.Name, "-t", fmt.Sprintf("1-%d", tasks), "-b", "y", "-shell", "n",
			"-o", "/dev/null", "-j", "y", "sleep", fmt.Sprint(taskSeconds))
		if err != nil {
			return err
		}
		d.expected += tasks - 1
	}
	return nil
}

// qconf runs the command as an administrator would.
func (d *demo) qconf(ctx context.Context, args ...string) error {
	_, err := d.command(ctx, "", append([]string{"qconf"}, args...)...)
	return err
}

// judge waits until all has run, shows what each project got in each phase, and
// looks for tasks that were lost or run twice.
func (d *demo) judge(ctx context.Context, f *facts, phases []phase) error {
	for f.ended() < d.expected {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	fmt.Fprintln(d.Stdout)
	t := tabwriter.NewWriter(d.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "algorithm\tpromised\tgold got\tsilver got\tstarts\tits rule")
	for _, p := range phases {
		got, starts := f.within(p)
		promised, rule := "-", "its own: nothing by project"
		if e, _ := algorithm.Find(shipped.Algorithms(), p.algorithm); e.Division.Promise != "" {
			promised, rule = fmt.Sprintf("%.0f : %.0f", 100*e.Promised(rivals, 0), 100*e.Promised(rivals, 1)), e.Division.Promise
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f %%\t%.1f %%\t%d\t%s\n", p.algorithm, promised, 100*got[0], 100*got[1], starts, rule)
	}
	t.Flush()
	return d.account(f)
}

// within returns what part of all use each project had in a phase, and how many
// tasks started.
func (f *facts) within(p phase) (part []float64, starts int) {
	f.Lock()
	defer f.Unlock()
	part = make([]float64, len(rivals))
	sum := 0.0
	for _, a := range f.records {
		if a.Start >= p.first && a.Start < p.last {
			starts++
		}
		used := max(0, min(a.End, p.last).Sub(max(a.Start, p.first)))
		for i, r := range rivals {
			if a.Project == r.Name {
				part[i] += used
				sum += used
			}
		}
	}
	for i := range part {
		part[i] /= max(sum, 1e-9)
	}
	return part, starts
}

// account holds the accounting against what was submitted: every task once.
func (d *demo) account(f *facts) error {
	filed, err := fileRecords(d.where.Accounting())
	if err != nil {
		return err
	}
	f.Lock()
	defer f.Unlock()
	ran := map[[2]uint32]int{}
	twice, failed := 0, 0
	for _, a := range f.records {
		k := [2]uint32{a.Job, a.Task}
		if ran[k]++; ran[k] == 2 {
			twice++
		}
		if a.Failed != 0 || a.ExitStatus != 0 {
			failed++
		}
	}
	lost := d.expected - len(ran)
	fmt.Fprintf(d.Stdout, "\nqacct: %d tasks submitted, %d accounted; lost %d, run twice %d, failed %d\n", d.expected,
		filed, lost, twice, failed)
	if lost != 0 || twice != 0 || failed != 0 || filed != len(f.records) {
		return errors.New("tasks were lost, run twice or failed")
	}
	return nil
}
