package sched

import (
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
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
	r := &Cluster{st: c.st, now: c.now, ar: a, of: c, layout: &layout{
		complex: c.complex, global: c.layout.global, hostAt: map[string]int{}, instAt: map[string]int{},
		sets: c.sets, referred: c.referred, projects: c.projects, policy: c.policy, basis: c.basis, planning: c.planning,
	}}
	demands := c.heldBy(a)
	r.global.Capacity = r.layout.reserved(c.layout.global.Capacity)
	for i := range demands {
		if d := &demands[i]; d.MasterOnly() {
			r.global.Capacity[d.Column] = d.Master
		}
	}
	for _, g := range a.Grants {
		if in := c.granted(g); in != nil {
			r.layout.grant(c.layout, in, demands, g.Slots)
		}
	}
	if i := c.peNamed(a.GrantedPE); i >= 0 {
		pe := *c.pes[i]
		pe.Slots = a.Slots()
		r.pes = []*grid.PE{&pe}
	}
	r.empty()
	return r
}

// reserved returns the capacities of a level at which nothing is reserved: unlimited,
// except that exclusive consumables stay as they are outside.
func (l *layout) reserved(outside []float64) []float64 {
	out := make([]float64, len(outside))
	for place := range out {
		out[place] = complex.Unlimited
		if l.complex.List[l.complex.Consumables[place]].Exclusive {
			out[place] = outside[place]
		}
	}
	return out
}

// grant adds so many slots of an instance of the cluster.
func (l *layout) grant(from *layout, outside *instance, demands []complex.Demand, slots uint32) {
	at, known := l.hostAt[outside.host.name]
	if !known {
		h := *outside.host
		h.index, h.instances = len(l.hosts), nil
		h.supply.Capacity = l.reserved(h.supply.Capacity)
		at, l.hostAt[h.name] = h.index, h.index
		l.hosts = append(l.hosts, &h)
	}
	h := l.hosts[at]
	in := *outside
	in.host, in.index = h, len(l.instances)
	in.slots = int(slots)
	l.slots += in.slots
	in.superiors, in.above, in.tree = nil, nil, nil // their rule is in the instance's state
	in.supply.Capacity = l.reserved(in.supply.Capacity)
	for place := range in.supply.Capacity {
		a := &l.complex.List[l.complex.Consumables[place]]
		limited := min(outside.supply.Capacity[place], outside.host.supply.Capacity[place], from.global.Capacity[place]) < complex.Unlimited || from.global.Maps[place] != nil
		switch {
		case !limited || a.Exclusive || a.PerJob || place == l.complex.Threads:
		case a.PerHost:
			h.supply.Capacity[place] = 0
		default:
			in.supply.Capacity[place] = 0
		}
	}
	for i := range demands {
		switch d := &demands[i]; {
		case d.Binding != nil:
			h.reserveThreads(d, slots)
		case d.MasterOnly() || d.Exclusive:
		case d.PerHost:
			h.supply.Capacity[d.Column] = d.Amount
		default:
			in.supply.Capacity[d.Column] = d.Amount * float64(slots)
		}
	}
	h.instances = append(h.instances, &in)
	in.place = len(h.instances)
	l.instAt[in.name] = in.index
	l.instances = append(l.instances, &in)
}

// planARs makes the reservations and plans them. One that is over holds what
// it has until its last job is gone.
func (c *Cluster) planARs() {
	c.ars = nil
	for _, a := range c.st.ARs() {
		c.ars = append(c.ars, c.reservation(a))
		end := a.End
		if a.Over() {
			end = never
		}
		demands, u := c.heldBy(a), use{window: window{a.Start, end}, planned: true, sign: +1}
		c.use(demands, a.Grants, a.GrantedPE, u)
		c.planShared(demands, a.Grants, u)
		c.eachClaim(demands, c.selectionsOf(demands, nil), a.Grants, func(k claim) {
			k.window, k.ar = u.window, a.ID
			c.claims.add(k)
		})
	}
}

