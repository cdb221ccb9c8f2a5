package model

import (
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Wishes is what a run on this model does around its decision, whatever the
// algorithm: it yields orders until nobody wants more, and tells the schedule
// file what runs and starts. The run of an algorithm embeds it.
type Wishes struct {
	algorithm.Run
	Stopped bool // nobody wants more orders
	model   *Model
	yield   func(orders.Order) bool
	held    map[uint32][]*orders.StartJob // of jobs that start now or never, until all of it can
	took    map[task]bool                 // preempted tasks whose slots are theirs again: do they go on?
}

// Wishes are those of a run on a copy.
func (m *Model) Wishes(r algorithm.Run, yield func(orders.Order) bool) Wishes {
	return Wishes{Run: r, model: m, yield: yield}
}

// Wish yields one order; false ends the run.
func (w *Wishes) Wish(o orders.Order) bool {
	w.Stopped = w.Stopped || !w.yield(o)
	return !w.Stopped
}

// Standing is what comes before any decision: the schedule file is told what
// runs, tasks are suspended and unsuspended by the load of their queues, and
// those that were preempted go on before anything new starts.
func (w *Wishes) Standing() { w.StandingBut(nil) }

// StandingBut is Standing for an algorithm that preempts by suspending: own
// names the preempted tasks that it lets go on itself, see Unsuspend and
// UnsuspendRest. It says whether others took slots.
func (w *Wishes) StandingBut(own func(*grid.JATask) bool) bool {
	w.model.TellRunning(w.Monitor)
	for _, c := range w.model.Cluster.Crossings() {
		var o orders.Order = &orders.UnsuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		if c.Suspend {
			o = &orders.SuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		}
		if !w.Wish(o) {
			return false
		}
	}
	w.goOn(own)
	return len(w.took) > 0
}

// MayStart holds a job against the limits that are its own or its user's. One
// that starts now or never holds no places if there are not enough for all of
// it.
func (w *Wishes) MayStart(j *grid.Job) bool {
	within, _ := w.WithinLimits(j)
	return within && (!w.model.NowOrNever(j) || w.model.Cluster.Started(j.ID) > 0 || w.allFit(j))
}

// WithinLimits says whether another task of a job may start as far as its own
// limit and its user's go; the user is told why not.
func (w *Wishes) WithinLimits(j *grid.Job) (within bool, why sched.Reason) {
	c := w.model.Cluster
	if most := c.TasksAtOnce(j); most > 0 && c.Started(j.ID) >= most {
		return false, why
	}
	if most := c.MaxUJobs(); most > 0 && c.StartedOf(j.Owner) >= most {
		return false, sched.Reason{Code: sched.UserLimit}
	}
	return true, why
}

// allFit says whether there are places for all tasks of a job of one slot each.
func (w *Wishes) allFit(j *grid.Job) bool {
	c, tasks := w.model.Cluster, w.model.Startable(j)
	if tasks < 2 || j.PE != "" {
		return true
	}
	need, cursor := c.Need(j), sched.Cursor{}
	var placed []sched.Placement
	for len(placed) < tasks {
		p, why := c.Place(need, &cursor)
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
func (w *Wishes) StartJob(j *grid.Job, task uint32, p sched.Placement) *orders.StartJob {
	return &orders.StartJob{Job: j.ID, Task: task, JobVersion: j.Version,
		Grants: p.Grants, QueueVersions: w.model.Cluster.QueueVersions(p.Grants), PE: p.PE}
}

// Starting wishes a start, which is booked, and tells the schedule file. Of a
// job that starts now or never and of which nothing runs, the starts are
// wished together with the last: all of it or nothing.
func (w *Wishes) Starting(j *grid.Job, o *orders.StartJob) bool {
	if !w.model.NowOrNever(j) {
		return w.starting(j, o)
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
		if !w.starting(j, o) {
			return false
		}
	}
	return true
}

func (w *Wishes) starting(j *grid.Job, o *orders.StartJob) bool {
	w.model.Tell(w.Monitor, j, o.Task, "STARTING", w.Now, o.Grants, o.PE)
	return w.Wish(o)
}

// DropImmediate removes the jobs in line that start now or never and do not,
// and says which of them had begun to find places.
func (w *Wishes) DropImmediate() (begun map[uint32]bool) {
	if w.Stopped || !w.model.Immediate() {
		return nil
	}
	var gone []uint32
	w.model.Any(func(p Place) bool {
		if w.model.Group(p.Group).Need.Job.Immediate && int(w.model.Cluster.Started(p.Job)) == len(w.held[p.Job]) && w.model.NowOrNever(w.model.State.Job(p.Job)) {
			gone = append(gone, p.Job)
		}
		return false
	})
	slices.Sort(gone)
	begun = map[uint32]bool{}
	for _, id := range gone {
		begun[id] = w.held[id] != nil
		if !w.Wish(&orders.RemoveImmediateJob{Job: id}) {
			break
		}
	}
	return begun
}
