package site

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// SelectionsOf compiles the characteristics that demands ask for, nil when they ask for none. A
// job of an advance reservation gets instances that its reservation asked for as well.
func (l *Layout) SelectionsOf(demands []complex.Demand, within grid.Requests) (out []*complex.Selection) {
	var reserved []complex.Demand
	if len(within) > 0 {
		reserved = l.Complex.Demands(nil, within, nil)
	}
	for i := range demands {
		d := &demands[i]
		s := l.selectionOf(d)
		if k := slices.IndexFunc(reserved, func(r complex.Demand) bool { return r.Column == d.Column }); k >= 0 {
			s = s.And(l.selectionOf(&reserved[k]))
		}
		if s == nil {
			continue
		}
		if out == nil {
			out = make([]*complex.Selection, len(demands))
		}
		out[i] = s
	}
	return out
}

// selectionOf compiles the characteristics of one demand. What cannot be read any more, as after a
// change of the complex, selects nothing.
func (l *Layout) selectionOf(d *complex.Demand) *complex.Selection {
	s, err := l.Complex.Selection(l.Complex.List[l.Complex.Consumables[d.Column]].Name, d.Traits)
	if err != nil {
		return complex.SelectNone()
	}
	return s
}
