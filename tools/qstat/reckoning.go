package qstat

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/state"
)

// reckoning finds what jobs are worth of which the scheduler told nothing
// because so many wait, or nothing again because only time has passed, from what
// it told of all of them together. The zero value was told nothing, and finds
// nothing.
type reckoning struct {
	known   *state.State
	cluster *sched.Cluster
	conf    *grid.SchedConf
	within  *grid.PriorityRange
}

// reckonedBy are the kinds of objects that it is made of. They come before the
// jobs.
var reckonedBy = []grid.Kind{grid.KindPriorityRange, grid.KindSchedConf, grid.KindCentry, grid.KindPE}

// add takes one object; other kinds are ignored.
func (r *reckoning) add(o grid.Object) {
	if !slices.Contains(reckonedBy, o.Kind()) {
		return
	}
	if r.known == nil {
		r.known = state.New()
		r.cluster = sched.NewCluster(r.known)
	}
	r.known.Apply(events.List{Events: []events.Event{events.Listed(o)}})
	r.conf, r.within = r.known.SchedConf(), r.known.PriorityRange()
}

// slots is how many a job counts for before it has any.
func (r *reckoning) slots(j *grid.Job) uint32 {
	if r.cluster == nil {
		return max(j.PERange.First(), 1)
	}
	return r.cluster.AssumedSlots(j)
}

// reckon finds what an entry is worth if its job is in line or runs, and what
// its started tasks are.
func (l *listing) reckon(e *entry, j *grid.Job) {
	known := &l.reckoning
	if known.within == nil || !e.theirs {
		return
	}
	inLine := !e.dependent && !e.later && (sched.NextTask(j, 0) != 0 || l.startable(j))
	first, runs := l.firstTask(j.ID)
	if !inLine && !runs {
		return
	}
	resources := known.cluster.ResourceUrgency(j)
	for n := first; n < len(l.tasks) && l.tasks[n].Job == j.ID; n++ {
		if l.tasks[n].Started() {
			l.tasks[n] = shares.RunningPriority(known.conf, known.within, j, resources, l.tasks[n])
		}
	}
	p := shares.PendingPriority(known.conf, known.within, j, resources, l.told(j.ID))
	switch {
	case !inLine && l.whole:
		e.ran = &p
	case inLine:
		e.priority, e.reckoned = p.Priority, true
		if l.whole {
			e.found = &p
		}
	}
}

// startable says whether a task of the job that was enrolled could start. Tasks
// have come before the jobs, in key order.
func (l *listing) startable(j *grid.Job) bool {
	for n, _ := l.firstTask(j.ID); n < len(l.tasks) && l.tasks[n].Job == j.ID; n++ {
		if sched.Startable(j, l.tasks[n]) {
			return true
		}
	}
	return false
}

// firstTask is where the job's tasks begin among those that were told.
func (l *listing) firstTask(job uint32) (n int, found bool) {
	return slices.BinarySearchFunc(l.tasks, job, func(t *grid.JATask, job uint32) int { return cmp.Compare(t.Job, job) })
}

// told is what the scheduler told of the job, nil: nothing. That has come before
// the jobs, in key order.
func (l *listing) told(job uint32) *grid.Priority {
	n, found := slices.BinarySearchFunc(l.found, job, func(p *grid.Priority, job uint32) int { return cmp.Compare(p.Job, job) })
	if !found {
		return nil
	}
	return l.found[n]
}
