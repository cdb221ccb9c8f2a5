package grid

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Range is first, first+step, ... up to last: Grid Engine's n-m:s.
type Range struct{ First, Last, Step uint32 }

// Count is how many numbers the range holds.
func (r Range) Count() uint32 {
	if r.Last < r.First {
		return 0
	}
	return (r.Last-r.First)/max(r.Step, 1) + 1
}

// Contains reports whether n is one of the range's numbers.
func (r Range) Contains(n uint32) bool {
	return n >= r.First && n <= r.Last && (n-r.First)%max(r.Step, 1) == 0
}

// last is the range's largest number, which is not Last when no step ends
// there.
func (r Range) last() uint32 { return r.First + (r.Count()-1)*max(r.Step, 1) }

// String prints n, n-m or n-m:s; a step of 1 is printed for arrays by callers
// that want it.
func (r Range) String() string {
	switch {
	case r.First == r.Last:
		return strconv.FormatUint(uint64(r.First), 10)
	case r.Step <= 1:
		return fmt.Sprintf("%d-%d", r.First, r.Last)
	default:
		return fmt.Sprintf("%d-%d:%d", r.First, r.Last, r.Step)
	}
}

// Open is the Last of a PE range without an upper end ("4-").
const Open = math.MaxUint32

// Ranges is an ascending list of disjoint ranges: the pending task ids of an
// array, the slots a parallel job can use. Its methods never change the
// receiver.
type Ranges []Range

// SlotsEnd is what Grid Engine's commands print for the upper end of a PE range
// that has none.
const SlotsEnd = "9999999"

// Slots prints a PE range, slot_range in sge_types(1): 4, 4-8, and for 4- the end
// that is given, SlotsEnd or nothing.
func (rs Ranges) Slots(end string) string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = r.String()
		if r.Last == Open {
			words[i] = fmt.Sprintf("%d-%s", r.First, end)
		}
	}
	return strings.Join(words, ",")
}

// Count is how many numbers the list holds.
func (rs Ranges) Count() (n uint32) {
	for _, r := range rs {
		n += r.Count()
	}
	return n
}

// First is the smallest number, 0 when there is none.
func (rs Ranges) First() uint32 {
	if len(rs) == 0 {
		return 0
	}
	return rs[0].First
}

// Last is the largest number, 0 when there is none.
func (rs Ranges) Last() uint32 {
	if len(rs) == 0 {
		return 0
	}
	return rs[len(rs)-1].last()
}

// Contains reports whether n is in the list.
func (rs Ranges) Contains(n uint32) bool {
	_, is := rs.Find(n)
	return is
}

// Find returns the range of the list that has n.
func (rs Ranges) Find(n uint32) (of Range, is bool) {
	i := sort.Search(len(rs), func(i int) bool { return rs[i].last() >= n })
	if i == len(rs) || !rs[i].Contains(n) {
		return Range{}, false
	}
	return rs[i], true
}

// Each calls f with every number until f returns false.
func (rs Ranges) Each(f func(uint32) bool) {
	for _, r := range rs {
		for n, c := r.First, r.Count(); c > 0; c-- {
			if !f(n) {
				return
			}
			n += max(r.Step, 1)
		}
	}
}

// Filter returns the numbers for which keep returns true. The remains of a range keep its
// step.
func (rs Ranges) Filter(keep func(uint32) bool) (out Ranges) {
	for _, r := range rs {
		step, goesOn := max(r.Step, 1), false
		for n, c := r.First, r.Count(); c > 0; n, c = n+step, c-1 {
			switch last := len(out) - 1; {
			case !keep(n):
				goesOn = false
			case goesOn:
				out[last].Last, out[last].Step = n, step
			default:
				out, goesOn = append(out, Range{n, n, 1}), true
			}
		}
	}
	return out
}

// Without returns the list less n.
func (rs Ranges) Without(n uint32) Ranges {
	for i, r := range rs {
		if !r.Contains(n) {
			continue
		}
		step, left := max(r.Step, 1), len(rs)-1
		below, above := n > r.First, n+step <= r.Last && n+step > n
		if below {
			left++
		}
		if above {
			left++
		}
		out := append(make(Ranges, 0, left), rs[:i]...)
		if below {
			out = append(out, Range{r.First, n - step, r.Step}.normal())
		}
		if above {
			out = append(out, Range{n + step, r.Last, r.Step}.normal())
		}
		return append(out, rs[i+1:]...)
	}
	return rs
}

