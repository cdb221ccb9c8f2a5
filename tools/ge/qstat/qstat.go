package qstat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/view"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), show) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// printer is one run of the command.
type printer struct {
	*options
	env    opt.Env
	list   *view.Jobs
	view   *view.View
	failed error
}

func show(ctx context.Context, env opt.Env, o *options) int {
	o.complete(env)
	c, err := env.Connect(ctx)
	if err != nil {
		return env.Fail(err)
	}
	defer c.Close()
	p := &printer{options: o, env: env}
	if o.byJob {
		return p.showByJob(ctx, c)
	}
	queues, err := p.fetch(ctx, c)
	if err == nil && p.states&view.JobsFinished != 0 {
		err = p.fetchFinished(ctx, c)
	}
	if err != nil {
		return env.Fail(err)
	}
	if o.queueWidth == 0 {
		o.queueWidth = p.longestName(queues)
	}
	switch {
	case o.summary:
		return p.showSummary()
	case o.format.JSON():
		return p.write(p.document(queues))
	case o.format.XML():
		p.xmlList(queues)
	case o.queues():
		p.printQueues(queues)
	default:
		p.printJobs()
	}
	if p.failed != nil {
		return env.Fail(p.failed)
	}
	return 0
}

// fetch gets everything that is to be shown, and returns the rows of queues.
func (p *printer) fetch(ctx context.Context, c client.Client) ([]view.Queue, error) {
	p.list = view.NewJobs(grid.TimeOf(p.env.Now()),
		view.JobFilter{Users: p.owners(), States: p.states, Queues: p.selection}, view.JobShow{
			PerTask: p.perTask, PerSlot: p.perSlot, PETasks: p.taskInfo, Worth: p.urg || p.pri, Policy: p.ext,
			Requested: p.requests,
			Queues:    p.queues() || p.summary})
	if err := p.getAll(ctx, c); err != nil {
		return nil, err
	}
	if err := p.list.Done(); err != nil {
		return nil, err
	}
	if p.view = p.list.View(); p.view == nil {
		return nil, nil
	}
	queues, err := p.view.Queues(p.selection, p.load)
	if none := (*view.NoneLeftError)(nil); errors.As(err, &none) {
		fmt.Fprintln(p.env.Stderr, none)
		return nil, nil
	}
	return queues, err
}

// jobsAtOnce is how many jobs one request names.
const jobsAtOnce = 10_000

// getAll adds to the listing what it is made of. Of the jobs, qstat -g c counts those that have tasks.
func (p *printer) getAll(ctx context.Context, c client.Client) error {
	get, jobs := p.list.Get(), []grid.Key(nil)
	if p.summary {
		get.Kinds = slices.DeleteFunc(get.Kinds,
			func(k grid.Kind) bool { return k == grid.KindJob || k == grid.KindPriority })
	}
	_, err := c.Get(ctx, get, func(o grid.Object) error {
		if t, is := o.(*grid.JATask); is && p.summary && (len(jobs) == 0 || jobs[len(jobs)-1].ID != t.Job) {
			jobs = append(jobs, grid.Key{ID: t.Job})
		}
		p.list.Add(o)
		return nil
	})
	for keys := range slices.Chunk(jobs, jobsAtOnce) {
		if err != nil {
			break
		}
		named := gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Brief: true, Keys: keys}}
		_, err = c.Get(ctx, named, func(o grid.Object) error { p.list.Add(o); return nil })
	}
	return err
}

// fetchFinished gets the jobs that ended or were deleted last. qmaster keeps as
// many as finished_jobs of sge_conf(5) says.
func (p *printer) fetchFinished(ctx context.Context, c client.Client) error {
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Brief: true, Finished: true}}
	_, err := c.Get(ctx, get, func(o grid.Object) error {
		if j, ok := o.(*grid.Job); ok {
			p.list.AddFinished(j)
		}
		return nil
	})
	return err
}

// owners is whose jobs are shown: those of -u, else the caller's own; nil
// stands for everybody.
func (p *printer) owners() grid.Names {
	if p.users.Has("*") {
		return nil
	}
	return p.env.Owners(p.users)
}

// longestName is how long the names of the queue instances are, or of the
// cluster queues with -g c, that are going to be shown.
func (p *printer) longestName(queues []view.Queue) (n int) {
	for _, q := range queues {
		if p.summary {
			n = max(n, len(q.Queue))
		} else {
			n = max(n, len(q.Name()))
		}
	}
	for g := range p.list.Grants() {
		n = max(n, len(g.Instance()))
	}
	return max(n, len("queue"))
}

func (p *printer) table(inQueue bool) *table {
	return &table{w: p.env.Stdout, columns: columnsFor(p.options, inQueue), rule: ruleFor(p.options),
		queueWidth: p.queueWidth, inQueue: inQueue, taskInfo: p.taskInfo}
}

func (p *printer) line(t *table, r *view.Job) {
	t.line(r)
	if r.Requested != nil && !r.Continued {
		t.text(p.requestLines(r))
	}
}

func (p *printer) finish(t *table) {
	t.flush()
	p.failed = t.err
}
