package model

import "github.com/quill-grid/quill/pkg/grid"

// Lend returns a Model for a run at a time that is over before this one
// follows another list: both share what a run only reads. When jobs enter
// their lines at that time it is a Copy.
func (m *Model) Lend(now grid.Time) *Model {
	m.settle()
	if d, ok := m.delayed.Min(); ok && d.until <= now {
		return m.Copy()
	}
	c := *m
	c.index = nil
	c.Cluster = m.Cluster.Lend()
	return &c
}
