package state

import "github.com/tidwall/btree"

// tree is an ordered set of which copies can be given away. What has not
// changed since the last copy is not copied again: both share it until one
// of them changes it.
type tree[T any] struct {
	rows  *btree.BTreeG[T]
	given *btree.BTreeG[T] // the last copy; nil once rows are no longer the same
	lent  bool             // rows are shared with other copies
}

func newTree[T any](less func(a, b T) bool) tree[T] {
	return tree[T]{rows: btree.NewBTreeGOptions(less, noLocks)}
}

var noLocks = btree.Options{NoLocks: true}

// copied returns a tree that stays as this one is now.
func (t *tree[T]) copied() tree[T] {
	if t.lent {
		return tree[T]{rows: t.rows, lent: true}
	}
	if t.given == nil {
		t.given = t.rows.Copy()
	}
	return tree[T]{rows: t.given, lent: true}
}

// own returns the rows to change them.
func (t *tree[T]) own() *btree.BTreeG[T] {
	if t.lent {
		t.rows, t.lent = t.rows.Copy(), false
	}
	t.given = nil
	return t.rows
}
