package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// jobGone removes a job and lets those continue that waited for it.
func (c *Core) jobGone(job uint32) {
	gone := c.state.Job(job)
	c.emit(events.Del(grid.KindJob, grid.Key{ID: job}))
	c.dropAR(gone.AR)
	c.release(release{job: job, cause: c.ready.List.Cause})
	c.waiters.ended(gone)
}

// release is what jobs that wait for a job are to continue after, and why: its end, or that of some of its tasks.
type release struct {
	job   uint32
	tasks grid.Ranges // that have ended; nil: the job is gone
	after uint32      // the jobs up to this one have been looked at
	cause events.Cause
}

// releaseTasks lets tasks of array successors continue as tasks of job have ended. It
// costs what waits for these tasks.
func (c *Core) releaseTasks(job uint32, ended grid.Ranges) {
	c.release(release{job: job, tasks: ended, cause: c.ready.List.Cause})
}

// release lets jobs continue that wait for another one. Where they are more than a portion the others follow with a
// Continue; a qmaster that ends before finds them in the state: see unreleased.
func (c *Core) release(r release) {
	p := c.state.Job(r.job)
	if r.tasks != nil && p == nil { // it has gone meanwhile, which releases all
		return
	}
	var waiting []uint32 // one more than a portion: others follow
	c.state.EachSuccessor(r.job, r.after, func(id uint32) bool {
		if r.tasks == nil || len(c.state.Job(id).ArrayHold) > 0 {
			waiting = append(waiting, id)
		}
		return c.portion == 0 || len(waiting) <= c.portion
	})
	for n, id := range waiting {
		if n > 0 && (n == c.portion || c.fullPortion()) {
			c.releases = append(c.releases, r)
			return
		}
		r.after = id
		if r.tasks == nil {
			c.releaseJob(id, r.job)
		} else {
			c.releaseTasksOf(id, p, r.tasks)
		}
	}
}

// releaseJob lets a job continue that waits for one that is gone.
func (s *step) releaseJob(id, gone uint32) {
	j := *s.state.Job(id)
	j.Predecessors = without(j.Predecessors, gone)
	j.ArrayPredecessors = without(j.ArrayPredecessors, gone)
	j.ArrayHold = s.cell.ArrayHold(&j)
	s.emit(events.Mod(&j))
}

// releaseTasksOf lets tasks of a job continue that wait for tasks of p that have ended.
func (c *Core) releaseTasksOf(id uint32, p *grid.Job, ended grid.Ranges) {
	j := *c.state.Job(id)
	held := cell.TasksWaitingFor(&j, p, ended)
	c.spent += len(held) / rangesPerEvent // looking at them takes time, too
	if free := c.cell.Released(&j, held); len(free) > 0 {
		j.ArrayHold = j.ArrayHold.Minus(free)
		c.emit(events.Mod(&j))
	}
}

// releaseMore does a portion of the releases that wait, of one cause.
func (c *Core) releaseMore() {
	cause := c.releases[0].cause
	c.ready.List.Cause, c.ready.List.At = cause, c.cell.Now
	for len(c.releases) > 0 && c.releases[0].cause == cause && !c.fullPortion() {
		r := c.releases[0]
		c.releases = c.releases[1:]
		c.release(r)
	}
}

// unreleased finds, after a restart, what jobs still wait for that has ended.
func (c *Core) unreleased() {
	cause := events.Cause{Who: "qmaster", What: ofTimer}
	c.state.EachAwaited(func(job uint32) bool {
		if p := c.state.Job(job); p == nil {
			c.releases = append(c.releases, release{job: job, cause: cause})
		} else if p.Array && c.cell.HoldsTasks(job) {
			c.releases = append(c.releases, release{job: job, tasks: grid.Ranges{p.Tasks}, cause: cause})
		}
		return true
	})
}

func without(ids []uint32, id uint32) []uint32 {
	var out []uint32
	for _, n := range ids {
		if n != id {
			out = append(out, n)
		}
	}
	return out
}
