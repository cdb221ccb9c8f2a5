package topology

import "math/bits"

// Set is a set of threads of a host, by their numbers in its order. The zero value is empty. A set
// that others may have is not changed.
type Set []uint64

// NewSet returns an empty set with room for so many threads.
func NewSet(threads int) Set { return make(Set, (threads+63)/64) }

// add puts the threads from lo to before hi into the set, which has room for them.
func (s Set) add(lo, hi int) {
	for t := lo; t < hi; t++ {
		s[t/64] |= 1 << (t % 64)
	}
}

// Has reports whether a thread is in the set.
func (s Set) Has(t int) bool { return t/64 < len(s) && s[t/64]&(1<<(t%64)) != 0 }

// Len counts the threads of the set.
func (s Set) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Plus returns what is in one of two sets.
func (s Set) Plus(o Set) Set {
	if len(s) < len(o) {
		s, o = o, s
	}
	out := append(Set(nil), s...)
	for i, w := range o {
		out[i] |= w
	}
	return out
}

// Minus returns what is in the set and not in another.
func (s Set) Minus(o Set) Set {
	out := append(Set(nil), s...)
	for i := range min(len(out), len(o)) {
		out[i] &^= o[i]
	}
	return out
}

// Meets reports whether two sets have a thread in common.
func (s Set) Meets(o Set) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether all of the set is in another.
func (s Set) within(o Set) bool {
	for i, w := range s {
		if i < len(o) {
			w &^= o[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}
