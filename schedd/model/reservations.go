package model

import (
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// reservations are those that a run publishes.
type reservations struct {
	made      []*orders.JobReservation
	published map[taskID]*grid.JobReservation // before this run, of tasks that it does not start
}

// publishedReservations returns what a run that explains holds its reservations against.
func (m *Model) publishedReservations() map[taskID]*grid.JobReservation {
	n := m.State.Len(grid.KindJobReservation)
	if n == 0 {
		return nil
	}
	out := make(map[taskID]*grid.JobReservation, n)
	m.State.Each(grid.KindJobReservation, func(o grid.Object) bool {
		r := o.(*grid.JobReservation)
		out[taskID{r.Job, r.Task}] = r
		return true
	})
	return out
}

// Reserve keeps a placement free for a task from a time on, and writes it to the schedule
// file.
func (w *Decision) Reserve(n *sched.Need, j *grid.Job, task uint32, p sched.Placement, at grid.Time) {
	end := w.model.Cluster.Reserve(n, p, at)
	w.model.WriteSchedule(w.Monitor, j, task, "RESERVING", at, p.Grants, p.PE)
	if w.Explain {
		w.reservations.made = append(w.reservations.made, &orders.JobReservation{
			Job: j.ID, Task: task, JobVersion: j.Version, Start: at, End: end, Grants: p.Grants, PE: p.PE})
	}
}

// PublishReservations ends a decision: qmaster stores what a run that explains has
// reserved, so that readers can say what is kept free, and for which task. Only differences are
// yielded, those first that hold no more. A run that does not explain may be over before
// it has reserved all; what ends with its task qmaster removes itself.
func (w *Decision) PublishReservations() {
	if !w.Explain || w.Stopped {
		return
	}
	var changed []*orders.JobReservation
	gone := w.reservations.published
	for _, r := range w.reservations.made {
		id := taskID{r.Job, r.Task}
		if !w.confirms(gone[id], r) {
			changed = append(changed, r)
		}
		delete(gone, id)
	}
	for _, id := range slices.SortedFunc(maps.Keys(gone), taskID.compare) {
		w.Yield(&orders.JobReservation{Job: id.job, Task: id.id})
	}
	for _, r := range changed {
		w.Yield(r)
	}
}

// confirms reports whether a published reservation is as good as one of this run: the same
// place, and times that have hardly moved. A task that should have ended is assumed to run
// on for an interval in each run, so what waits for it moves with the clock.
func (w *Decision) confirms(old *grid.JobReservation, r *orders.JobReservation) bool {
	if old == nil || old.PE != r.PE || !slices.Equal(old.Grants, r.Grants) {
		return false
	}
	late := max(w.Now.Sub(old.Start), 0)
	limit := w.model.State.SchedConf().ReservationTolerance(w.Now, r.Start)
	return math.Abs(r.Start.Sub(old.Start.Add(late))) <= limit && math.Abs(r.End.Sub(old.End.Add(late))) <= limit
}
