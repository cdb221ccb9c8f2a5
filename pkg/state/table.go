package state

import (
	"encoding/binary"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
)

// table is the objects of a kind in key order.
type table = shared[*rows]

// rows are those of a table. Objects whose key is a number (jobs, tasks) stand
// apart from those with a name, since numbers are searched several times
// faster; of most kinds all keys are of one sort.
type rows struct {
	numbered ordered.Map[uint64, grid.Object]
	named    ordered.Map[string, grid.Object]
}

func newRows() *rows {
	return &rows{ordered.NewMap[uint64, grid.Object](), ordered.NewMap[string, grid.Object]()}
}

// Copy returns rows that stay as these are now.
func (r *rows) Copy() *rows { return &rows{r.numbered.Copy(), r.named.Copy()} }

func number(k grid.Key) uint64 { return uint64(k.ID)<<32 | uint64(k.Sub) }

// naming is a key with a name as text in the order of keys.
func naming(k grid.Key) string {
	if k.ID == 0 && k.Sub == 0 {
		return k.Name
	}
	return string(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(k.Name)), number(k))) + k.Name
}

func (r *rows) get(k grid.Key) (o grid.Object) {
	if k.Name == "" {
		o, _ = r.numbered.Get(number(k))
	} else {
		o, _ = r.named.Get(naming(k))
	}
	return o
}

// set replaces an object and returns the one before, nil when there was none.
func (r *rows) set(k grid.Key, o grid.Object) (old grid.Object) {
	if k.Name == "" {
		old, _ = r.numbered.Set(number(k), o)
	} else {
		old, _ = r.named.Set(naming(k), o)
	}
	return old
}

// add is set for what most often comes last.
func (r *rows) add(k grid.Key, o grid.Object) (old grid.Object) {
	if k.Name == "" {
		old, _ = r.numbered.Load(number(k), o)
	} else {
		old, _ = r.named.Load(naming(k), o)
	}
	return old
}

func (r *rows) delete(k grid.Key) (old grid.Object, was bool) {
	if k.Name == "" {
		return r.numbered.Delete(number(k))
	}
	return r.named.Delete(naming(k))
}

func (r *rows) len() int { return r.numbered.Len() + r.named.Len() }

func (r *rows) scan(f func(grid.Object) bool) { _ = r.numbered.Each(0, f) && r.named.Each("", f) }

// from is scan, beginning at the first key that is not less.
func (r *rows) from(k grid.Key, f func(grid.Object) bool) {
	if (k.Name != "" || r.numbered.Each(number(k), f)) && r.named.Len() > 0 {
		r.named.Each(naming(k), f)
	}
}
