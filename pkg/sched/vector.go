package sched

// vector is a list of which copies are cheap: it is kept in chunks, and a chunk is cloned
// by the first copy that writes to it. An element that is a pointer must itself be
// replaced, not written through, unless owned says that this vector made it since the
// last copy.
type vector[T any] struct {
	chunks []*chunk[T]
	token  *byte // who may write: every copy and its source get a new one
	n      int
}

const chunkSize = 16

type chunk[T any] struct {
	token *byte
	items [chunkSize]T
}

func newVector[T any](n int) vector[T] {
	v := vector[T]{chunks: make([]*chunk[T], (n+chunkSize-1)/chunkSize), token: new(byte), n: n}
	for i := range v.chunks {
		v.chunks[i] = &chunk[T]{token: v.token}
	}
	return v
}

func (v *vector[T]) get(i int) T { return v.chunks[i/chunkSize].items[i%chunkSize] }

// set replaces an element; a chunk to write to comes from a pool.
func (v *vector[T]) set(i int, x T, from *pool[chunk[T]]) {
	c := v.chunks[i/chunkSize]
	if c.token != v.token {
		own := from.get()
		*own = *c
		own.token = v.token
		c = own
		v.chunks[i/chunkSize] = c
	}
	c.items[i%chunkSize] = x
}

// copy returns a vector that stays as this one is now.
func (v *vector[T]) copy() vector[T] {
	c := *v
	c.chunks = append([]*chunk[T](nil), v.chunks...)
	v.token, c.token = new(byte), new(byte)
	return c
}
