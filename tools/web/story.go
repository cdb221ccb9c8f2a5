package web

import (
	"context"
	"iter"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/why"
)

// told is a Past as every user may see it: without the private fields of lists, and without the records of scheduling runs, which qmaster sends to
// managers only.
type told struct {
	Past
	used *used // what it sees of a job
}

func (told) Runs(uint64) iter.Seq2[orders.Record, error] {
	return func(func(orders.Record, error) bool) {}
}

func (t told) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for l, err := range t.Past.Lists(from) {
			if err == nil {
				t.used.take(l)
			}
			if !yield(readable(l), err) {
				return
			}
		}
	}
}

// used is what the tasks of a job use over time, as the lists have it.
type used struct {
	job     uint32
	seq     uint64 // the last list that was taken
	tasks   map[uint32]grid.Usage
	running map[uint32]bool
	points  []console.UsagePoint
}

func (u *used) take(l events.List) {
	if l.Seq <= u.seq {
		return // lists are read again
	}
	u.seq = l.Seq
	changed := false
	for _, e := range l.Events {
		switch {
		case e.Kind != grid.KindJATask || e.Key.ID != u.job:
			continue
		case e.Op == events.OpDel:
			delete(u.running, e.Key.Sub)
		default:
			t := e.Object.(*grid.JATask)
			usage := t.Usage
			usage.CPU += t.Previous.CPU
			u.tasks[t.ID], u.running[t.ID] = usage, t.Started()
		}
		changed = true
	}
	if !changed {
		return
	}
	p := console.UsagePoint{At: l.At}
	for id, one := range u.tasks { // order: sums
		p.CPU += one.CPU
		if u.running[id] {
			p.Memory += one.VMem
		}
	}
	u.points = append(u.points, p)
}

func (c *consoleCell) Story(ctx context.Context, m *console.Moment, job, task uint32) (*why.Story, []console.UsagePoint, error) {
	from := gdi.Place{}
	if j := m.State.Job(job); j != nil {
		from.At = j.Submit - 1
	} else if ended, err := c.Ended(ctx, m, view.AccountingFilter{Jobs: grid.Names{strconv.FormatUint(uint64(job), 10)}}, 1); err == nil && len(ended) > 0 {
		from.At = ended[0].Submit - 1
	}
	p, err := c.past(ctx, from, gdi.Place{Seq: m.State.Seq}, false)
	if err != nil {
		return nil, nil, explained(err)
	}
	defer p.Close()
	now := grid.Time(0)
	if m.Live {
		now = m.Now
	}
	select {
	case c.outlooks <- struct{}{}:
		defer func() { <-c.outlooks }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	stop := func() bool { return ctx.Err() != nil }
	u := &used{job: job, tasks: map[uint32]grid.Usage{}, running: map[uint32]bool{}}
	story, err := why.Tell(told{p, u}, job, task, m.State.Seq, now, outlook.Options{JobsMost: outlookJobs, Stop: stop}, func(err error) {
		c.options.Logger.Warn("cannot read all of the log for a story", "job", job, "error", err)
	})
	return story, u.points, err
}
