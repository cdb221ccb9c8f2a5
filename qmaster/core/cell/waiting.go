package cell

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// HoldsTasks reports whether tasks wait for tasks of a job.
func (c *Cell) HoldsTasks(job uint32) (holds bool) {
	c.State.EachSuccessor(job, 0, func(id uint32) bool {
		holds = len(c.State.Job(id).ArrayHold) > 0
		return !holds
	})
	return holds
}

// TasksWaitingFor returns the held tasks of a job whose step has a number in common with that of
// one of some tasks of a predecessor: see waitsFor.
func TasksWaitingFor(j, p *grid.Job, tasks grid.Ranges) (held grid.Ranges) {
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

// Released are those of some tasks, in ascending order, that wait for none of the predecessors.
func (c *Cell) Released(j *grid.Job, tasks grid.Ranges) (free grid.Ranges) {
	return tasks.Filter(func(task uint32) bool {
		return !slices.ContainsFunc(j.ArrayPredecessors, func(id uint32) bool {
			p := c.State.Job(id)
			return p != nil && c.WaitsFor(j, task, p, c.GoneTasks(p))
		})
	})
}

// ArrayHold are the held tasks that still wait for one of the predecessors.
func (c *Cell) ArrayHold(j *grid.Job) grid.Ranges {
	if len(j.ArrayPredecessors) == 0 {
		return nil
	}
	return j.ArrayHold.Minus(c.Released(j, j.ArrayHold))
}

// GoneTasks are the ids of an array's tasks that have ended.
func (c *Cell) GoneTasks(j *grid.Job) func(uint32) bool {
	return func(task uint32) bool {
		return !j.Tasks.Contains(task) || !j.Pending.Contains(task) && c.State.Task(j.ID, task) == nil
	}
}

// WaitsFor reports whether a task must wait for tasks of an array predecessor:
// those whose step covers a number that its own step covers.
func (c *Cell) WaitsFor(j *grid.Job, task uint32, p *grid.Job, gone func(uint32) bool) bool {
	last := task + max(j.Tasks.Step, 1) - 1
	step := max(p.Tasks.Step, 1)
	first := p.Tasks.First
	if task > first {
		first += (task - first) / step * step
	}
	for n := first; n <= last && n <= p.Tasks.Last; n += step {
		if !gone(n) {
			return true
		}
	}
	return false
}
