package view

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Reservations returns the advance reservations of some owners (patterns), by
// number. A row is the object itself: qrstat shows all of it.
func (v *View) Reservations(owners grid.Names) []*grid.AR {
	return slices.DeleteFunc(v.state.ARs(), func(a *grid.AR) bool {
		return !slices.ContainsFunc(owners, func(u string) bool { return pattern.Match(u, a.Owner) })
	})
}

// ReservationsOf returns the advance reservations of some numbers in that order,
// and the numbers of which there is none.
func (v *View) ReservationsOf(ids []uint32) (rows []*grid.AR, unknown []uint32) {
	for _, id := range ids {
		if a := v.state.AR(id); a != nil {
			rows = append(rows, a)
		} else {
			unknown = append(unknown, id)
		}
	}
	return rows, unknown
}
