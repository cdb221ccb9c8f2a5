// Package cow is the one mechanism by which copies of the scheduling state are cheap: copy on write.
//
//	Copy   a value that stays as its source is now; each of both clones what it writes to first
//	Lend   a value to write to until its source changes or lends again; its memory, and that of its copies, serves
//	       the next one
//
// A List holds small values, Rows larger elements, as what is used of each host, a Tree is an ordered set or map, and
// Clone copies a slice that is small.
//
// The package must not know what is copied. To add state that copies share: a field of one of these types, copied and
// lent where its owner is.
package cow

import "slices"

// Token says who may write to something: only the owner of the token that it has.
type Token = *byte

// List is a list of values of which copies are cheap: it is kept in chunks, and a chunk is cloned before the first
// write to it after a copy.
type List[T any] struct {
	chunks []*chunk[T]
	shared bool            // with a copy: chunks are cloned before the first write
	token  Token           // who may write: every copy and its source get a new one, at the first write
	made   *Pool[chunk[T]] // of a lent list: what it has made to write to; nil: it lives on its own
}

const chunkSize = 16

type chunk[T any] struct {
	token Token
	items [chunkSize]T
}

// NewList returns n values that are all zero.
func NewList[T any](n int) List[T] {
	l := List[T]{chunks: make([]*chunk[T], (n+chunkSize-1)/chunkSize), token: new(byte)}
	for i := range l.chunks {
		l.chunks[i] = &chunk[T]{token: l.token}
	}
	return l
}

// At returns a value for reading.
func (l *List[T]) At(i int) *T { return &l.chunks[i/chunkSize].items[i%chunkSize] }

// Set replaces a value.
func (l *List[T]) Set(i int, x T) {
	at := l.chunks[i/chunkSize]
	if at.token != l.Token() {
		own := l.made.Get()
		*own = *at
		own.token = l.token
		at = own
		if l.shared {
			l.chunks, l.shared = slices.Clone(l.chunks), false
		}
		l.chunks[i/chunkSize] = at
	}
	at.items[i%chunkSize] = x
}

// Token is the one that what is written together with this list may have.
func (l *List[T]) Token() Token {
	if l.token == nil {
		l.token = new(byte)
	}
	return l.token
}

// Copy returns a list that stays as this one is now.
func (l *List[T]) Copy() List[T] {
	l.token, l.shared = nil, true
	return List[T]{chunks: l.chunks, shared: true}
}

// Lend returns a list to write to; was is what was lent before.
func (l *List[T]) Lend(was List[T]) List[T] {
	if was.made == nil {
		was.token, was.made = new(byte), &Pool[chunk[T]]{}
	}
	was.made.Reuse()
	was.shared = false
	was.chunks = append(was.chunks[:0], l.chunks...)
	return was
}

// Row is an element of Rows: it can be made a copy of another one, in the memory that it has.
type Row[T any] interface {
	*T
	Become(old *T)
}

// Rows is a List of larger elements, each of which is cloned by itself before the first write to it after a copy.
type Rows[T any, P Row[T]] struct {
	list List[*element[T]]
	made *Pool[element[T]]
}

type element[T any] struct {
	token Token
	row   T
}

// NewRows returns n elements that are all zero.
func NewRows[T any, P Row[T]](n int) Rows[T, P] {
	r := Rows[T, P]{list: NewList[*element[T]](n)}
	for i := range n {
		r.list.Set(i, &element[T]{token: r.list.token})
	}
	return r
}

// At returns an element for reading.
func (r *Rows[T, P]) At(i int) *T { return &(*r.list.At(i)).row }

// Own returns an element for writing.
func (r *Rows[T, P]) Own(i int) *T {
	old := *r.list.At(i)
	if old.token == r.list.Token() {
		return &old.row
	}
	e := r.made.Get()
	P(&e.row).Become(&old.row)
	e.token = r.list.token
	r.list.Set(i, e)
	return &e.row
}

// Token is the one that what is written together with these rows may have.
func (r *Rows[T, P]) Token() Token { return r.list.Token() }

// Copy returns rows that stay as these are now.
func (r *Rows[T, P]) Copy() Rows[T, P] { return Rows[T, P]{list: r.list.Copy()} }

// Lend returns rows to write to; was are those that were lent before.
func (r *Rows[T, P]) Lend(was Rows[T, P]) Rows[T, P] {
	if was.made == nil {
		was.made = &Pool[element[T]]{}
	}
	was.made.Reuse()
	was.list = r.list.Lend(was.list)
	return was
}

// Pool is memory that can be used again; a nil one always makes what is asked for.
type Pool[T any] struct {
	made []*T
	next int // the first that is not in use
}

// Get returns memory that nothing else uses; what was in it is left.
func (p *Pool[T]) Get() *T {
	if p == nil {
		return new(T)
	}
	if p.next == len(p.made) {
		p.made = append(p.made, new(T))
	}
	p.next++
	return p.made[p.next-1]
}

// Reuse takes all memory back.
func (p *Pool[T]) Reuse() { p.next = 0 }

// Clone returns a copy of a slice in the memory of one that is not needed any more, nil for nil.
func Clone[T any](room, s []T) []T {
	if s == nil {
		return nil
	}
	return append(room[:0], s...)
}

// Tree is an ordered set or map that a lent copy only reads until it first writes to it.
type Tree[T interface{ Copy() T }] struct {
	Rows T // for reading
	lent bool
}

// Copy returns a tree that stays as this one is now.
func (t *Tree[T]) Copy() Tree[T] { return Tree[T]{Rows: t.Rows.Copy()} }

// Lend returns a tree to write to until this one changes.
func (t *Tree[T]) Lend() Tree[T] { return Tree[T]{Rows: t.Rows, lent: true} }

// Own returns the rows for writing.
func (t *Tree[T]) Own() T {
	if t.lent {
		t.Rows, t.lent = t.Rows.Copy(), false
	}
	return t.Rows
}
