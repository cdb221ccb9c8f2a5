package ledger

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// plans are the diagrams that are no host's. Diagrams are kept where max_reservation of sched_conf(5) or an advance
// reservation asks for them, of every resource that is limited at a level.
type plans struct {
	global []*diagram.Diagram // by place among the consumables
	pes    []*diagram.Diagram // by place in Layout.PEs; nil where the hosts are the limit
	rough  *diagram.Diagram   // of the slots of all instances: see roughly
	excess int                // slots in use that no instance has (any more)
}

func newPlans(l *site.Layout) (p plans) {
	if l.Planning {
		p.global, p.pes = make([]*diagram.Diagram, len(l.Complex.Consumables)), make([]*diagram.Diagram, len(l.PEs))
	}
	return p
}

// copyInto returns a copy in memory that an earlier one had.
func (p plans) copyInto(was plans) plans {
	return plans{global: cow.Clone(was.global, p.global), pes: cow.Clone(was.pes, p.pes), rough: p.rough, excess: p.excess}
}

// Span is the time that a question is about.
type Span struct {
	Now      grid.Time   // the moment of the question
	Interval float64     // seconds for which tasks that should have ended are assumed to run on
	Window   grid.Window // the zero window is now alone
	Hit      bool        // set by answers that would be others if nothing were planned
}

// Present returns the span of the moment alone.
func (s *Span) Present() Span { return Span{Now: s.Now, Interval: s.Interval} }

// Clock is the moment as diagrams know it.
func (s *Span) Clock() diagram.Clock { return diagram.Clock{Now: s.Now, Late: s.Now.Add(s.Interval)} }

// Ahead reports whether the window begins later than now.
func (s *Span) Ahead() bool { return s.Window.Start > s.Now }

// most is the most that is taken by a diagram at any time of the window.
func (s *Span) most(d *diagram.Diagram, used float64) float64 {
	if d == nil || len(d.Plans) == 0 && !s.Ahead() {
		return used
	}
	most := d.Peak(used, s.Window, s.Clock())
	s.Hit = s.Hit || most > used
	return most
}

// PEFree returns how many slots of a parallel environment are free throughout a span, by its own limit.
func (l *Ledger) PEFree(i int, s *Span) int {
	used := float64(l.pes[i])
	switch {
	case l.site.PELimits(i):
		used = s.most(l.plans.pes[i], used)
	case s.Ahead():
		used = 0
	}
	if s.Ahead() {
		return max(int(l.site.PEs[i].Slots)-int(used), 0)
	}
	return int(l.site.PEs[i].Slots) - max(int(used), l.peStanding(i))
}

// PELeft returns how many slots of a parallel environment no task stands on, whatever is planned.
func (l *Ledger) PELeft(i int) int { return int(l.site.PEs[i].Slots) - l.peStanding(i) }

func (l *Ledger) peStanding(i int) int {
	if l.guests.pes == nil {
		return int(l.pes[i])
	}
	return int(l.pes[i]) + l.guests.pes[i]
}

// PEWait returns the earliest time, from a time on, at which a parallel environment has so many slots for so many
// seconds.
func (l *Ledger) PEWait(i int, seconds float64, from grid.Time, slots int, at diagram.Clock) grid.Time {
	if !l.site.PELimits(i) {
		return from
	}
	return waitFor(l.plans.pes[i], float64(l.pes[i]), seconds, from, float64(int(l.site.PEs[i].Slots)-slots), at)
}

func (l *Ledger) usePE(i int, slots uint32, u use) {
	if l.site.PELimits(i) {
		u.addTo(l.diagram(&l.plans.pes[i]), float64(l.pes[i]), float64(slots))
	}
	if !u.planned {
		l.pes[i] = uint32(int(l.pes[i]) + int(u.sign)*int(slots))
	}
}

// roughly counts slots of tasks and of the run's reservations in the one diagram of all instances. It is a bound and no
// truth: what is taken is taken later and given back earlier there than in fact, at one of a few times.
func (l *Ledger) roughly(used float64, slots uint32, u use) {
	if !l.site.Planning {
		return
	}
	const grain = 60_000
	if u.window.End < grid.Never {
		u.window.End -= u.window.End % grain
	}
	u.window.Start += (grain - u.window.Start%grain) % grain
	if !u.planned || u.window.Start < u.window.End {
		u.addTo(l.diagram(&l.plans.rough), used, float64(slots))
	}
}

