package algorithm

import "github.com/quill-grid/quill/pkg/grid"

// Pacer says when a run may happen that an event asks for, after a last run.
// A Decider that may run at any time need not be one.
type Pacer interface {
	Next(last, event grid.Time) grid.Time
}

func (p *pair[M]) Next(last, event grid.Time) grid.Time {
	if d, ok := p.decider.(Pacer); ok {
		return d.Next(last, event)
	}
	return event
}
