package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// MaxReservation is how many reservations a run may make, sched_conf(5).
func (c *Cluster) MaxReservation() int {
	c.settle()
	return c.policy.reservations
}

// Earliest looks for the earliest time from which a job of the need can run
// until its gross end, later than now and not before a time, and for the
// place; of equal times the place with the fewest violations of soft requests,
// and then the best. A parallel job gets the most slots that this time allows.
// Holes between what is planned will do. The Reason says why there is no such
// time.
func (c *Cluster) Earliest(n *Need, from grid.Time) (Placement, grid.Time, Reason) {
	if n.Job.AR != 0 { // it has its place reserved
		return Placement{}, never, Reason{Code: QueueUnavailable}
	}
	from = max(from, c.now+1)
	if n.Job.PE != "" {
		return c.earliestParallel(n, from)
	}
	best, at := Placement{}, never
	why := Reason{Code: QueueUnavailable}
	c.look(from, n)
	for _, r := range c.lineUp() {
		in := c.instances[r.inst]
		if !c.suits(n, in) {
			continue
		}
		t := c.earliestAt(n, in, from)
		if t > at || t == never {
			continue
		}
		c.look(t, n)
		if slots, master := c.here(n, in); slots == 0 || !master {
			continue
		}
		v := 0
		if len(n.Job.Soft)+len(n.softQueue) > 0 {
			v = c.violations(n, in)
		}
		if t < at || v < best.Violations {
			best = Placement{Grants: []grid.Grant{{Queue: in.queue.Name, Host: in.host.name, Slots: 1}}, Slots: 1, Violations: v}
			at, why = t, Reason{}
		}
	}
	return best, at, why
}

// earliestAt is when an instance, its host and the cluster can all give a
// slot to a need.
func (c *Cluster) earliestAt(n *Need, in *instance, t grid.Time) grid.Time {
	now := c.nows.get(in.host.index)
	levels := [...]level{c.atInstance(in, now), c.atHost(in.host, now), c.atGlobal()}
	for settled := 0; settled < len(levels); {
		for _, l := range levels {
			later := c.gives(l, n, 1, t)
			if later == never {
				return never
			}
			if settled++; later > t {
				t, settled = later, 0
			}
		}
	}
	return t
}

// gives is the earliest time, from a time on, at which a level can give so
// many slots to a need, the master's among them, as far as consumables decide.
func (c *Cluster) gives(l level, n *Need, slots uint32, from grid.Time) grid.Time {
	t := from
	for again := true; again && t < never; {
		again = false
		wait := func(booked int, limit float64) {
			if later := c.wait(l, booked, n.gross, t, limit); later > t {
				t, again = later, true
			}
		}
		for i := range n.demands {
			d := &n.demands[i]
			switch {
			case l.source.capacity[d.booked] == unlimited || d.amount <= 0:
			case d.exclusive:
				wait(0, 0)
			default:
				wait(d.booked, c.corrected(l, d.booked)-d.of(slots, true))
			}
		}
		for _, place := range c.complex.exclusives {
			if l.source.capacity[place] < unlimited {
				wait(place, 0)
			}
		}
	}
	return t
}

// wait is the earliest time, from a time on, at which no more than a limit of
// a resource is taken for so many seconds.
func (c *Cluster) wait(l level, booked int, seconds float64, from grid.Time, limit float64) grid.Time {
	var d *diagram
	if l.plans != nil {
		d = l.plans[booked]
	}
	switch {
	case limit < -tiny:
		return never
	case d != nil:
		return d.earliest(l.used[booked], from, seconds, limit, c.clock())
	case l.used[booked] <= limit+tiny:
		return from
	}
	return never
}

// earliestParallel tries the times at which anything gets free, the earliest
// first.
func (c *Cluster) earliestParallel(n *Need, from grid.Time) (best Placement, at grid.Time, why Reason) {
	for _, t := range c.releases(from) {
		c.look(t, n)
		p, r := c.search(n, &Cursor{})
		if r.Fits() {
			return p, t, r
		}
		why = r
	}
	return best, never, why
}

// releases are a time and the later ones at which something is given back, in
// order.
func (c *Cluster) releases(from grid.Time) []grid.Time {
	s := &c.scratch
	s.times = append(s.times[:0], from)
	late := false
	collect := func(diagrams []*diagram) {
		for _, d := range diagrams {
			if d == nil {
				continue
			}
			late = late || len(d.ends) > 0 && d.ends[0].at <= c.now
			for _, e := range d.ends[following(d.ends, from):] {
				s.times = append(s.times, e.at)
			}
			for i := following(d.plans, from); i < len(d.plans); i++ {
				if i == 0 || d.plans[i].amount < d.plans[i-1].amount {
					s.times = append(s.times, d.plans[i].at)
				}
			}
		}
	}
	collect(c.planned.global)
	collect(c.planned.pes)
	for i := range c.hosts {
		collect(c.nows.get(i).plans)
	}
	if late {
		s.times = append(s.times, max(c.clock().late, from))
	}
	slices.Sort(s.times)
	s.times = slices.Compact(s.times)
	return s.times
}

// Reserve plans a placement from a time until the need's gross end: what is
// placed or reserved after it leaves it alone.
func (c *Cluster) Reserve(n *Need, p Placement, at grid.Time) {
	c.Plan(n, p.Grants, p.PE, at, after(at, n.gross), +1)
}

// Plan counts grants as planned for a time, at every level; sign -1 takes it
// back.
func (c *Cluster) Plan(n *Need, grants []grid.Grant, pe string, start, end grid.Time, sign int) {
	c.use(n.demands, grants, pe, use{window{start, end}, true, float64(sign)})
}

// Duration is for how many seconds a job is assumed to hold what it takes,
// DURATION_OFFSET included.
func (c *Cluster) Duration(j *grid.Job) float64 {
	c.settle()
	return c.policy.gross(j.Hard)
}
