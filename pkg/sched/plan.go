package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// planned is what a Cluster knows of other times than now: the diagrams that
// are no host's, and the present window. Diagrams are kept where
// max_reservation of sched_conf(5) or an advance reservation asks for them,
// of every resource that is limited at a level.
type planned struct {
	global []*diagram.Diagram // by place among the consumables
	pes    []*diagram.Diagram // by place in Layout.PEs; nil where the hosts are the limit
	rough  *diagram.Diagram   // of the slots of all instances: see roughly
	excess int                // slots in use that no instance has (any more)
	window grid.Window        // under consideration; the zero window is now alone
	hit    bool               // what is planned made a difference to the last look
}

func newPlanned(l *site.Layout) (p planned) {
	if l.Planning {
		p.global, p.pes = make([]*diagram.Diagram, len(l.Complex.Consumables)), make([]*diagram.Diagram, len(l.PEs))
	}
	return p
}

func (p planned) copy() planned {
	return planned{global: slices.Clone(p.global), pes: slices.Clone(p.pes), rough: p.rough, excess: p.excess}
}

// lend is copy, in memory that an earlier copy had.
func (p planned) lend(was planned) planned {
	return planned{global: again(was.global, p.global), pes: again(was.pes, p.pes), rough: p.rough, excess: p.excess}
}

// setWindow turns to the time from a start until a need's gross end.
func (c *Cluster) setWindow(start grid.Time, n *Need) {
	c.planned.hit = false
	if c.site.Planning {
		c.planned.window = grid.Window{Start: start, End: c.end(start, n)}
	}
}

// end is when a need that starts at a time is thought to be over. With an
// advance reservation its jobs end as well, so one that asks for no run time
// is thought to use what is left of it.
func (c *Cluster) end(start grid.Time, n *Need) grid.Time {
	end := start.Add(n.gross)
	if n.openEnd && c.ar != nil && start < c.ar.End {
		end = min(end, c.ar.End)
	}
	return end
}

// ahead reports whether the window begins later than now.
func (c *Cluster) ahead() bool { return c.planned.window.Start > c.now }

func (c *Cluster) clock() diagram.Clock {
	return diagram.Clock{Now: c.now, Late: c.now.Add(c.site.Policy.Interval)}
}

// inUse is the most that is taken of a resource at any time of the window that
// is looked at.
func (c *Cluster) inUse(l *level, booked int) float64 {
	used := l.used[booked]
	most := used
	if l.plans != nil {
		most = c.most(l.plans[booked], used)
	}
	if l.guests != nil && !c.ahead() {
		most = max(most, used+l.guests[booked])
	}
	return most
}

func (c *Cluster) most(d *diagram.Diagram, used float64) float64 {
	if d == nil || len(d.Plans) == 0 && !c.ahead() {
		return used
	}
	most := d.Peak(used, c.planned.window, c.clock())
	c.planned.hit = c.planned.hit || most > used
	return most
}

// peFree is how many slots of a PE are free throughout the window.
func (c *Cluster) peFree(i int) int {
	used := float64(c.peUsed[i])
	switch {
	case c.peLimits(i):
		used = c.most(c.planned.pes[i], used)
	case c.ahead():
		used = 0
	}
	if c.ahead() {
		return max(int(c.site.PEs[i].Slots)-int(used), 0)
	}
	free := int(c.site.PEs[i].Slots) - max(int(used), int(c.peUsed[i])+c.guests.pes[i])
	if c.of != nil {
		k := c.of.peNamed(c.site.PEs[i].Name)
		free = min(free, int(c.of.site.PEs[k].Slots)-int(c.of.peUsed[k])-c.of.guests.pes[k])
	}
	return max(free, 0)
}

// peLimits reports whether a PE has a diagram: it may have less slots than all
// instances together.
func (c *Cluster) peLimits(i int) bool {
	return c.site.Planning && int(c.site.PEs[i].Slots) < c.site.Slots
}

// keeps reports whether a level has a diagram of a resource: it is limited here,
// or it is slots and a job may be exclusive here.
func (c *Cluster) keeps(l *level, booked int) bool {
	return l.plans != nil && (l.supply.Capacity[booked] < complex.Unlimited || booked == 0 &&
		len(c.site.Complex.Exclusives) > 0)
}

