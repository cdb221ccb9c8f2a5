package model

import "github.com/quill-grid/quill/pkg/grid"

// Lend returns a Model for a run at a time that is over before this one
// follows another list or lends again: both share what a run only reads. When
// jobs enter their lines at that time it is a Copy.
func (m *Model) Lend(now grid.Time) *Model {
	m.settle()
	if d, ok := m.delayed.Min(); ok && d.until <= now {
		return m.Copy()
	}
	if m.lent == nil {
		m.lent = new(Model)
	}
	c := m.lent
	*c = *m
	c.index, c.lent = nil, nil
	c.Cluster = m.Cluster.Lend()
	return c
}
