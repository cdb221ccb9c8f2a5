package algorithm

import (
	"iter"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// Lender is a Model that a run can read itself while nothing happens. Lend
// returns a model for a run at a time that shares with this one what a run
// only reads: it is of no use any more once this one follows another list.
type Lender[M any] interface {
	Model[M]
	Lend(now grid.Time) M
}

// AtOnce decides as Begin does, but the run has to be over before the
// algorithm follows another list. That costs no copy where the model lends.
func AtOnce(a Algorithm, r Run) iter.Seq[orders.Order] {
	if l, ok := a.(interface {
		atOnce(Run) iter.Seq[orders.Order]
	}); ok {
		return l.atOnce(r)
	}
	return a.Begin()(r)
}

func (p *pair[M]) atOnce(r Run) iter.Seq[orders.Order] {
	if m, ok := any(p.model).(Lender[M]); ok {
		return p.decider.Decide(r, m.Lend(r.Now))
	}
	return p.Begin()(r)
}
