package model

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// The lines of the schedule file, job:task:state:start:duration and then what
// is taken there.

// WriteRunning writes the tasks that ran before this run; write may be nil.
func (m *Model) WriteRunning(write func(line string)) {
	if write == nil {
		return
	}
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := m.State.Job(t.Job)
		if !t.Started() || j == nil {
			return true
		}
		state := "RUNNING"
		switch {
		case t.Kill == grid.Migrating:
			state = "MIGRATING"
		case t.State&grid.StateSuspendedAny != 0:
			state = "SUSPENDED"
		}
		takes := m.Cluster.Holds(j, t)
		if t.Preempted() {
			takes = slices.DeleteFunc(takes, func(o sched.Allocation) bool { return o.Resource == "slots" })
		}
		m.writeSchedule(write, j, t.ID, state, t.Start, takes)
		return true
	})
}

// WriteSchedule writes one task, a line for each resource and object.
func (m *Model) WriteSchedule(
	write func(line string), j *grid.Job, id uint32, state string, start grid.Time, grants []grid.Grant, pe string,
) {
	if write != nil {
		m.writeSchedule(write, j, id, state, start, m.Cluster.Allocations(j, grants, pe))
	}
}

func (m *Model) writeSchedule(
	writeSchedule func(line string), j *grid.Job, id uint32, state string, start grid.Time, takes []sched.Allocation,
) {
	seconds := m.Cluster.Duration(j)
	head := fmt.Sprintf("%d:%d:%s:%d:%.0f:", j.ID, max(id, 1), state, start.Unix(), min(seconds, endless))
	for _, t := range takes {
		writeSchedule(fmt.Sprintf("%s%c:%s:%s:%.6f", head, t.Level, t.Object, t.Resource, t.Amount))
	}
}

// endless is the duration of what has no end.
const endless = 1<<32 - 1
