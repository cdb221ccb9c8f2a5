package model

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	m.Cluster.Begin(now)
	m.due(now)
}

// Immediate says whether some job starts now or never.
func (m *Model) Immediate() bool { return m.immediate > 0 }

// Waiting says whether any job stands in a group, started in this run or not.
func (m *Model) Waiting() bool { return m.pending.Len() > 0 }

// Head is the job to look at next, with its group.
func (m *Model) Head() (p Place, g *Group, ok bool) {
	if p, ok = m.heads.Min(); ok {
		g, _ = m.groups.Get(p.Group)
	}
	return p, g, ok
}

// Pass lets the next job of the group take the head's place in this run.
func (m *Model) Pass(p Place) {
	m.heads.Delete(p)
	m.pending.Ascend(p, func(next Place) bool {
		if next == p {
			return true
		}
		if next.Group == p.Group {
			m.heads.Set(next)
		}
		return false
	})
}

// Reject takes the head's whole group out of this run.
func (m *Model) Reject(p Place) { m.heads.Delete(p) }

// NextTask is the first task of a job after the given one that could start,
// pending or enrolled before; 0 when there is none.
func (m *Model) NextTask(j *grid.Job, after uint32) uint32 {
	next := sched.NextTask(j, after)
	m.requeued.Ascend(task{j.ID, after + 1}, func(t task) bool {
		if t.job == j.ID && (next == 0 || t.id < next) {
			next = t.id
		}
		return false
	})
	return next
}

// Group returns the group of a category with pending jobs, nil when there is
// none.
func (m *Model) Group(category string) *Group {
	n, ok := m.categories.Get(category)
	if !ok {
		return nil
	}
	if _, any := m.head(n); !any {
		return nil
	}
	g, _ := m.groups.Get(n)
	return g
}

// Jobs lists the first pending jobs of a group, at most `most`.
func (m *Model) Jobs(g *Group, most int) (ids []uint32) {
	m.pending.Ascend(Place{Group: g.Number, Priority: maxPriority}, func(p Place) bool {
		if p.Group == g.Number {
			ids = append(ids, p.Job)
		}
		return p.Group == g.Number && len(ids) < most
	})
	return ids
}
