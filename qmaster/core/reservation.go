package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// storeReservation stores what a run keeps free for a task, or removes it: under the algorithm that is configured, as
// priorities are.
func (s *step) storeReservation(from *orders.List, o *orders.JobReservation) *orders.Refusal {
	old, j := s.state.JobReservation(o.Job, o.Task), s.state.Job(o.Job)
	switch {
	case o.Task == 0 || len(o.Grants) > 0 && (o.Start <= 0 || o.End <= o.Start), lacksSlots(o.Grants):
		return refuseOrder(orders.Malformed, "malformed reservation for job %d.%d", o.Job, o.Task)
	case from.Algorithm != s.state.SchedConf().Algorithm:
		return nil
	case len(o.Grants) == 0 && old != nil:
		s.emit(events.Del(grid.KindJobReservation, old.Key()))
		return nil
	case len(o.Grants) == 0:
		return nil
	case j == nil:
		return refuseOrder(orders.Unknown, "job %d does not exist", o.Job)
	case j.Version != o.JobVersion:
		return refuseOrder(orders.Changed, "job %d was changed: version %d, not %d", o.Job, j.Version, o.JobVersion)
	case !s.state.Waits(o.Job, o.Task):
		return refuseOrder(orders.WrongState, "task %d.%d does not wait", o.Job, o.Task)
	case o.PE != "" && s.state.PE(o.PE) == nil:
		return refuseOrder(orders.Unknown, "parallel environment %q does not exist", o.PE)
	}
	for _, g := range o.Grants {
		if s.state.QInstance(g.Queue, g.Host) == nil {
			return refuseOrder(orders.Unknown, "queue instance %s does not exist", g.Instance())
		}
	}
	r := &grid.JobReservation{Job: o.Job, Task: o.Task, Start: o.Start, End: o.End, Grants: o.Grants, PE: o.PE,
		At: from.At, Run: from.Run}
	switch {
	case old == nil:
		s.emit(events.Add(r))
	case old.Start != r.Start || old.End != r.End || old.PE != r.PE || !slices.Equal(old.Grants, r.Grants):
		s.emit(events.Mod(r))
	}
	return nil
}
