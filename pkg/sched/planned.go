package sched

import "github.com/quill-grid/quill/pkg/grid"

// PlanReservations plans on a copy that has begun what scheduling runs keep free for tasks
// that wait (grid.JobReservation), but for one task, so that questions are answered as for
// a job that comes after those. What should have started by now starts now. A run makes
// its own reservations instead.
func (c *Cluster) PlanReservations(except grid.Key) {
	if c.settle(); !c.site.Planning {
		return
	}
	c.st.Each(grid.KindJobReservation, func(o grid.Object) bool {
		r := o.(*grid.JobReservation)
		if j := c.st.Job(r.Job); j != nil && r.Key() != except {
			c.Reserve(c.needOf(j), Placement{Grants: r.Grants, PE: r.PE}, max(r.Start, c.find.span.Now))
		}
		return true
	})
}
