package state

import "github.com/quill-grid/quill/pkg/ordered"

// shared is an ordered collection with cheap copies: the collection and its last copy
// share the rows until one of them changes.
type shared[T interface{ Copy() T }] struct {
	rows  T
	given T    // the last copy, while rows are still the same
	copy  bool // there is one
	lent  bool // rows are shared with other copies
}

type tree[T any] = shared[ordered.Set[T]]

func newTree[T any](less func(a, b T) bool) tree[T] {
	return tree[T]{rows: ordered.NewSet(less)}
}

// copied returns a collection that stays as this one is now.
func (t *shared[T]) copied() shared[T] {
	if t.lent {
		return shared[T]{rows: t.rows, lent: true}
	}
	if !t.copy {
		t.given, t.copy = t.rows.Copy(), true
	}
	return shared[T]{rows: t.given, lent: true}
}

// own returns the rows to change them.
func (t *shared[T]) own() T {
	if t.lent {
		t.rows, t.lent = t.rows.Copy(), false
	}
	if t.copy {
		var none T
		t.given, t.copy = none, false
	}
	return t.rows
}
