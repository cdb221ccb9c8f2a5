package view

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// started yields the rows of a started task until yield returns false, and reports
// whether it did not: of the grants that here selects, or one with all its slots
// when here is nil; with perSlot a row for each slot.
func (l *Jobs) started(e *entry, t *grid.JATask, perSlot bool, here func(grid.Grant) bool, yield func(*Job) bool) bool {
	d := grid.Display{Status: t.Status, State: t.State, Hold: e.holdsOf(t.ID) != 0, Restarted: t.Restarted}
	r := row{entry: e, section: JobRunning, task: t, letters: d.Letters(), at: t.Start}
	if e.array {
		r.ids = grid.Ranges{{First: t.ID, Last: t.ID, Step: 1}}
	}
	inSlots := e.inSlots(t)
	for n, g := range t.Grants {
		hidden := here != nil && !here(g)
		r.queue, r.slots = g.Instance(), g.Slots
		if !perSlot {
			if hidden {
				continue
			}
			if here == nil {
				r.slots = t.Slots()
			}
			return yield(l.row(&r))
		}
		lines := g.Slots
		r.role, r.continued, r.slots = JobSlave, false, 1
		if n == 0 {
			r.role = JobMaster
			if t.PE != "" && !l.view.JobIsFirstTask(t.PE) {
				lines++
			}
		}
		for ; lines > 0; lines-- {
			if r.petask = nil; r.role == JobSlave {
				r.petask = inSlots(g.Host)
			}
			if !hidden && !yield(l.row(&r)) {
				return false
			}
			r.role, r.continued = JobSlave, true
		}
	}
	return true
}

// startedTasks reports whether a task started others with qrsh -inherit.
func (e *entry) startedTasks(task uint32) bool {
	return slices.ContainsFunc(e.petasks, func(p *grid.PETask) bool { return p.Task == task && p.ID != grid.PastUsage })
}

// inSlots gives what runs in the slots of a task's hosts, one slot after the other.
func (e *entry) inSlots(t *grid.JATask) func(host string) *grid.PETask {
	rest := slices.Clone(e.petasks)
	return func(host string) *grid.PETask {
		n := slices.IndexFunc(rest, func(p *grid.PETask) bool {
			return p.Task == t.ID && p.Host == host && p.ID != grid.PastUsage
		})
		if n < 0 {
			return nil
		}
		p := rest[n]
		rest = slices.Delete(rest, n, n+1)
		return p
	}
}

// holdsOf are the holds of one task.
func (e *entry) holdsOf(task uint32) (s JobStates) {
	if e.dependent {
		s |= JobsWithPredecessors
	}
	if h := e.parts; h != nil {
		if h.user.Contains(task) {
			s |= JobsHeldByUser
		}
		if h.oper.Contains(task) {
			s |= JobsHeldByOperator
		}
		if h.sys.Contains(task) {
			s |= JobsHeldBySystem
		}
		if h.array.Contains(task) {
			s |= JobsWithArrayPredecessors
		}
	}
	return s
}

// selects reports whether pending tasks with these holds are selected.
func (l *Jobs) selects(e *entry, h JobStates) bool {
	if e.later {
		h |= JobsLater
	}
	return l.filter.States&JobsPending != 0 || l.filter.States&h != 0
}

// waiting yields the rows of an entry's tasks that have not started, until yield
// returns false: first those that were started before or failed, then those of the
// pending range, in groups of the same holds.
func (l *Jobs) waiting(e *entry, yield func(*Job) bool) bool {
	if !l.idle(e, yield) {
		return false
	}
	if e.plain {
		return l.alike(e, e.holdsOf(1), nil, yield)
	}
	if e.parts == nil || len(e.parts.pending) == 0 {
		return true
	}
	if !e.parts.held() {
		return l.alike(e, e.holdsOf(0), e.parts.pending, yield)
	}
	var groups []JobStates
	e.parts.pending.Each(func(id uint32) bool {
		if h := e.holdsOf(id); !slices.Contains(groups, h) {
			groups = append(groups, h)
		}
		return true
	})
	slices.Sort(groups)
	for _, h := range groups {
		if !l.alike(e, h, e.parts.pending.Filter(func(id uint32) bool { return e.holdsOf(id) == h }), yield) {
			return false
		}
	}
	return true
}

// idle yields the rows of tasks that wait and have left the pending range.
func (l *Jobs) idle(e *entry, yield func(*Job) bool) bool {
	var rows []*row
	for _, t := range e.tasks {
		if t.Status != grid.Idle {
			continue
		}
		h := e.holdsOf(t.ID)
		if !l.selects(e, h) {
			continue
		}
		letters := grid.Display{Status: t.Status, State: t.State | grid.StateQueued | grid.StateWaiting, Hold: h != 0,
			Restarted: t.Restarted}.Letters()
		n := slices.IndexFunc(rows, func(r *row) bool { return r.letters == letters && !l.show.PerTask })
		if n < 0 {
			rows, n = append(rows, &row{entry: e, section: JobPending, task: t, letters: letters, at: e.submit, slots: e.slots}),
				len(rows)
		}
		if e.array {
			rows[n].ids = rows[n].ids.With(t.ID)
		}
	}
	for _, r := range rows {
		if !yield(l.row(r)) {
			return false
		}
	}
	return true
}

// alike yields tasks that never started and have the same holds.
func (l *Jobs) alike(e *entry, h JobStates, ids grid.Ranges, yield func(*Job) bool) bool {
	if !l.selects(e, h) {
		return true
	}
	r := row{entry: e, section: JobPending, letters: "qw", at: e.submit, slots: e.slots, ids: ids}
	if h != 0 {
		r.letters = "hqw"
	}
	if !l.show.PerTask || ids == nil {
		return yield(l.row(&r))
	}
	more := true
	ids.Each(func(id uint32) bool {
		r.ids = grid.Ranges{{First: id, Last: id, Step: 1}}
		more = yield(l.row(&r))
		return more
	})
	return more
}
