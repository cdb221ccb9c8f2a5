package view

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/state"
)

// Wait is something with a job itself for which a task waits.
type Wait struct {
	Code  reason.Code
	Jobs  []uint32  // Predecessors
	At    grid.Time // StartTime: it starts no earlier
	Tasks int       // TaskLimit: that have started
	Text  string    // InError: the error
}

// WaitCodes are the reasons that jobs have themselves while tasks of them have never been started, in the order of
// OwnWaits; OK: none.
var WaitCodes = [...]reason.Code{reason.HeldByUser, reason.HeldByOperator, reason.HeldBySystem, reason.HeldForArray,
	reason.Predecessors, reason.StartTime, reason.TaskLimit, reason.OK}

// FirstWait returns the first reason why such a job waits, of whose tasks so many are started: OK when it has none
// of its own.
func FirstWait(st *state.State, j *grid.Job, started int) reason.Code {
	for _, w := range ownWaits(st, j, 0, func() int { return started }) {
		return w.Code
	}
	return reason.OK
}

// OwnWaits returns the reasons that the job itself has.
func OwnWaits(st *state.State, j *grid.Job, task uint32) []Wait {
	return ownWaits(st, j, task, func() (n int) {
		for _, t := range st.Tasks(j.ID) {
			if t.Started() {
				n++
			}
		}
		return n
	})
}

func ownWaits(st *state.State, j *grid.Job, task uint32, started func() int) (out []Wait) {
	for _, h := range [...]struct {
		tasks grid.Ranges
		code  reason.Code
	}{{j.UserHold, reason.HeldByUser}, {j.OperHold, reason.HeldByOperator}, {j.SysHold, reason.HeldBySystem},
		{j.ArrayHold, reason.HeldForArray}} {
		if task == 0 && len(h.tasks) > 0 && len(j.Eligible()) == 0 || task > 0 && h.tasks.Contains(task) {
			out = append(out, Wait{Code: h.code})
		}
	}
	if len(j.Predecessors) > 0 {
		out = append(out, Wait{Code: reason.Predecessors, Jobs: j.Predecessors})
	}
	if j.ExecTime > st.At {
		out = append(out, Wait{Code: reason.StartTime, At: j.ExecTime})
	}
	if text, failed := taskError(st, j, task); failed {
		out = append(out, Wait{Code: reason.InError, Text: text})
	}
	if j.Concurrency > 0 {
		if n := started(); n >= int(j.Concurrency) {
			out = append(out, Wait{Code: reason.TaskLimit, Tasks: n})
		}
	}
	return out
}

// taskError returns the error of a task that is in error; of a job (task 0) of its first one, if none of it can start.
func taskError(st *state.State, j *grid.Job, task uint32) (text string, failed bool) {
	if task > 0 {
		t := st.Task(j.ID, task)
		if failed = t != nil && t.State&grid.StateError != 0; failed {
			text = t.Error
		}
		return text, failed
	}
	if len(j.Eligible()) > 0 {
		return "", false
	}
	for _, t := range st.Tasks(j.ID) {
		switch {
		case t.State&grid.StateError != 0 && !failed:
			text, failed = t.Error, true
		case t.State&grid.StateError == 0 && t.Status == grid.Idle:
			return "", false
		}
	}
	return text, failed
}

// Found returns what a state knows of the priority of jobs of which the scheduler
// has reported something; nil: it has not.
func Found(st *state.State) func(job uint32) *grid.Priority {
	within := st.PriorityRange()
	if within == nil {
		return st.Priority
	}
	c := sched.NewCluster(st)
	return func(job uint32) *grid.Priority {
		reported, j := st.Priority(job), st.Job(job)
		if reported == nil || j == nil {
			return reported
		}
		p := shares.PendingPriority(st.SchedConf(), within, j, c.ResourceUrgency(j), reported)
		return &p
	}
}

// JobAhead is a job in line before another one, and the dispatch priority that it
// has there.
type JobAhead struct {
	Job      *grid.Job
	Priority float64
}

// JobsAhead returns the jobs in line that stand before a job of a priority by what
// the scheduler has reported, the first first, and how many stand after it.
func JobsAhead(st *state.State, job uint32, priority float64) (ahead []JobAhead, after int) {
	this := st.Job(job)
	if this == nil {
		return nil, 0
	}
	found := Found(st)
	st.Each(grid.KindPriority, func(o grid.Object) bool {
		j := st.Job(o.Key().ID)
		if j == nil || j.ID == job || len(j.Eligible()) == 0 || len(j.Predecessors) > 0 || j.ExecTime > st.At {
			return true
		}
		if p := found(j.ID).Priority; goesBefore(p, j, priority, this) {
			ahead = append(ahead, JobAhead{j, p})
		} else {
			after++
		}
		return true
	})
	slices.SortFunc(ahead, func(a, b JobAhead) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Job.Submit, b.Job.Submit),
			cmp.Compare(a.Job.ID, b.Job.ID))
	})
	return ahead, after
}

// goesBefore orders jobs as the dispatch order does: the higher priority, then
// first come, first served.
func goesBefore(priority float64, j *grid.Job, other float64, o *grid.Job) bool {
	if diff := priority - other; diff > 1e-9 || diff < -1e-9 {
		return diff > 0
	}
	return j.Submit < o.Submit || j.Submit == o.Submit && j.ID < o.ID
}
