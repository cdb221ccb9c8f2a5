package sched

import (
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
)

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
	run := opened(all, true)
	run.populate(st.ARs(), true)
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
