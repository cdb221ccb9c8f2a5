package ledger

import (
	"cmp"

	"github.com/quill-grid/quill/pkg/grid"
)

// MapKey names a resource map: its column and the index of its host, WholeCluster for that of "global".
type MapKey struct{ Column, Host int }

// WholeCluster is the host of the maps of "global".
const WholeCluster = -1

// MapAt is the key of the map of a column that a host of the cell has, or "global".
func (l *Ledger) MapAt(column int, place string) MapKey {
	if place == grid.GlobalHost {
		return MapKey{column, WholeCluster}
	}
	return MapKey{column, l.site.HostAt[place]}
}

// Taken is an instance of a resource map that a started task has, and how often it has it: more than once only of what
// the map lists so often.
type Taken struct {
	MapKey
	ID    string
	Task  uint64 // see Number
	Times int
}

// before is the order of Ledger.taken: by map, instance and task.
func (a Taken) before(b Taken) bool {
	if a.Host != b.Host { // as most are: no text is looked at
		return a.Host < b.Host
	}
	return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Task, b.Task)) < 0
}

// noteInstances notes the instances that a task has which starts; sign -1: which ends.
func (l *Ledger) noteInstances(t *grid.JATask, sign int) {
	for i := range t.Maps {
		m := &t.Maps[i]
		key := MapKey{l.site.ColumnOf(m.Resource), WholeCluster}
		if h, known := l.site.HostAt[m.Host]; known && !m.Global {
			key.Host = h
		} else if !m.Global {
			continue
		}
		for _, id := range m.IDs {
			n := Taken{key, id, Number(t.Job, t.ID), 1}
			old, _ := l.taken.Own().Delete(n)
			if n.Times = old.Times + sign; n.Times > 0 {
				l.taken.Own().Set(n)
			}
		}
	}
}

// EachTaken calls f with what started tasks have of a map, by instance.
func (l *Ledger) EachTaken(of MapKey, f func(Taken)) {
	l.taken.Rows.Ascend(Taken{MapKey: of}, func(n Taken) bool {
		if n.MapKey != of {
			return false
		}
		f(n)
		return true
	})
}

// TimesTaken returns how often started tasks have an instance of a map.
func (l *Ledger) TimesTaken(of MapKey, id string) (times int) {
	l.taken.Rows.Ascend(Taken{MapKey: of, ID: id}, func(n Taken) bool {
		if n.MapKey != of || n.ID != id {
			return false
		}
		times += n.Times
		return true
	})
	return times
}

// EachInstance calls f with each instance of any map that a started task has.
func (l *Ledger) EachInstance(f func(Taken)) {
	l.taken.Rows.Scan(func(n Taken) bool {
		f(n)
		return true
	})
}
