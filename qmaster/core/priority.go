package core

import (
	"math"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// Tickets, urgency and priority are computed by the scheduler; qmaster stores the last
// values for qstat. An unchanged value makes no event, so that an order that is received
// twice has no effect the second time.

// numbersIn reports whether what an order says that something is worth can be kept:
// numbers, and not without end.
func numbersIn(o orders.Order) bool {
	switch o := o.(type) {
	case *orders.StartJob:
		return finite(o.Priority, o.Tickets)
	case *orders.Tickets:
		return finite(o.Tickets, o.OTickets, o.FTickets, o.STickets, o.Share, o.Priority, o.NTickets,
			o.NPOSIX, o.NUrgency, o.Urgency, o.RRContr, o.DLContr, o.WTContr)
	case *orders.PTickets:
		return numbersIn((*orders.Tickets)(o))
	case *orders.PriorityRange:
		r := &o.Range
		return finite(r.LeastPriority, r.MostPriority, r.LeastUrgency, r.MostUrgency, r.MostTickets)
	case *orders.SchedConf:
		return finite(o.WeightTicketsOverride)
	}
	return true
}

func finite(values ...float64) bool {
	for _, v := range values {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return false
		}
	}
	return true
}

// storePriorities takes in what a run found jobs worth, unless it saw another algorithm's
// configuration: then it is obsolete.
func (s *step) storePriorities(algorithm string, o orders.Order) {
	conf := s.state.SchedConf()
	if algorithm != conf.Algorithm {
		return
	}
	switch o := o.(type) {
	case *orders.Tickets:
		s.storeTickets(o)
	case *orders.PTickets:
		s.storePendingTickets(o)
	case *orders.PriorityRange:
		if conf.ReportPJobTickets {
			s.setPriorityRange(&o.Range)
		}
	}
}

// storeTickets takes in what a run found for a started task.
func (s *step) storeTickets(o *orders.Tickets) {
	t := s.state.Task(o.Job, o.Task)
	if t == nil || !t.Started() {
		return
	}
	n := *t
	n.Tickets, n.OTickets, n.FTickets, n.STickets = o.Tickets, o.OTickets, o.FTickets, o.STickets
	n.Share, n.Priority, n.NTickets = o.Share, o.Priority, o.NTickets
	if !sameTickets(&n, t) {
		s.emit(events.Mod(&n))
	}
	p := grid.Priority{Job: o.Job}
	old := s.state.Priority(o.Job)
	if old != nil {
		p = *old
	}
	p.NPOSIX, p.NUrgency, p.Urgency = float32(o.NPOSIX), float32(o.NUrgency), float32(o.Urgency)
	p.RRContr, p.WTContr, p.DLContr = float32(o.RRContr), float32(o.WTContr), float32(o.DLContr)
	s.setPriority(old, &p)
}

func sameTickets(a, b *grid.JATask) bool {
	return a.Tickets == b.Tickets && a.OTickets == b.OTickets && a.FTickets == b.FTickets && a.STickets == b.STickets &&
		a.Share == b.Share && a.Priority == b.Priority && a.NTickets == b.NTickets
}

// storePendingTickets takes in what a run found for a job's next task.
func (s *step) storePendingTickets(o *orders.PTickets) {
	j := s.state.Job(o.Job)
	if j == nil || o.Task != 0 && !s.isPending(j, o.Task) {
		return
	}
	s.setPriority(s.state.Priority(o.Job), &grid.Priority{
		Job: o.Job, Priority: o.Priority,
		NPOSIX: float32(o.NPOSIX), NUrgency: float32(o.NUrgency), NTickets: float32(o.NTickets),
		Urgency: float32(o.Urgency), RRContr: float32(o.RRContr), WTContr: float32(o.WTContr), DLContr: float32(o.DLContr),
		Tickets: float32(o.Tickets), OTickets: float32(o.OTickets), FTickets: float32(o.FTickets),
		STickets: float32(o.STickets),
		Share:    float32(o.Share),
	})
}

// isPending reports whether a task of a job has yet to start.
func (s *step) isPending(j *grid.Job, task uint32) bool {
	if t := s.state.Task(j.ID, task); t != nil {
		return !t.Started()
	}
	return j.Pending.Contains(task)
}

func (s *step) setPriority(old, p *grid.Priority) {
	switch {
	case old == nil && *p != grid.Priority{Job: p.Job}:
		s.emit(events.Add(p))
	case old != nil && *p != *old:
		s.emit(events.Mod(p))
	}
}

// setPriorityRange keeps within what priorities were found; without a time
// there is nothing to keep.
func (s *step) setPriorityRange(r *grid.PriorityRange) {
	old := s.state.PriorityRange()
	switch {
	case r.At == 0 && old != nil:
		s.emit(events.Del(grid.KindPriorityRange, old.Key()))
	case r.At == 0:
	case old == nil:
		s.emit(events.Add(r))
	case *old != *r:
		s.emit(events.Mod(r))
	}
}

// clearPriInfo forgets what runs found for a job that they no longer look at.
func (s *step) clearPriInfo(o *orders.ClearPriInfo) *orders.Refusal {
	if p := s.state.Priority(o.Job); p != nil {
		s.emit(events.Del(grid.KindPriority, p.Key()))
	}
	return nil
}

// storeOverrideTotal keeps the sum of all override tickets, which the scheduler
// finds: weight_tickets_override.
func (s *step) storeOverrideTotal(o *orders.SchedConf) *orders.Refusal {
	if total := uint64(max(o.WeightTicketsOverride, 0)); total != s.state.Counter(grid.WeightTicketsOverride) {
		s.emit(events.Mod(&grid.Counter{Name: grid.WeightTicketsOverride, Value: total}))
	}
	return nil
}

// removeAll removes all objects of a kind.
func (s *step) removeAll(k grid.Kind) {
	for _, o := range s.cell.All(k) {
		s.emit(events.Del(k, o.Key()))
	}
}
