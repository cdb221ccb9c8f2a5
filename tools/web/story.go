package web

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/web/problem"
)

// publicPast is a Past as every user may see it: without the private fields of lists, and without the records of
// scheduling runs, which qmaster sends to managers only.
type publicPast struct {
	past.Stretch
	ctx  context.Context // ends reading
	used *usageRecorder  // what it sees of a job
}

// storyWait is how long a page may read the log for the story of a job that was submitted before the lists that are
// kept.
const storyWait = 30 * time.Second

func (publicPast) Runs(uint64) iter.Seq2[orders.Record, error] {
	return func(func(orders.Record, error) bool) {}
}

func (t publicPast) Lists(from uint64) iter.Seq2[events.List, error] {
	return t.used.watchLists(func(yield func(events.List, error) bool) {
		for l, err := range t.Stretch.Lists(from) {
			if err == nil {
				err = t.ctx.Err()
			}
			if !yield(l.Public(), err) || t.ctx.Err() != nil {
				return
			}
		}
	})
}

// usageRecorder is what the tasks of a job use over time, as the lists have it.
type usageRecorder struct {
	job     uint32
	to      uint64 // the last list that counts
	seq     uint64 // the last list that was taken
	tasks   map[uint32]grid.Usage
	running map[uint32]bool
	points  []console.UsagePoint
}

// watchLists returns lists, and takes them as they are read.
func (u *usageRecorder) watchLists(lists iter.Seq2[events.List, error]) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for l, err := range lists {
			if err == nil {
				u.addUsage(l)
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

func (u *usageRecorder) addUsage(l events.List) {
	if l.Seq <= u.seq || l.Seq > u.to {
		return // lists are read again, or some more
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
	runs, sampled := false, false
	for id, one := range u.tasks { // order: sums
		p.CPU += one.CPU
		if u.running[id] {
			p.Memory += one.VMem
			runs, sampled = true, sampled || one.VMem > 0
		}
	}
	p.Unsampled = runs && !sampled
	u.points = append(u.points, p)
}

func (c *consoleCell) Story(
	ctx context.Context, m *console.Moment, job, task uint32,
) (*jobstory.Story, []console.UsagePoint, error) {
	now := grid.Time(0)
	if m.Live {
		now = m.Now
	}
	foresee := outlook.Options{JobsMost: outlookJobs, Stop: func() bool { return ctx.Err() != nil }}
	u := &usageRecorder{job: job, to: m.State.Seq, tasks: map[uint32]grid.Usage{}, running: map[uint32]bool{}}
	damaged := func(err error) {
		c.options.Logger.Warn("cannot read all of the log for a story", "job", job, "error", err)
	}
	if l := c.mirror.Recent.Life(job, m.State.Seq); l != nil {
		release, err := c.outlookTurn(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer release()
		p, err := l.Part()
		if err != nil {
			return nil, nil, err
		}
		p.Lists, p.End, p.Whole = u.watchLists(p.Lists), m.State, c.wholes(ctx)
		story, err := jobstory.ReadPart(p, job, task, now, foresee, damaged)
		return story, u.points, err
	}
	ctx, cancel := context.WithTimeout(ctx, storyWait)
	defer cancel()
	story, err := c.oldStory(ctx, m, u, func(log jobstory.Log) (*jobstory.Story, error) {
		return jobstory.Read(log, job, task, m.State.Seq, now, foresee, damaged)
	})
	if ctx.Err() != nil { // the story is a part
		return nil, nil, pageError(problem.New(http.StatusServiceUnavailable, problem.TypeQMaster, "",
			fmt.Sprintf("the log since the submission of job %d is too long to be read here: quill why %d reads it", job, job)))
	}
	return story, u.points, err
}

// oldStory reads the story of a job from the log.
func (c *consoleCell) oldStory(
	ctx context.Context, m *console.Moment, u *usageRecorder, tell func(jobstory.Log) (*jobstory.Story, error),
) (*jobstory.Story, error) {
	from := gdi.Place{}
	if j := m.State.Job(u.job); j != nil {
		from = gdi.Before(j.Submit)
	} else if ended, err := c.Ended(ctx, m, view.AccountingFilter{Jobs: grid.Names{strconv.FormatUint(uint64(u.job), 10)}},
		1); err == nil && len(ended) > 0 {
		from = gdi.Before(ended[0].Submit)
	}
	p, err := c.reader.Open(ctx, from, gdi.Place{Seq: m.State.Seq}, false)
	if err != nil {
		return nil, pageError(err)
	}
	defer p.Close()
	release, err := c.outlookTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return tell(publicPast{p, ctx, u})
}

// outlookTurn returns when it is the request's turn to foresee a start. The result ends the turn.
func (c *consoleCell) outlookTurn(ctx context.Context) (release func(), err error) {
	if release, err = c.outlooks.Wait(ctx, entry.UserOf(ctx), 1); err != nil {
		return nil, pageError(problem.NoPlace(err, "requests to foresee a start"))
	}
	return release, nil
}

// wholes returns what gives the cell after a list, for lists in their order.
func (c *consoleCell) wholes(ctx context.Context) func(uint64) (*state.State, error) {
	var last *state.State
	return func(seq uint64) (*state.State, error) {
		s, err := c.reader.StateAt(ctx, gdi.Place{Seq: seq}, last)
		if err != nil {
			return nil, pageError(err)
		}
		last = s
		return s, nil
	}
}
