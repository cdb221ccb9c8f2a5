package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
)

// Place is where a pending job stands: among those of its group and class by
// submission time and number. Waiting makes all of them more urgent alike, so
// this order never changes.
type Place struct {
	Group, Class, Job uint32
	Submit            grid.Time
}

// Lines contains the pending jobs. Among those of one group and class only the first, the
// head, is considered. A copy is cheap and independent; a run visits the heads on a Walk.
type Lines struct {
	pending ordered.Set[Place] // by group and class, then in order
	heads   ordered.Set[front] // the first of each, by class, the most urgent first
	groups  []*Group           // by number; nil: it is none
	urgency bool               // the urgent go first
	waiting float64            // weight_waiting_time
}

// Head is a job that stands first.
type Head struct {
	front
	Of *Group
}

// front is where a head stands among those of its class. Its urgency is what it
// would be at time 0; differences stay the same for ever.
type front struct {
	Place
	urgency float64
}

// before is the order of the heads of a class: the most urgent first.
func (h *front) before(o *front) bool {
	if h.urgency != o.urgency {
		return h.urgency > o.urgency
	}
	return h.Before(o.Place)
}

func newLines(urgency bool, waiting float64) Lines {
	return Lines{
		pending: ordered.NewSet(func(a, b Place) bool {
			switch {
			case a.Group != b.Group:
				return a.Group < b.Group
			case a.Class != b.Class:
				return a.Class < b.Class
			}
			return a.Before(b)
		}),
		heads: ordered.NewSet(func(a, b front) bool {
			if a.Class != b.Class {
				return a.Class < b.Class
			}
			return a.before(&b)
		}),
		urgency: urgency,
		waiting: waiting,
	}
}

// Before is first come first served.
func (p Place) Before(o Place) bool {
	if p.Submit != o.Submit {
		return p.Submit < o.Submit
	}
	return p.Job < o.Job
}

func (p Place) compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Submit, o.Submit), cmp.Compare(p.Job, o.Job))
}

// Copy returns lines that stay as these are now.
func (l *Lines) Copy() Lines {
	return Lines{l.pending.Copy(), l.heads.Copy(), slices.Clone(l.groups), l.urgency, l.waiting}
}

// Group returns a group by number.
func (l *Lines) Group(number uint32) *Group {
	if int(number) < len(l.groups) {
		return l.groups[number]
	}
	return nil
}

// First is the most urgent head of a class.
func (l *Lines) First(class uint32) (first Head, any bool) {
	h, any := l.heads.AtLeast(front{urgency: math.Inf(1), Place: Place{Class: class}})
	if !any || h.Class != class {
		return Head{}, false
	}
	return l.head(h), true
}

// after is the job that stands after another in its line.
func (l *Lines) after(p Place) (next Place, any bool) {
	next, any = l.pending.After(p)
	return next, any && next.Group == p.Group && next.Class == p.Class
}

func (l *Lines) head(f front) Head { return Head{f, l.Group(f.Group)} }

func (l *Lines) front(p Place) front {
	f := front{Place: p}
	if l.urgency {
		f.urgency = l.Group(p.Group).Urgency - l.waiting*p.Submit.Sub(0)
	}
	return f
}

// first is the head of a group and class.
func (l *Lines) first(group, class uint32) (first Place, any bool) {
	first, any = l.pending.AtLeast(Place{Group: group, Class: class, Submit: math.MinInt64})
	return first, any && first.Group == group && first.Class == class
}

// enter puts a job in line. Jobs of a full state come one after the other.
func (l *Lines) enter(p Place) {
	if last, any := l.pending.Max(); any && last.Group == p.Group && last.Class == p.Class && last.Before(p) {
		l.pending.Load(p)
		return
	}
	first, any := l.first(p.Group, p.Class)
	if !any || p.Before(first) {
		if any {
			l.heads.Delete(l.front(first))
		}
		l.heads.Set(l.front(p))
	}
	l.pending.Set(p)
}

// remove takes a job out of its line.
func (l *Lines) remove(p Place) {
	l.pending.Delete(p)
	if _, was := l.heads.Delete(l.front(p)); was {
		if first, any := l.first(p.Group, p.Class); any {
			l.heads.Set(l.front(first))
		}
	}
}
