package site

// AttrSet is a set of complex attributes. Several of them may be the same bit: a set may contain more than was put in.
type AttrSet uint64

// AnyAttr is in the set of each need: an improvement with it is one for all of them.
const AnyAttr AttrSet = 1

// EveryAttr is the set of all attributes.
const EveryAttr = ^AttrSet(0)

// Add puts an attribute into the set.
func (s *AttrSet) Add(attr int) { *s |= 1 << (1 + attr%63) }

// May reports whether an attribute may be in the set.
func (s AttrSet) May(attr int) bool { return s&(1<<(1+attr%63)) != 0 }