// diagram returns a diagram for writing.
func (c *Cluster) diagram(at **diagram.Diagram) *diagram.Diagram {
	if d := *at; d == nil || d.Token != c.nows.token {
		*at = c.memory.diagram(d)
		(*at).Token = c.nows.token
	}
	return *at
}

// addTo counts an amount in a diagram; used is what is in use before that.
func (u use) addTo(d *diagram.Diagram, used, amount float64) {
	switch {
	case u.planned:
		d.Plan(u.diagram, u.sign*amount)
	case u.sign > 0:
		d.Hold(used, u.diagram.End, amount)
	default:
		d.Release(used-amount, u.diagram.End, amount)
	}
}

func (c *Cluster) usePE(i int, slots uint32, u use) {
	if c.peLimits(i) {
		u.addTo(c.diagram(&c.planned.pes[i]), float64(c.peUsed[i]), float64(slots))
	}
	if !u.planned {
		c.peUsed[i] = uint32(int(c.peUsed[i]) + int(u.sign)*int(slots))
	}
}

// roughly counts slots of tasks and of the run's reservations in the one
// diagram of all instances. It is a bound and no truth: what is taken is taken
// later and given back earlier there than in fact, at one of a few times.
func (c *Cluster) roughly(used float64, slots uint32, u use) {
	if !c.site.Planning {
		return
	}
	const grain = 60_000
	if u.diagram.End < grid.Never {
		u.diagram.End -= u.diagram.End % grain
	}
	u.diagram.Start += (grain - u.diagram.Start%grain) % grain
	if !u.planned || u.diagram.Start < u.diagram.End {
		u.addTo(c.diagram(&c.planned.rough), used, float64(slots))
	}
}

// roughWait is a time before which all instances together cannot give so many
// slots.
func (c *Cluster) roughWait(seconds float64, from grid.Time, slots int) grid.Time {
	return c.waitFor(c.planned.rough, c.usedGlobal[0], seconds, from, float64(c.site.Slots+c.planned.excess-slots),
		diagram.Clock{Now: c.now, Late: c.now})
}

// hopeless reports whether all instances together cannot give a need its slots in
// the window.
func (c *Cluster) hopeless(n *Need) bool {
	room, d := float64(c.site.Slots+c.planned.excess-int(n.least)), c.planned.rough
	switch {
	case c.usedGlobal[0] > room:
		return true
	case d == nil || len(d.Plans) == 0 ||
		d.Peak(c.usedGlobal[0], c.planned.window, diagram.Clock{Now: c.now, Late: c.now}) <= room:
		return false
	}
	c.planned.hit = true
	return true
}

// grossEnd is when a started task is assumed to give back what it holds.
func (c *Cluster) grossEnd(j *grid.Job, t *grid.JATask) grid.Time {
	if !c.site.Planning {
		return grid.Never
	}
	return t.Start.Add(c.site.Policy.Gross(t.Held(j)))
}

// scan calls f with every instance that can take a job at the time that is
// looked at, best first, until f returns false.
func (c *Cluster) scan(n *Need, f func(rank) bool) {
	if !c.ahead() {
		c.orderFor(n).Scan(f)
		return
	}
	if c.full.rows.Len() == 0 {
		c.order.rows.Scan(f)
		return
	}
	for _, r := range c.lineUp() {
		if !f(r) {
			return
		}
	}
}

// lineUp merges those that can take a job now with those that are full.
func (c *Cluster) lineUp() []rank {
	s := &c.scratch
	s.full, s.line = s.full[:0], s.line[:0]
	c.full.rows.Scan(func(r rank) bool {
		s.full = append(s.full, r)
		return true
	})
	full := s.full
	c.order.rows.Scan(func(r rank) bool {
		for len(full) > 0 && full[0].before(r) {
			s.line, full = append(s.line, full[0]), full[1:]
		}
		s.line = append(s.line, r)
		return true
	})
	s.line = append(s.line, full...)
	return s.line
}