// heldBy is what an advance reservation takes per slot and per host.
func (c *Cluster) heldBy(a *grid.AR) []complex.Demand {
	return c.complex.DemandsOf(nil, &grid.JobRequest{Hard: a.Hard, Binding: a.Binding})
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
	pes    []int     // slots, by place in layout.pes
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
		if h, ok := c.hostAt[g.Host]; ok {
			n, host := c.own(h), c.hosts[h]
			if n.guests == nil {
				n.guests = make([]float64, len(n.used))
			}
			if in := host.instanceOf(g.Queue); in != nil {
				c.add(&level{supply: &in.supply, used: n.guestsOf(in.place)}, demands, grants, k, now)
			}
			c.add(&level{supply: &host.supply, used: n.guestsOf(0), place: host.name, tree: host.tree}, demands, grants, k, now)
		}
		c.add(&level{supply: &c.layout.global, used: c.guests.global, place: grid.GlobalHost}, demands, grants, k, now)
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
	id := itoa(int(j.AR))
	if r = c.clusterOf(j.AR); r == c || r.ar.Over() {
		return nil, Reason{Code: ARUnknown, What: id}, true
	}
	r.now = c.now
	switch a := r.ar; {
	case !c.permitsAR(a, j.Owner, j.Group):
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
	for _, in := range c.instances {
		if _, holds := r.instAt[in.name]; !holds && len(out) < most {
			out = append(out, Reason{Code: NotReserved, Object: in.name, What: itoa(int(r.ar.ID))})
		}
	}
	return append(out, r.Explain(n, why, most-len(out))...)
}

// permitsAR reports whether a user may use a reservation, qrsub -u.
func (l *layout) permitsAR(a *grid.AR, user, group string) bool {
	has := func(list grid.Names) bool {
		return slices.ContainsFunc(list, func(e string) bool {
			return e == user || strings.HasPrefix(e, "@") && l.sets[e[1:]].contains(user, group)
		})
	}
	if l.everybody {
		return true
	}
	if has(a.XACL) {
		return false
	}
	if len(a.ACL) == 0 {
		return user == a.Owner
	}
	return has(a.ACL)
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
			Hard: a.Hard, HardQueues: a.Queues, MasterQueues: a.MasterQueues, PE: a.PE, PERange: a.PERange, Ckpt: a.Ckpt, Binding: a.Binding,
		}})
	n.gross = a.End.Sub(a.Start)
	n.suitability = make([]suitability, len(run.instances))
	for i, in := range run.instances {
		if !run.permitsAll(a.ACL, in) {
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

// permitsAll reports whether all users of a list may use an instance.
func (l *layout) permitsAll(acl grid.Names, in *instance) bool {
	may := func(user, group string) bool {
		h := in.host.exec
		return l.permits(user, group, in.users, in.xusers) && (h == nil || l.permits(user, group, h.UserLists, h.XUserLists))
	}
	for _, e := range acl {
		if !strings.HasPrefix(e, "@") {
			if !may(e, "") {
				return false
			}
			continue
		}
		if set := l.sets[e[1:]]; set != nil {
			for member := range *set {
				if group, is := strings.CutPrefix(member, "@"); is && !may("", group) || !is && !may(member, "") {
					return false
				}
			}
		}
	}
	return true
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
	if !c.planning {
		return over
	}
	most := func(d *diagram) (amount float64) {
		if d != nil {
			for _, s := range d.plans {
				amount = max(amount, s.amount)
			}
		}
		return amount
	}
	at := func(object string, l level) {
		for place, d := range l.plans {
			if m := most(d); m > l.supply.Capacity[place]+tiny && over.Amount == 0 {
				over = Overdraw{Attribute: c.complex.List[c.complex.Consumables[place]].Name, Object: object, Amount: m}
			}
		}
	}
	for i, pe := range c.pes {
		if m := most(c.planned.pes[i]); m > float64(pe.Slots) {
			return Overdraw{PE: pe.Name, Amount: m}
		}
	}
	at(grid.GlobalHost, c.atGlobal())
	c.buckets.rows.Scan(func(b *bucket) bool {
		if r := c.quotas.rules[b.key.rule]; r.shared {
			at(grid.GlobalHost, level{supply: &r.source, plans: b.plans})
		}
		return true
	})
	for i, h := range c.hosts {
		now := c.nows.get(i)
		at(h.name, level{supply: &h.supply, plans: now.diagrams(0)})
		for _, in := range h.instances {
			at(in.name, level{supply: &in.supply, plans: now.diagrams(in.place)})
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
		if _, short := s.serve(k.window.start, nil, 0, true); short > 0 {
			over := Overdraw{Attribute: c.complex.List[c.complex.Consumables[k.column]].Name, Object: grid.GlobalHost, Amount: float64(k.units)}
			if k.host != wholeCluster {
				over.Object = c.hosts[k.host].name
			}
			return over
		}
	}
	return Overdraw{}
}
