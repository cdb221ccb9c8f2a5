package sched

import (
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// An advance reservation is two things. For everybody else it is a plan: what
// it holds is taken from its start to its end (settle plans it in the
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
	r := &Cluster{st: c.st, now: c.now, ar: a, of: c, site: &site.Layout{
		Complex: c.site.Complex, Global: c.site.Global, HostAt: map[string]int{}, InstAt: map[string]int{},
		Sets: c.site.Sets, Referred: c.site.Referred, Projects: c.site.Projects, Policy: c.site.Policy, Basis: c.site.Basis,
		Planning: c.site.Planning,
	}}
	demands := c.heldBy(a)
	r.site.Global.Capacity = r.site.Reserved(c.site.Global.Capacity)
	for i := range demands {
		if d := &demands[i]; d.MasterOnly() {
			r.site.Global.Capacity[d.Column] = d.Master
		}
	}
	for _, g := range a.Grants {
		if in := c.granted(g); in != nil {
			r.site.Grant(c.site, in, demands, g.Slots)
		}
	}
	if i := c.peNamed(a.GrantedPE); i >= 0 {
		pe := *c.site.PEs[i]
		pe.Slots = a.Slots()
		r.site.PEs = []*grid.PE{&pe}
	}
	r.empty()
	return r
}

// planARs makes the reservations and plans them. One that is over holds what
// it has until its last job is gone.
func (c *Cluster) planARs() {
	c.ars = nil
	for _, a := range c.st.ARs() {
		c.ars = append(c.ars, c.reservation(a))
		end := a.End
		if a.Over() {
			end = grid.Never
		}
		demands, u := c.heldBy(a), use{diagram: grid.Window{Start: a.Start, End: end}, planned: true, sign: +1}
		c.use(demands, a.Grants, a.GrantedPE, u)
		c.planShared(demands, a.Grants, u)
		c.eachClaim(demands, c.site.SelectionsOf(demands, nil), a.Grants, func(k claim) {
			k.window, k.ar = u.diagram, a.ID
			c.claims.add(k)
		})
	}
}

