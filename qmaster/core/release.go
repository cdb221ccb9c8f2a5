package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// jobGone removes a job and lets those continue that waited for it.
func (c *Core) jobGone(job uint32) {
	gone := c.state.Job(job)
	c.emit(events.Del(grid.KindJob, grid.Key{ID: job}))
	c.dropAR(gone.AR)
	c.release(release{job, c.ready.List.Cause})
	c.waiters.ended(c, gone)
}

// release is a job that is gone, and why: jobs that wait for it are to continue.
type release struct {
	job   uint32
	cause events.Cause
}

// release lets jobs continue that wait for one that is gone. Where they are more than a portion the others follow with a Continue; a
// qmaster that ends before finds them in the state: see unreleased.
func (c *Core) release(r release) {
	var waiting []uint32
	c.state.EachSuccessor(r.job, func(id uint32) bool {
		waiting = append(waiting, id)
		return c.portion == 0 || len(waiting) <= c.portion
	})
	for n, id := range waiting {
		if n > 0 && c.fullPortion() {
			c.releases = append(c.releases, r)
			return
		}
		j := *c.state.Job(id)
		j.Predecessors = without(j.Predecessors, r.job)
		j.ArrayPredecessors = without(j.ArrayPredecessors, r.job)
		j.ArrayHold = c.arrayHold(&j)
		c.emit(events.Mod(&j))
	}
}

// releaseMore does a portion of the releases that wait, of one cause.
func (c *Core) releaseMore() {
	cause := c.releases[0].cause
	c.ready.List.Cause, c.ready.List.At = cause, c.now
	for len(c.releases) > 0 && c.releases[0].cause == cause && !c.fullPortion() {
		r := c.releases[0]
		c.releases = c.releases[1:]
		c.release(r)
	}
}

// unreleased finds, after a restart, the jobs that are gone and for which others still wait.
func (c *Core) unreleased() {
	c.state.EachAwaited(func(job uint32) bool {
		if c.state.Job(job) == nil {
			c.releases = append(c.releases, release{job, events.Cause{Who: "qmaster", What: "timer"}})
		}
		return true
	})
}

// releaseTasks lets tasks of array successors continue as tasks of job have ended. It
// costs what waits for these tasks.
func (c *Core) releaseTasks(job uint32, ended grid.Ranges) {
	for _, id := range c.state.Successors(job) {
		j := *c.state.Job(id)
		if len(j.ArrayHold) == 0 {
			continue
		}
		if free := c.released(&j, waitingFor(&j, c.state.Job(job), ended)); len(free) > 0 {
			j.ArrayHold = j.ArrayHold.Minus(free)
			c.emit(events.Mod(&j))
		}
	}
}

// waitingFor returns the held tasks of a job whose step has a number in common with that of
// one of some tasks of a predecessor: see waitsFor.
func waitingFor(j, p *grid.Job, tasks grid.Ranges) (held grid.Ranges) {
	step, wide := uint64(max(j.Tasks.Step, 1)), uint64(max(p.Tasks.Step, 1))
	next := uint64(j.Tasks.First)
	tasks.Each(func(n uint32) bool {
		if from := uint64(n); from > next {
			next += (from - next) / step * step
		}
		for ; next < uint64(n)+wide && next <= uint64(j.Tasks.Last); next += step {
			if task := uint32(next); j.ArrayHold.Contains(task) {
				held = append(held, grid.Range{First: task, Last: task, Step: 1})
			}
		}
		return next <= uint64(j.Tasks.Last)
	})
	return held
}

// released are those of some tasks, in ascending order, that wait for none of the predecessors.
func (c *Core) released(j *grid.Job, tasks grid.Ranges) (free grid.Ranges) {
	return tasks.Filter(func(task uint32) bool {
		return !slices.ContainsFunc(j.ArrayPredecessors, func(id uint32) bool {
			p := c.state.Job(id)
			return p != nil && c.waitsFor(j, task, p, c.goneTasks(p))
		})
	})
}

// arrayHold are the held tasks that still wait for one of the predecessors.
func (c *Core) arrayHold(j *grid.Job) grid.Ranges {
	if len(j.ArrayPredecessors) == 0 {
		return nil
	}
	return j.ArrayHold.Minus(c.released(j, j.ArrayHold))
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