// With returns the list and n.
func (rs Ranges) With(n uint32) Ranges {
	if rs.Contains(n) {
		return rs
	}
	i := sort.Search(len(rs), func(i int) bool { return rs[i].First > n })
	if i > 0 {
		r := rs[i-1]
		if r.last() > n { // between two of its numbers: split it, so that the list stays ascending
			step := max(r.Step, 1)
			below := r.First + (n-r.First)/step*step
			out := make(Ranges, 0, len(rs)+2)
			out = append(append(out, rs[:i-1]...), Range{r.First, below, r.Step}.normal(), Range{n, n, 1})
			return append(append(out, Range{below + step, r.Last, r.Step}.normal()), rs[i:]...)
		}
		if n-r.last() == max(r.Step, 1) { // grow the neighbour below
			out := append(Ranges{}, rs...)
			out[i-1].Last = n
			return out.joined(i - 1)
		}
	}
	if i < len(rs) { // grow the neighbour above
		if r := rs[i]; r.First-n == max(r.Step, 1) {
			out := append(Ranges{}, rs...)
			out[i].First = n
			return out
		}
	}
	out := make(Ranges, 0, len(rs)+1)
	out = append(append(out, rs[:i]...), Range{n, n, 1})
	return append(out, rs[i:]...)
}

// joined merges ranges i and i+1 when they touch with one step.
func (rs Ranges) joined(i int) Ranges {
	if i+1 >= len(rs) {
		return rs
	}
	a, b := rs[i], rs[i+1]
	step := max(a.Step, 1)
	if b.First-a.last() == step && (b.Count() == 1 || max(b.Step, 1) == step) {
		rs[i].Last = b.last()
		return append(rs[:i+1], rs[i+2:]...)
	}
	return rs
}

// Plus returns the numbers of both lists. It costs what they have of ranges, and
// of numbers where those lie between each other.
func (rs Ranges) Plus(other Ranges) (out Ranges) {
	for a, b := slices.Clone(rs), slices.Clone(other.Minus(rs)); len(a)+len(b) > 0; {
		if len(a) == 0 || len(b) > 0 && b[0].First < a[0].First {
			a, b = b, a
		}
		next := a[0]
		if len(b) > 0 && next.First < b[0].First && b[0].First < next.last() {
			next, a[0] = next.cut(b[0].First)
		} else {
			a = a[1:]
		}
		if next.Count() == 0 {
			continue
		}
		out = append(out, next)
		if n := len(out); n > 1 {
			out = out.joined(n - 2)
		}
	}
	return out
}

// Union returns the numbers that are in any of some ranges, which may overlap and be in any
// order. Halves are put together, so that many ranges do not cost their square.
func Union(ranges Ranges) Ranges {
	if len(ranges) < 2 {
		return Ranges{}.Plus(ranges)
	}
	half := len(ranges) / 2
	return Union(ranges[:half]).Plus(Union(ranges[half:]))
}

// Minus returns the numbers of the list that are not in other. It costs what
// they have of ranges, and of numbers where steps are not the same.
func (rs Ranges) Minus(other Ranges) (out Ranges) {
	if len(other) == 0 || len(rs) == 0 {
		return rs
	}
	for _, r := range rs {
		step, begun := max(r.Step, 1), len(out)
		keep := func(part Range) { // what is left of r continues where nothing is missing
			last := len(out) - 1
			switch {
			case part.Count() == 0:
			case last >= begun && part.First-out[last].last() == step:
				out[last].Last, out[last].Step = part.last(), step
			default:
				out = append(out, part.normal())
			}
		}
		for len(other) > 0 && other[0].last() < r.First {
			other = other[1:]
		}
		for _, o := range other {
			if o.First > r.Last || r.Count() == 0 {
				break
			}
			below, within := r.cut(o.First)
			keep(below)
			r = nothing
			if within.last() > o.last() {
				within, r = within.cut(o.last() + 1)
			}
			if within.Count() == 0 || o.Contains(within.First) && (within.Count() == 1 || step%max(o.Step, 1) == 0) {
				continue
			}
			for _, part := range (Ranges{within}).Filter(func(n uint32) bool { return !o.Contains(n) }) {
				keep(part)
			}
		}
		keep(r)
	}
	return out
}

// nothing is a range without numbers.
var nothing = Range{First: 1}

// cut divides a range into what lies below n, and what does not.
func (r Range) cut(n uint32) (below, rest Range) {
	step := max(r.Step, 1)
	switch {
	case n <= r.First:
		return nothing, r
	case n > r.last():
		return r, nothing
	}
	rest = r
	rest.First += ((n-r.First-1)/step + 1) * step
	below = r
	below.Last = rest.First - step
	return below, rest
}

func (r Range) normal() Range {
	if r.First == r.Last {
		r.Step = 1
	}
	return r
}

// String prints the list as qstat does: "1-3:1,7,9-15:2".
func (rs Ranges) String() string {
	var b strings.Builder
	for i, r := range rs {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case r.First == r.Last:
			fmt.Fprintf(&b, "%d", r.First)
		default:
			fmt.Fprintf(&b, "%d-%d:%d", r.First, r.Last, max(r.Step, 1))
		}
	}
	return b.String()
}
