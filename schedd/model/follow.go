package model

import (
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// For models that stand on this one and keep more of each job.

// Stands says of which group a job is, 0 for one that neither waits in line
// nor has started, and whether it stands in line. Only the model that follows
// the events can say.
func (m *Model) Stands(job uint32) (group uint32, inLine bool) {
	m.settle()
	s := m.index.jobs.get(job)
	return s.group, s.pending
}

// Due are the places of the jobs that Start, or a list of that time, lets into
// their lines because their -a time has come.
func (m *Model) Due(now grid.Time) (places []Place) {
	m.delayed.Scan(func(d delay) bool {
		if d.until <= now {
			places = append(places, d.placeOf(d.job))
		}
		return d.until <= now
	})
	return places
}

// Requeued lists the enrolled tasks of a job that wait to start again.
func (m *Model) Requeued(job uint32) (ids []uint32) {
	for _, t := range m.requeued.Range(taskID{job: job}, taskID{job, math.MaxUint32}) {
		ids = append(ids, t.id)
	}
	return ids
}

// Startable is how many tasks of a job could start.
func (m *Model) Startable(j *grid.Job) int {
	return int(j.Eligible().Count()) + len(m.Requeued(j.ID))
}

// Grouped is how often all jobs were grouped anew: while it stays the same, so do
// the numbers of the groups of jobs.
func (m *Model) Grouped() uint64 {
	m.settle()
	return m.index.grouped
}

// Touched are the jobs that a model on this one has to update, which it
// does before it is read.
type Touched struct {
	All     bool // all of them, from nothing
	jobs    map[uint32]bool
	grouped uint64 // when they were last updated; 0: never
}

// Follow notes the jobs that a list is about. The list comes next.
func (t *Touched) Follow(m *Model, l events.List) {
	if t.grouped == 0 {
		return // nothing was updated yet: all will be
	}
	for _, p := range m.Due(l.At) {
		t.Add(p.Job)
	}
	for _, e := range l.Events {
		if e.Kind == grid.KindJob || e.Kind == grid.KindJATask {
			t.Add(e.Key.ID)
		}
	}
}

// Add notes one job.
func (t *Touched) Add(job uint32) {
	if t.jobs == nil {
		t.jobs = map[uint32]bool{}
	}
	t.jobs[job] = true
}

// Has reports whether a job is to be updated.
func (t *Touched) Has(job uint32) bool { return t.All || t.grouped == 0 || t.jobs[job] }

// Settle updates what was touched, in the order of numbers. When that is all,
// or jobs have come to be grouped otherwise, anew is called first.
func (t *Touched) Settle(m *Model, anew func(), look func(job uint32)) {
	if n := m.Grouped(); n != t.grouped {
		t.grouped, t.All = n, true
	}
	if t.All {
		anew()
	}
	for _, id := range slices.Sorted(maps.Keys(t.jobs)) {
		if !t.All || m.State.Job(id) == nil {
			look(id)
		}
	}
	if t.All {
		m.State.Each(grid.KindJob, func(o grid.Object) bool {
			look(o.Key().ID)
			return true
		})
	}
	t.All = false
	clear(t.jobs)
}
