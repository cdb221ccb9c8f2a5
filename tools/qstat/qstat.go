package qstat

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/qstat/cluster"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), show) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// printer is one run of the command.
type printer struct {
	*options
	env     opt.Env
	list    listing
	cluster *cluster.Cluster
	// runsIn are the instances in one of which a pending job must be able to run
	// to be shown; nil: anything is shown.
	runsIn []*cluster.Instance
	// standsIn are the instances in one of which a started task must stand to be
	// shown; nil: anything is shown.
	standsIn []*cluster.Instance
	finished []*entry // -s z
	// successors and arraySuccessors are the jobs that wait for each of -j.
	successors, arraySuccessors map[uint32][]uint32
	failed                      error
	silent                      bool // schedd_job_info is false: -j does not say why jobs wait
}

func show(ctx context.Context, env opt.Env, said *options) int {
	o, err := complete(env, said.line)
	if err != nil {
		return opt.Complain(env, command(), err)
	}
	c, err := env.Connect(ctx)
	if err != nil {
		return env.Fail(err)
	}
	defer c.Close()
	p := &printer{options: o, env: env, cluster: new(cluster.Cluster)}
	if o.byJob {
		return p.showByJob(ctx, c)
	}
	instances, err := p.fetch(ctx, c)
	if err == nil && p.states&zombie != 0 {
		err = p.fetchFinished(ctx, c)
	}
	if err != nil {
		return env.Fail(err)
	}
	if o.summary {
		instances = p.cluster.Whole(instances)
	}
	if o.queueWidth == 0 {
		o.queueWidth = p.longestName(instances)
	}
	switch {
	case o.summary && o.xml:
		p.xmlSummary(instances)
	case o.summary:
		p.printSummary(instances)
	case o.xml:
		p.xmlList(instances)
	case o.queues():
		p.printQueues(instances)
	default:
		p.printJobs()
	}
	if p.failed != nil {
		return env.Fail(p.failed)
	}
	return 0
}

// fetch gets everything that is to be shown.
func (p *printer) fetch(ctx context.Context, c client.Client) ([]*cluster.Instance, error) {
	p.list = listing{now: grid.TimeOf(p.env.Now()), whole: p.needsJobs(), users: p.owners()}
	get := gdi.Get{Where: gdi.Where{Brief: true}}
	each := func(o grid.Object) error { p.list.add(o); return nil }
	get.Kinds = slices.Clone(reckonedBy)
	if p.needsCluster() {
		more := slices.DeleteFunc(cluster.Kinds(), func(k grid.Kind) bool { return slices.Contains(reckonedBy, k) })
		get.Kinds = append(get.Kinds, more...)
		each = func(o grid.Object) error { p.list.add(o); p.cluster.Add(o); return nil }
	} else if !slices.ContainsFunc(p.list.users, isGroup) {
		get.Where.Owners = p.list.users
	}
	get.Kinds = append(get.Kinds, grid.KindPriority, grid.KindJATask, grid.KindJob)
	if p.taskInfo || p.perSlot && p.ext {
		get.Kinds = append(get.Kinds, grid.KindPETask)
	}
	if _, err := c.Get(ctx, get, each); err != nil {
		return nil, err
	}
	p.list.join()
	if !p.needsCluster() {
		p.list.keepOwned()
		return nil, nil
	}
	for _, e := range p.list.entries {
		for _, t := range e.tasks {
			p.cluster.Debit(e.job, t)
		}
	}
	p.list.keepOwned()
	instances, err := p.cluster.Select(p.selection)
	if !p.selection.Empty() {
		p.standsIn = append([]*cluster.Instance{}, instances...)
	}
	if s := p.selection; len(s.Queues)+len(s.Requests)+len(s.PEs)+len(s.Users) > 0 {
		p.runsIn = instances
	}
	return instances, err
}

// owners is whose jobs are shown: those of -u, else the caller's own; nil
// stands for everybody.
func (p *printer) owners() grid.Names {
	switch {
	case p.users.Has("*"):
		return nil
	case len(p.users) > 0:
		users := slices.Clone(p.users)
		for n, u := range users {
			if u == "$user" {
				users[n] = p.env.User()
			}
		}
		return users
	}
	return grid.Names{p.env.User()}
}

// longestName is how long the names of the queue instances are, or of the
// cluster queues with -g c, that are going to be shown.
func (p *printer) longestName(instances []*cluster.Instance) (n int) {
	for _, i := range instances {
		if name := i.Name(); p.summary {
			n = max(n, len(i.Queue))
		} else {
			n = max(n, len(name))
		}
	}
	for _, t := range p.list.tasks {
		for _, g := range t.Grants {
			n = max(n, len(g.Instance()))
		}
	}
	return max(n, len("queue"))
}

func (p *printer) table(inQueue bool) *table {
	return &table{w: p.env.Stdout, columns: columnsFor(p.options, inQueue), rule: ruleFor(p.options), queueWidth: p.queueWidth, inQueue: inQueue, taskInfo: p.taskInfo}
}

func (p *printer) line(t *table, r *row) {
	t.line(r)
	if p.requests && !r.continued {
		t.text(p.requestLines(r))
	}
}

func (p *printer) finish(t *table) {
	t.flush()
	p.failed = t.err
}

// eachRunning calls f with the rows of started tasks, by job and task.
func (p *printer) eachRunning(f func(*row)) {
	p.list.eachStarted(p.options, func(e *entry, t *grid.JATask) {
		if p.standsIn != nil && !p.granted(t) {
			return
		}
		p.started(e, t, nil, p.cluster.JobIsFirstTask, f)
	})
}

// granted says whether a task holds slots in one of the instances that were
// asked for; without -g t it stands where its master runs.
func (p *printer) granted(t *grid.JATask) bool {
	for n, g := range t.Grants {
		if n > 0 && !p.perSlot {
			break
		}
		for _, i := range p.standsIn {
			if i.Queue == g.Queue && i.Host == g.Host {
				return true
			}
		}
	}
	return false
}

// eachWaiting calls f with the rows of pending tasks in the order of their
// jobs' priority.
func (p *printer) eachWaiting(f func(*row)) {
	if p.states&(pending|anyHold) == 0 {
		return
	}
	sortPending(p.list.entries)
	r := new(row)
	for _, e := range p.list.entries {
		if p.runsIn == nil || p.runs(e.job) {
			p.waiting(r, e, f)
		}
	}
}

func (p *printer) runs(j *grid.Job) bool {
	for _, i := range p.runsIn {
		if i.Runs(j) {
			return true
		}
	}
	return false
}
