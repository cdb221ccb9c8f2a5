package model

import (
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Decision is the part of a scheduling run that does not depend on the algorithm:
// it yields orders until the receiver stops, and writes running and starting tasks
// to the schedule file. The run of an algorithm embeds it.
type Decision struct {
	algorithm.Run
	Stopped bool // the receiver wants no more orders
	model   *Model
	yield   func(orders.Order) bool
	held    map[uint32][]*orders.StartJob // of jobs that start now or never, until all of it can
	took    map[taskID]bool               // preempted tasks whose slots are theirs again: are they resumed?

	reservations reservations
}

// Decision returns that of a run on a copy.
func (m *Model) Decision(r algorithm.Run, yield func(orders.Order) bool) Decision {
	w := Decision{Run: r, model: m, yield: yield}
	if r.Explain {
		w.reservations.published = m.publishedReservations()
	}
	return w
}

// Yield yields one order; false ends the run.
func (w *Decision) Yield(o orders.Order) bool {
	w.Stopped = w.Stopped || !w.yield(o)
	return !w.Stopped
}

// Prepare does what precedes every decision: running tasks are written to the
// schedule file, tasks are suspended and unsuspended by the load of their queues,
// and preempted tasks are resumed before new ones start.
func (w *Decision) Prepare() { w.PrepareExcept(nil) }

// PrepareExcept is Prepare for an algorithm that preempts by suspending: own says
// which preempted tasks it resumes itself, see Unsuspend and UnsuspendRest. It
// returns whether others took slots.
func (w *Decision) PrepareExcept(own func(*grid.JATask) bool) bool {
	w.model.WriteRunning(w.Monitor)
	for _, c := range w.model.Cluster.Crossings() {
		var o orders.Order = &orders.UnsuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		if c.Suspend {
			o = &orders.SuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		}
		if !w.Yield(o) {
			return false
		}
	}
	w.unsuspendPreempted(own)
	return len(w.took) > 0
}

// MayStart reports whether a job is within its own limits and its user's. An
// immediate job must also fit with all of its tasks.
func (w *Decision) MayStart(j *grid.Job) bool {
	within, _ := w.WithinLimits(j)
	return within && (!w.model.NowOrNever(j) || w.model.Cluster.Started(j.ID) > 0 || w.allFit(j))
}

// WithinLimits reports whether another task of a job may start as far as its own
// limit and its user's go; why is the reason for the user.
func (w *Decision) WithinLimits(j *grid.Job) (within bool, why reason.Reason) {
	c := w.model.Cluster
	if most := c.TasksAtOnce(j); most > 0 && c.Started(j.ID) >= most {
		return false, why
	}
	if most := c.MaxUJobs(); most > 0 && c.StartedOf(j.Owner) >= most {
		return false, reason.Reason{Code: reason.UserLimit}
	}
	return true, why
}

// allFit reports whether there are places for all tasks of a job of one slot each.
func (w *Decision) allFit(j *grid.Job) bool {
	c, tasks := w.model.Cluster, w.model.Startable(j)
	if tasks < 2 || j.PE != "" {
		return true
	}
	need, cursor := c.Need(j), sched.Cursor{}
	var placed []sched.Placement
	for len(placed) < tasks {
		p, why := c.FindPlacement(need, &cursor)
		if within, _ := w.WithinLimits(j); !within || !why.Fits() {
			break
		}
		c.Book(need, j, p)
		placed = append(placed, p)
	}
	for _, p := range placed {
		c.Unbook(need, j, p)
	}
	return len(placed) == tasks
}

// StartJob is the order that starts a task where there is a place for it.
func (w *Decision) StartJob(j *grid.Job, task uint32, p sched.Placement) *orders.StartJob {
	return &orders.StartJob{Job: j.ID, Task: task, JobVersion: j.Version,
		Grants: p.Grants, QueueVersions: w.model.Cluster.QueueVersions(p.Grants), PE: p.PE}
}

// YieldStart yields a start, which is booked, and writes it to the schedule file.
// The starts of an immediate job of which nothing runs are yielded together with
// the last one: all tasks or none.
func (w *Decision) YieldStart(j *grid.Job, o *orders.StartJob) bool {
	if !w.model.NowOrNever(j) {
		return w.yieldStart(j, o)
	}
	held := append(w.held[j.ID], o)
	if n := w.model.Cluster.Started(j.ID); int(n) == len(held) && len(held) < w.model.Startable(j) {
		if w.held == nil {
			w.held = map[uint32][]*orders.StartJob{}
		}
		w.held[j.ID] = held
		return true
	}
	delete(w.held, j.ID)
	for _, o := range held {
		if !w.yieldStart(j, o) {
			return false
		}
	}
	return true
}

func (w *Decision) yieldStart(j *grid.Job, o *orders.StartJob) bool {
	w.model.WriteSchedule(w.Monitor, j, o.Task, "STARTING", w.Now, o.Grants, o.PE)
	delete(w.reservations.published, taskID{j.ID, o.Task}) // it goes with the start
	return w.Yield(o)
}

// DropImmediate removes the immediate jobs that this run does not start, and
// returns which of them had placements for some tasks.
func (w *Decision) DropImmediate() (begun map[uint32]bool) {
	if w.Stopped || !w.model.Immediate() {
		return nil
	}
	var gone []uint32
	w.model.Any(func(p Place) bool {
		if w.model.Group(p.Group).Need.Job.Immediate && int(w.model.Cluster.Started(p.Job)) == len(w.held[p.Job]) &&
			w.model.NowOrNever(w.model.State.Job(p.Job)) {
			gone = append(gone, p.Job)
		}
		return false
	})
	slices.Sort(gone)
	begun = map[uint32]bool{}
	for _, id := range gone {
		begun[id] = w.held[id] != nil
		if !w.Yield(&orders.RemoveImmediateJob{Job: id}) {
			break
		}
	}
	return begun
}
