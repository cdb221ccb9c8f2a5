package model

import "github.com/quill-grid/quill/pkg/grid"

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
			places = append(places, d.place(d.job))
		}
		return d.until <= now
	})
	return places
}

// Requeued lists the enrolled tasks of a job that wait to start again.
func (m *Model) Requeued(job uint32) (ids []uint32) {
	m.requeued.Ascend(task{job: job}, func(t task) bool {
		if t.job == job {
			ids = append(ids, t.id)
		}
		return t.job == job
	})
	return ids
}

// Basis is what jobs are grouped by: while it stays the same, so do the
// numbers of groups.
func (m *Model) Basis() string {
	m.settle()
	return m.index.basis
}
