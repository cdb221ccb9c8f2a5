package model

import (
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	m.Cluster.Begin(now)
	m.due(now)
}

// Immediate reports whether some job in line has -now y.
func (m *Model) Immediate() bool { return m.immediate > 0 }

// NowOrNever reports whether a job is removed when it cannot start in this run: it has
// -now y, and no task of it has started before. A task that starts anew waits as others
// do.
func (m *Model) NowOrNever(j *grid.Job) bool {
	return j.Immediate && !slices.ContainsFunc(m.State.Tasks(j.ID), func(t *grid.JATask) bool { return t.Attempt > 0 })
}

// Waiting reports whether any job stands in line, started in this run or not.
func (m *Model) Waiting() bool { return m.Pending() > 0 }

// Pending is how many do.
func (m *Model) Pending() int { return m.pending.Len() }

// NextTask is the first task of a job after the given one that could start,
// pending or enrolled before; 0 when there is none.
func (m *Model) NextTask(j *grid.Job, after uint32) uint32 {
	next := sched.NextTask(j, after)
	if m.requeued.Len() == 0 {
		return next
	}
	if t, any := m.requeued.AtLeast(taskID{j.ID, after + 1}); any && t.job == j.ID && (next == 0 || t.id < next) {
		next = t.id
	}
	return next
}

// Named returns the group of a category with pending jobs, nil when there is
// none.
func (m *Model) Named(category string) *Group {
	n, ok := m.categories.Get(category)
	if !ok {
		return nil
	}
	if m.tallies[n].Pending == 0 {
		return nil
	}
	return m.Group(n)
}

// Jobs lists the first pending jobs of a group, at most `most`, whatever their classes:
// the number of a class depends on the order in which jobs came.
func (m *Model) Jobs(g *Group, most int) []uint32 {
	first := make([]Place, 0, min(most, int(m.tallies[g.Number].Pending))+1)
	for from, more := (Place{Group: g.Number, Submit: math.MinInt64}), true; more; from.Class++ {
		more = false
		m.pending.Ascend(from, func(p Place) bool {
			if p.Group != g.Number || more && p.Class != from.Class {
				return false
			}
			more, from.Class = true, p.Class
			if len(first) == most && !p.Before(first[most-1]) {
				return false
			}
			at, _ := slices.BinarySearchFunc(first, p, Place.compare)
			first = slices.Insert(first[:min(len(first), most-1)], at, p)
			return true
		})
	}
	ids := make([]uint32, len(first))
	for i, p := range first {
		ids[i] = p.Job
	}
	return ids
}

// Tickets reports whether classes distinguish users, projects and departments.
func (m *Model) Tickets() bool { return m.inputs.tickets }

// UserSort reports whether classes distinguish users by the number of their running
// tasks.
func (m *Model) UserSort() bool { return m.inputs.userSort }

// Classes calls f with every class that has jobs in line or started, by
// number.
func (m *Model) Classes(f func(Class)) {
	m.classes.Scan(func(_ uint32, c Class) bool {
		if c.Live > 0 {
			f(c)
		}
		return true
	})
}

// Finder returns a function that finds the class of a job that is in line or
// started: 0 when it is of none.
func (m *Model) Finder() func(*grid.Job) uint32 {
	names := make(map[string]uint32, len(m.Names))
	for i, n := range m.Names {
		names[n] = uint32(i)
	}
	classes := make(map[Policy]uint32, m.classes.Len())
	m.Classes(func(c Class) { classes[c.Policy] = c.Number })
	return func(j *grid.Job) uint32 {
		return classes[m.inputs.policy(j, func(n string) uint32 { return names[n] })]
	}
}

// Any reports whether f is true of any job in line.
func (m *Model) Any(f func(Place) bool) (found bool) {
	m.pending.Scan(func(p Place) bool {
		found = f(p)
		return !found
	})
	return found
}

// PendingGroups is how many groups have jobs in line.
func (m *Model) PendingGroups() int { return m.inLine }

// Extremes calls f with jobs among which are the most and the least urgent of
// those that are in line or started: rrcontr, the time of submission and the
// deadline of each.
func (m *Model) Extremes(f func(resources float64, submit, deadline grid.Time)) {
	m.deadlines.Scan(func(_ uint32, s standing) bool {
		c, _ := m.classes.Get(s.class)
		f(m.Group(s.group).Urgency, s.submit, c.Deadline)
		return true
	})
	if m.waiting == 0 {
		if d, ok := m.live.Min(); ok {
			f(d.urgency, 0, 0)
			d, _ = m.live.Max()
			f(d.urgency, 0, 0)
		}
		return
	}
	m.live.Scan(func(d demand) bool {
		end := func(a age) bool {
			if a.group == d.group {
				f(d.urgency, a.submit, 0)
			}
			return false
		}
		m.ages.Ascend(age{group: d.group, submit: math.MinInt64}, end)
		m.ages.Descend(age{group: d.group, submit: math.MaxInt64}, end)
		return true
	})
}
