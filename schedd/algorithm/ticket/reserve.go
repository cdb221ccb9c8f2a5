package ticket

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// Reservations keep the places of jobs that must wait free of others that would
// still run then. Each run makes its own; those of a run that explains are
// published, and no run reads them.

// mayReserve reports whether the run may make one more reservation, max_reservation of
// sched_conf(5). If none is reported, a reservation only matters while jobs that it could
// delay may still start.
func (r *run) mayReserve() bool {
	return r.reserved < r.m.Cluster.MaxReservation() && (!r.quiet || r.Explain || r.hope())
}

// reserves reports whether a category may have one.
func (r *run) reserves(a *categoryProgress) bool {
	return a.group.Need.Job.Reserve && !a.never && r.mayReserve()
}

// reserve reserves for a task that cannot start, at the earliest time at which
// it could. It is false when no job of the category can have a reservation in
// this run any more.
func (r *run) reserve(j *grid.Job, id uint32, a *categoryProgress) bool {
	if !r.reserves(a) {
		return false
	}
	p, at, why := r.m.Cluster.Earliest(a.group.Need, a.from)
	if !why.Fits() {
		a.never = true
		return false
	}
	r.Reserve(a.group.Need, j, id, p, at)
	r.reserved, a.from = r.reserved+1, at
	return true
}
