package sched

import (
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/ledger"
)

// An advance reservation is two things. For everybody else it is a plan: what
// it holds is taken from its start to its end (its ledger plans it in the
// diagrams). For its own jobs it is a small cluster: the granted instances
// with the granted slots, and of each consumable what was reserved of it and
// nothing else. Its jobs are placed, booked and verified there by the same
// code, and what they take is none of the cluster's.
//
// But no daemon ends a job whose end was only assumed: it may stand where the
// reservation begins, and the reservation's jobs wait until it is gone. So all
// levels keep note of their guests, the tasks of reservations, and who starts
// now needs room beside all that stand there (level.slots).

// reservation is an advance reservation as its jobs see it.
func (c *Cluster) reservation(a *grid.AR) *Cluster {
	granted := c.site.ReservedBy(a)
	r := &Cluster{st: c.st, ar: a, of: c, site: granted, ledger: c.ledger.Reserve(a, granted)}
	r.find = search{Cluster: r, of: c, span: c.find.span}
	r.shareNows()
	r.empty()
	return r
}

// shareNows takes what changes of the hosts and instances of an advance reservation from the cell.
func (r *Cluster) shareNows() {
	r.world, r.nows = r.of.world, cow.NewList[hostNow](len(r.site.Hosts))
	for i, h := range r.site.Hosts {
		outside := r.of.nows.At(r.of.site.HostAt[h.Name])
		n := hostNow{outside.load, make([]grid.QueueState, len(h.Instances))}
		for k, in := range h.Instances {
			n.states[k] = outside.states[r.of.site.Instances[r.of.site.InstAt[in.Name]].Place-1]
		}
		r.nows.Set(i, n)
	}
}

// clusterOf is where a job counts: its advance reservation, or the cluster.
func (c *Cluster) clusterOf(ar uint32) *Cluster {
	if ar != 0 && c.ar == nil {
		for _, r := range c.ars {
			if r.ar.ID == ar {
				return r
			}
		}
	}
	return c
}

// heldUp reports whether a need has no place now for the sake of those alone who
// should have ended when the reservation began.
func (c *Cluster) heldUp(n *Need) bool {
	alone := search{Cluster: c, span: c.find.span}
	alone.setWindow(c.find.span.Now, n)
	_, why := alone.place(n, &Cursor{})
	return why.Fits()
}

// inside reports whether a need is to be placed in an advance reservation, which
// one, and why it can't be.
func (c *Cluster) inside(n *Need) (r *Cluster, why reason.Reason, inside bool) {
	j := n.Job
	if j.AR == 0 || c.ar != nil {
		return nil, reason.Reason{}, false
	}
	id := strconv.Itoa(int(j.AR))
	if r = c.clusterOf(j.AR); r == c || r.ar.Over() {
		return nil, reason.Reason{Code: reason.ARUnknown, What: id}, true
	}
	r.find.span.Now = c.find.span.Now
	switch a := r.ar; {
	case !c.site.PermitsAR(a, j.Owner, j.Group):
		why = reason.Reason{Code: reason.NoAccessAR, What: id}
	case a.State == grid.ARWaiting, a.State == grid.ARWarning:
		why = reason.Reason{Code: reason.ARWaits, What: id}
	case a.State == grid.ARError && a.ErrorHandlingHard:
		why = reason.Reason{Code: reason.ARInError, What: id}
	case r.find.end(c.find.span.Now, n) > a.End:
		why = reason.Reason{Code: reason.ARTooShort, What: id}
	}
	return r, why, true
}

// explainInside is Explain for a job of an advance reservation.
func (c *Cluster) explainInside(n *Need, why reason.Reason, most int) (out []reason.Reason) {
	r, outside, _ := c.inside(n)
	if !outside.Fits() {
		return []reason.Reason{outside}
	}
	for _, in := range c.site.Instances {
		if _, holds := r.site.InstAt[in.Name]; !holds && len(out) < most {
			out = append(out, reason.Reason{Code: reason.NotReserved, Object: in.Name, What: strconv.Itoa(int(r.ar.ID))})
		}
	}
	return append(out, r.Explain(n, why, most-len(out))...)
}

