package site

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// mostMapColumns is of how many resource maps a rank notes whether instances are left.
const mostMapColumns = 8

// mapColumns are the columns of the first few resource maps of a complex.
func mapColumns(x *complex.Attributes) (columns []int) {
	for column, attr := range x.Consumables {
		if x.List[attr].Type == grid.TypeMap && len(columns) < mostMapColumns {
			columns = append(columns, column)
		}
	}
	return columns
}

// Sick is an instance that is not in service, and how often its map lists it.
type Sick struct {
	*grid.Instance
	Column, Amount int
}

// resolveHealth finds the instances that are not in service.
func (l *Layout) resolveHealth(st *state.State) {
	st.Each(grid.KindInstance, func(o grid.Object) bool {
		i := o.(*grid.Instance)
		attr := l.Complex.Find(i.Resource)
		if attr < 0 || l.Complex.List[attr].Column < 0 {
			return true
		}
		column := l.Complex.List[attr].Column
		m, list := l.Global.Maps[column], &l.Sick
		if h, known := l.HostAt[i.Host]; known {
			m, list = l.Hosts[h].Supply.Maps[column], &l.Hosts[h].Sick
		} else if i.Host != grid.GlobalHost {
			return true
		}
		if at := slices.IndexFunc(m, func(in complex.Instance) bool { return in.ID == i.ID }); at >= 0 {
			*list = append(*list, Sick{i, column, m[at].Amount})
		}
		return true
	})
}
