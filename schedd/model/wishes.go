package model

import (
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
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
// runs, and tasks are suspended and unsuspended by the load of their queues.
func (w *Wishes) Standing() {
	w.model.TellRunning(w.Monitor)
	for _, c := range w.model.Cluster.Crossings() {
		var o orders.Order = &orders.UnsuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		if c.Suspend {
			o = &orders.SuspendOnThreshold{Job: c.Job, Task: c.Task, Queue: c.Queue}
		}
		if !w.Wish(o) {
			return
		}
	}
}

// Starting wishes a start, which is booked, and tells the schedule file.
func (w *Wishes) Starting(j *grid.Job, o *orders.StartJob) bool {
	w.model.Tell(w.Monitor, j, o.Task, "STARTING", w.Now, o.Grants, o.PE)
	return w.Wish(o)
}

// DropImmediate removes the jobs in line that start now or never and of which
// nothing has started.
func (w *Wishes) DropImmediate() {
	if w.Stopped || !w.model.Immediate() {
		return
	}
	var gone []uint32
	w.model.Any(func(p Place) bool {
		if w.model.Group(p.Group).Need.Job.Immediate && w.model.Cluster.Started(p.Job) == 0 {
			gone = append(gone, p.Job)
		}
		return false
	})
	slices.Sort(gone)
	for _, id := range gone {
		if !w.Wish(&orders.RemoveImmediateJob{Job: id}) {
			return
		}
	}
}
