package view

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/shares"
)

// The scheduler reports no priority for some jobs because too many wait, or none again
// because only time has passed. Their priorities follow from the range that it reported
// for all jobs (grid.PriorityRange); pkg/shares computes them.

// worthKinds are the kinds of objects that it is made of. They come before the
// jobs.
var worthKinds = []grid.Kind{grid.KindPriorityRange, grid.KindSchedConf, grid.KindCentry, grid.KindPE}

// assumedSlots is how many slots a job counts for before it has any.
func (l *Jobs) assumedSlots(j *grid.Job) uint32 {
	if !l.known {
		return max(j.PERange.First(), 1)
	}
	return l.worth().AssumedSlots(j)
}

// worth is the cluster of what was added before the jobs.
func (l *Jobs) worth() *sched.Cluster {
	if l.base == nil {
		l.base = sched.NewCluster(l.state)
		l.conf, l.within = l.state.SchedConf(), l.state.PriorityRange()
	}
	return l.base
}

// reckon finds what an entry is worth if its job is in line or runs, and what its
// started tasks are.
func (l *Jobs) reckon(e *entry, j *grid.Job) {
	if !l.known {
		return
	}
	c := l.worth()
	if l.within == nil || !e.theirs {
		return
	}
	inLine := !e.dependent && !e.later && (sched.NextTask(j, 0) != 0 || l.startable(j))
	first, runs := l.firstTask(j.ID)
	if !inLine && !runs {
		return
	}
	resources := c.ResourceUrgency(j)
	for n := first; n < len(l.tasks) && l.tasks[n].Job == j.ID; n++ {
		if l.tasks[n].Started() {
			l.tasks[n] = shares.RunningPriority(l.conf, l.within, j, resources, l.tasks[n])
		}
	}
	p := shares.PendingPriority(l.conf, l.within, j, resources, l.reported(j.ID))
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

// startable reports whether a task of the job that was enrolled could start. Tasks
// have come before the jobs, in key order.
func (l *Jobs) startable(j *grid.Job) bool {
	for n, _ := l.firstTask(j.ID); n < len(l.tasks) && l.tasks[n].Job == j.ID; n++ {
		if sched.Startable(j, l.tasks[n]) {
			return true
		}
	}
	return false
}

// firstTask is where the job's tasks begin among those that were added.
func (l *Jobs) firstTask(job uint32) (n int, found bool) {
	return slices.BinarySearchFunc(l.tasks, job, func(t *grid.JATask, job uint32) int { return cmp.Compare(t.Job, job) })
}

// reported returns the scheduler's report of the job, or nil. Reports were received
// before the jobs, in key order.
func (l *Jobs) reported(job uint32) *grid.Priority {
	n, found := slices.BinarySearchFunc(l.found, job, func(p *grid.Priority, job uint32) int {
		return cmp.Compare(p.Job, job)
	})
	if !found {
		return nil
	}
	return l.found[n]
}
