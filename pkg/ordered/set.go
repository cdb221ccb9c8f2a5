package ordered

import "github.com/tidwall/btree"

// Set holds items in an order of their own; two items of which none is less are the same.
type Set[T any] interface {
	Len() int
	// Get returns the item that is the same as t.
	Get(t T) (T, bool)
	// Set puts an item in place of the same one, which it returns.
	Set(t T) (old T, was bool)
	// Load is Set, faster when t comes after all others.
	Load(t T) (old T, was bool)
	Delete(t T) (old T, was bool)
	Min() (T, bool)
	Max() (T, bool)
	// AtLeast returns the first item that is not less than t.
	AtLeast(t T) (T, bool)
	// After returns the first item that t is less than.
	After(t T) (T, bool)
	// Range returns the items that are not less than first nor greater than last.
	Range(first, last T) []T
	// Scan calls f with all items until it returns false. The set must not change meanwhile.
	Scan(f func(T) bool)
	// Ascend is Scan from the first item that is not less.
	Ascend(from T, f func(T) bool)
	// Descend goes from the last item that is not greater, backwards.
	Descend(from T, f func(T) bool)
	// Iter returns a cursor before the first item, in the memory of another one that is
	// no longer used, or nil. It is good until the set changes.
	Iter(in Cursor[T]) Cursor[T]
	// Copy returns a set that stays as this one is now.
	Copy() Set[T]
}

// Cursor goes through a set item by item.
type Cursor[T any] interface {
	// Seek goes to the first item that is not less than t; false: there is none.
	Seek(t T) bool
	// Next goes to the next item; false: there is none.
	Next() bool
	// Item is where it is.
	Item() T
}

// NewSet returns an empty set in the order of less.
func NewSet[T any](less func(a, b T) bool) Set[T] {
	return (*sorted[T])(btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}))
}

type sorted[T any] btree.BTreeG[T]

func (s *sorted[T]) tree() *btree.BTreeG[T] { return (*btree.BTreeG[T])(s) }

func (s *sorted[T]) Len() int                       { return s.tree().Len() }
func (s *sorted[T]) Get(t T) (T, bool)              { return s.tree().Get(t) }
func (s *sorted[T]) Set(t T) (T, bool)              { return s.tree().Set(t) }
func (s *sorted[T]) Load(t T) (T, bool)             { return s.tree().Load(t) }
func (s *sorted[T]) Delete(t T) (T, bool)           { return s.tree().Delete(t) }
func (s *sorted[T]) Min() (T, bool)                 { return s.tree().Min() }
func (s *sorted[T]) Max() (T, bool)                 { return s.tree().Max() }
func (s *sorted[T]) Scan(f func(T) bool)            { s.tree().Scan(f) }
func (s *sorted[T]) Ascend(from T, f func(T) bool)  { s.tree().Ascend(from, f) }
func (s *sorted[T]) Descend(from T, f func(T) bool) { s.tree().Descend(from, f) }
func (s *sorted[T]) Copy() Set[T]                   { return (*sorted[T])(s.tree().Copy()) }

func (s *sorted[T]) AtLeast(t T) (found T, any bool) {
	s.tree().Ascend(t, func(u T) bool {
		found, any = u, true
		return false
	})
	return found, any
}

func (s *sorted[T]) After(t T) (found T, any bool) {
	s.tree().Ascend(t, func(u T) bool {
		if any = s.tree().Less(t, u); any {
			found = u
		}
		return !any
	})
	return found, any
}

func (s *sorted[T]) Range(first, last T) (items []T) {
	s.tree().Ascend(first, func(t T) bool {
		if s.tree().Less(last, t) {
			return false
		}
		items = append(items, t)
		return true
	})
	return items
}

func (s *sorted[T]) Iter(in Cursor[T]) Cursor[T] {
	c, ok := in.(*cursor[T])
	if !ok {
		c = new(cursor[T])
	}
	c.at.Init(s.tree(), false)
	return c
}

type cursor[T any] struct{ at btree.IterG[T] }

func (c *cursor[T]) Seek(t T) bool { return c.at.Seek(t) }
func (c *cursor[T]) Next() bool    { return c.at.Next() }
func (c *cursor[T]) Item() T       { return c.at.Item() }