// Grant finds what an advance reservation is granted: the places that will be
// free from its start to its end, whatever states the queues are in now, and
// that no calendar closes in that time, read in the zone of the cell. The
// reasons say why there are none.
func (c *Cluster) Grant(a *grid.AR, now grid.Time, zone *time.Location) (Placement, []reason.Reason) {
	st := c.st.Copy()
	changes := []events.Event{events.Add(a)} // diagrams are kept where there is one
	st.Each(grid.KindCalendar, func(o grid.Object) bool {
		if p, err := calendar.Parse(o.(*grid.Calendar)); err == nil {
			changes = append(changes, events.Mod(p.Evaluate(o.(*grid.Calendar), a.Start, zone)))
		}
		return true
	})
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: changes})
	all := NewCluster(st)
	all.settle()
	run := all.opened(st.ARs())
	run.countStarted()
	run.reorderParts()
	n := run.Need(&grid.Job{
		Owner: a.Owner, Group: a.Group, Immediate: a.Interactive,
		JobRequest: &grid.JobRequest{
			Hard: a.Hard, HardQueues: a.Queues, MasterQueues: a.MasterQueues, PE: a.PE, PERange: a.PERange, Ckpt: a.Ckpt,
			Binding: a.Binding,
		}})
	n.gross = a.End.Sub(a.Start)
	n.suitability = make([]suitability, len(run.site.Instances))
	for i, in := range run.site.Instances {
		if !run.site.PermitsAll(a.ACL, in) {
			n.suitability[i] = suitsNot
		}
	}
	run.Begin(now)
	run.find.setWindow(a.Start, n)
	p, why := run.find.place(n, &Cursor{})
	if why.Fits() {
		return p, nil
	}
	return Placement{}, run.explain(nil, n, why)
}

// Overdraw is a capacity that is smaller than what advance reservations hold
// of it at some time: Amount of Attribute at Object, or slots of PE.
type Overdraw struct {
	Attribute, Object, PE string
	Amount                float64
}

// Overdrawn finds an overdraw; the zero value when there is none. The state
// may be one that is only thought of.
func (c *Cluster) Overdrawn() (over Overdraw) {
	c.settle()
	if !c.site.Planning {
		return over
	}
	c.ledger.EachDiagram(func(r ledger.Row) {
		amount := 0.0
		for _, s := range r.Diagram.Plans {
			amount = max(amount, s.Amount)
		}
		switch {
		case over.Amount > 0:
		case r.Level == 'P' && amount > r.Capacity:
			over = Overdraw{PE: r.Object, Amount: amount}
		case r.Level == 'P' || r.Level == 'L' && !r.Shared || amount <= r.Capacity+complex.Tiny:
		case r.Shared:
			over = Overdraw{Attribute: r.Resource, Object: grid.GlobalHost, Amount: amount}
		default:
			over = Overdraw{Attribute: r.Resource, Object: r.Object, Amount: amount}
		}
	})
	if over.Amount == 0 {
		over = c.overselected()
	}
	return over
}

// overselected finds an overdraw of the instances that advance reservations select.
func (c *Cluster) overselected() Overdraw {
	for _, k := range c.ledger.Claims() {
		if k.Of == nil {
			continue
		}
		s := c.stock(k.MapKey)
		s.held = nil
		for i := range s.m {
			s.units[i] = s.m[i].Amount // who has it now, and whether it works, is no matter of the configuration
		}
		if _, short := s.serve(k.Window.Start, nil, 0, true); short > 0 {
			over := Overdraw{Attribute: c.site.Attr(k.Column).Name, Object: grid.GlobalHost, Amount: float64(k.Units)}
			if k.Host != ledger.WholeCluster {
				over.Object = c.site.Hosts[k.Host].Name
			}
			return over
		}
	}
	return Overdraw{}
}