// heldBy is what an advance reservation takes per slot and per host.
func (c *Cluster) heldBy(a *grid.AR) []complex.Demand {
	return c.site.Complex.DemandsOf(nil, &grid.JobRequest{Hard: a.Hard, Binding: a.Binding})
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

// guests are what tasks of advance reservations take where no host is asked.
type guests struct {
	global []float64 // by place among the consumables
	pes    []int     // slots, by place in Layout.PEs
}

func (g guests) copy() guests { return guests{slices.Clone(g.global), slices.Clone(g.pes)} }

func (g guests) lend(was guests) guests {
	return guests{again(was.global, g.global), again(was.pes, g.pes)}
}

// useAsGuest counts what a task of a reservation takes of the places
// themselves.
func (c *Cluster) useAsGuest(demands []complex.Demand, grants []grid.Grant, pe string, u use) {
	now, total := use{sign: u.sign, task: u.task}, 0
	for k, g := range grants {
		total += int(slotsOf(demands, g))
		if h, ok := c.site.HostAt[g.Host]; ok {
			n, host := c.own(h), c.site.Hosts[h]
			if n.guests == nil {
				n.guests = make([]float64, len(n.used))
			}
			if in := host.InstanceOf(g.Queue); in != nil {
				c.add(&level{supply: &in.Supply, used: n.guestsOf(in.Place)}, demands, grants, k, now)
			}
			c.add(&level{supply: &host.Supply, used: n.guestsOf(0), place: host.Name, tree: host.Tree}, demands, grants, k, now)
		}
		c.add(&level{supply: &c.site.Global, used: c.guests.global, place: grid.GlobalHost}, demands, grants, k, now)
	}
	if i := c.peNamed(pe); i >= 0 {
		c.guests.pes[i] += int(u.sign) * total
	}
}

// around is a level of the cluster as the reservation's jobs find it: with all
// that stand there, whatever is planned.
func (l level) around() *level {
	l.plans, l.now = nil, nil
	return &l
}

// heldUp reports whether a need has no place now for the sake of those alone who
// should have ended when the reservation began.
func (c *Cluster) heldUp(n *Need) bool {
	of := c.of
	c.of = nil
	c.setWindow(c.now, n)
	_, why := c.search(n, &Cursor{})
	c.of = of
	return why.Fits()
}

// inside reports whether a need is to be placed in an advance reservation, which
// one, and why it can't be.
func (c *Cluster) inside(n *Need) (r *Cluster, why Reason, inside bool) {
	j := n.Job
	if j.AR == 0 || c.ar != nil {
		return nil, Reason{}, false
	}
	id := strconv.Itoa(int(j.AR))
	if r = c.clusterOf(j.AR); r == c || r.ar.Over() {
		return nil, Reason{Code: ARUnknown, What: id}, true
	}
	r.now = c.now
	switch a := r.ar; {
	case !c.site.PermitsAR(a, j.Owner, j.Group):
		why = Reason{Code: NoAccessAR, What: id}
	case a.State == grid.ARWaiting, a.State == grid.ARWarning:
		why = Reason{Code: ARWaits, What: id}
	case a.State == grid.ARError && a.ErrorHandlingHard:
		why = Reason{Code: ARInError, What: id}
	case r.end(c.now, n) > a.End:
		why = Reason{Code: ARTooShort, What: id}
	}
	return r, why, true
}

// explainInside is Explain for a job of an advance reservation.
func (c *Cluster) explainInside(n *Need, why Reason, most int) (out []Reason) {
	r, outside, _ := c.inside(n)
	if !outside.Fits() {
		return []Reason{outside}
	}
	for _, in := range c.site.Instances {
		if _, holds := r.site.InstAt[in.Name]; !holds && len(out) < most {
			out = append(out, Reason{Code: NotReserved, Object: in.Name, What: strconv.Itoa(int(r.ar.ID))})
		}
	}
	return append(out, r.Explain(n, why, most-len(out))...)
}

// Grant finds what an advance reservation is granted: the places that will be
// free from its start to its end, whatever states the queues are in now, and
// that no calendar closes in that time, read in the zone of the cell. The
// sentences say why there are none.
func (c *Cluster) Grant(a *grid.AR, now grid.Time, zone *time.Location) (Placement, []string) {
	st := opened(c.st)
	changes := []events.Event{events.Add(a)} // diagrams are kept where there is one
	st.Each(grid.KindCalendar, func(o grid.Object) bool {
		if p, err := calendar.Parse(o.(*grid.Calendar)); err == nil {
			changes = append(changes, events.Mod(p.Evaluate(o.(*grid.Calendar), a.Start, zone)))
		}
		return true
	})
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: changes})
	run := NewCluster(st)
	run.openAll()
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
	run.setWindow(a.Start, n)
	p, why := run.search(n, &Cursor{})
	if why.Fits() {
		return p, nil
	}
	return Placement{}, run.sentences(nil, n, why)
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
	most := func(d *diagram.Diagram) (amount float64) {
		if d != nil {
			for _, s := range d.Plans {
				amount = max(amount, s.Amount)
			}
		}
		return amount
	}
	at := func(object string, l level) {
		for place, d := range l.plans {
			if m := most(d); m > l.supply.Capacity[place]+complex.Tiny && over.Amount == 0 {
				over = Overdraw{Attribute: c.site.Complex.List[c.site.Complex.Consumables[place]].Name, Object: object, Amount: m}
			}
		}
	}
	for i, pe := range c.site.PEs {
		if m := most(c.planned.pes[i]); m > float64(pe.Slots) {
			return Overdraw{PE: pe.Name, Amount: m}
		}
	}
	at(grid.GlobalHost, c.atGlobal())
	c.buckets.rows.Scan(func(b *bucket) bool {
		if r := c.site.Quotas.Rules[b.key.Rule]; r.Shared {
			at(grid.GlobalHost, level{supply: &r.Source, plans: b.plans})
		}
		return true
	})
	for i, h := range c.site.Hosts {
		now := c.nows.get(i)
		at(h.Name, level{supply: &h.Supply, plans: now.diagrams(0)})
		for _, in := range h.Instances {
			at(in.Name, level{supply: &in.Supply, plans: now.diagrams(in.Place)})
		}
	}
	if over.Amount == 0 {
		over = c.overselected()
	}
	return over
}

// overselected finds an overdraw of the instances that advance reservations select.
func (c *Cluster) overselected() Overdraw {
	for i := range c.claims.list {
		k := &c.claims.list[i]
		if k.of == nil {
			continue
		}
		s := c.stock(k.stockKey)
		s.held = nil
		for i := range s.m {
			s.units[i] = s.m[i].Amount // who has it now, and whether it works, is no matter of the configuration
		}
		if _, short := s.serve(k.window.Start, nil, 0, true); short > 0 {
			over := Overdraw{Attribute: c.site.Complex.List[c.site.Complex.Consumables[k.column]].Name, Object: grid.GlobalHost,
				Amount: float64(k.units)}
			if k.host != wholeCluster {
				over.Object = c.site.Hosts[k.host].Name
			}
			return over
		}
	}
	return Overdraw{}
}