// RoughWait returns a time before which all instances together cannot give so many slots.
func (l *Ledger) RoughWait(seconds float64, from grid.Time, slots int, now grid.Time) grid.Time {
	limit := float64(l.site.Slots + l.plans.excess - slots)
	return waitFor(l.plans.rough, l.global[0], seconds, from, limit, diagram.Clock{Now: now, Late: now})
}

// Hopeless reports whether all instances together cannot give so many slots in a span.
func (l *Ledger) Hopeless(slots int, s *Span) bool {
	room, d := float64(l.site.Slots+l.plans.excess-slots), l.plans.rough
	switch {
	case l.global[0] > room:
		return true
	case d == nil || len(d.Plans) == 0 || d.Peak(l.global[0], s.Window, diagram.Clock{Now: s.Now, Late: s.Now}) <= room:
		return false
	}
	s.Hit = true
	return true
}

func waitFor(d *diagram.Diagram, used, seconds float64, from grid.Time, limit float64, at diagram.Clock) grid.Time {
	switch {
	case limit < -complex.Tiny || from == grid.Never:
		return grid.Never
	case d != nil:
		return d.Earliest(used, from, seconds, limit, at)
	case used <= limit+complex.Tiny:
		return from
	}
	return grid.Never
}

// Changes returns the next time at which something planned on a host changes for so many seconds from t on, or a
// calendar opens one of its queues.
func (l *Ledger) Changes(h *site.Host, seconds float64, t grid.Time, clock diagram.Clock) grid.Time {
	next := earliestChange(grid.Never, l.hosts.At(h.Index).plans, seconds, t, clock)
	for _, in := range h.Instances {
		for _, w := range in.Closed {
			if w.End > t {
				next = min(next, w.End)
			}
		}
	}
	return next
}

// NextRelease returns the next time at which anything is given back or a calendar opens a queue.
func (l *Ledger) NextRelease(t grid.Time, clock diagram.Clock) grid.Time {
	next := earliestChange(grid.Never, l.plans.global, 0, t, clock)
	next = earliestChange(next, l.plans.pes, 0, t, clock)
	l.quotas.Rows.Scan(func(b *bucket) bool {
		next = earliestChange(next, b.plans, 0, t, clock)
		return true
	})
	for _, h := range l.site.Hosts {
		next = min(next, l.Changes(h, 0, t, clock))
	}
	return next
}

// earliestChange is the first time at which one of the diagrams changes, if that is before next.
func earliestChange(
	next grid.Time, diagrams []*diagram.Diagram, seconds float64, t grid.Time, clock diagram.Clock,
) grid.Time {
	for _, d := range diagrams {
		if d != nil {
			next = min(next, d.Stays(t, seconds, clock))
		}
	}
	return next
}

// Row is a limited resource of a level, what is in use of it now, and its diagram.
type Row struct {
	Level            byte // P parallel environment, G global, H host, Q queue instance, L resource quota rule
	Object, Resource string
	Capacity, Used   float64
	Shared           bool // a resource map of the cluster that only some hosts give from
	Diagram          *diagram.Diagram
}

// EachDiagram calls f with each diagram, level by level.
func (l *Ledger) EachDiagram(f func(Row)) {
	rows := func(level byte, object string, shared bool, capacities, used []float64, plans []*diagram.Diagram) {
		for column, d := range plans {
			if d != nil {
				f(Row{level, object, l.site.Attr(column).Name, capacities[column], used[column], shared, d})
			}
		}
	}
	for i, d := range l.plans.pes {
		if d != nil {
			f(Row{'P', l.site.PEs[i].Name, "slots", float64(l.site.PEs[i].Slots), float64(l.pes[i]), false, d})
		}
	}
	rows('G', grid.GlobalHost, false, l.site.Global.Capacity, l.global, l.plans.global)
	l.quotas.Rows.Scan(func(b *bucket) bool {
		r := l.site.Quotas.Rules[b.key.Rule]
		rows('L', r.Set+"/"+r.Called+"/"+b.key.String(), r.Shared, r.Source.Capacity, b.used, b.plans)
		return true
	})
	for i, h := range l.site.Hosts {
		now := l.hosts.At(i)
		rows('H', h.Name, false, h.Supply.Capacity, now.row(0), now.diagrams(0))
		for _, in := range h.Instances {
			rows('Q', in.Name, false, in.Supply.Capacity, now.row(in.Place), now.diagrams(in.Place))
		}
	}
}
