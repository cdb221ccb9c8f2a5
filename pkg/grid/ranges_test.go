package grid_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/quill-grid/quill/pkg/grid"
)

// numbersOf lists every number of the ranges in their order.
func numbersOf(rs grid.Ranges) (list []uint32) {
	rs.Each(func(n uint32) bool { list = append(list, n); return true })
	return list
}

// some is a list of up to three ranges.
func some(t *rapid.T) (rs grid.Ranges) {
	first := uint32(0)
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 { // of no numbers, as a request may have it
		return grid.Ranges{{First: 7, Last: 3, Step: rapid.SampledFrom([]uint32{0, 1, 2, math.MaxUint32}).Draw(t, "step")}}
	}
	for range rapid.IntRange(0, 3).Draw(t, "ranges") {
		r := grid.Range{First: first + rapid.Uint32Range(1, 9).Draw(t, "first"),
			Step: rapid.Uint32Range(0, 4).Draw(t, "step")}
		r.Last = r.First + rapid.Uint32Range(0, 20).Draw(t, "more")
		rs, first = append(rs, r), r.Last
	}
	return rs
}

// TestRangesAgreeWithASet does random things to ranges and to a set of
// numbers, which must always say the same.
func TestRangesAgreeWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint32Range(1, 40)
		start := grid.Range{First: number.Draw(t, "first"), Step: rapid.Uint32Range(1, 4).Draw(t, "step")}
		start.Last = start.First + start.Step*rapid.Uint32Range(0, 9).Draw(t, "more")
		rs, set := grid.Ranges{start}, map[uint32]bool{}
		start2 := slices.Clone(rs)
		for n := start.First; n <= start.Last; n += start.Step {
			set[n] = true
		}
		rs[0].Last += rapid.Uint32Range(0, start.Step-1).Draw(t, "beyond") // 1-4:2 is 1 and 3
		for i := range rapid.IntRange(0, 30).Draw(t, "operations") {
			before := slices.Clone(rs)
			n := number.Draw(t, "n")
			next := rs
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				next = rs.Without(n)
				delete(set, n)
			case 2:
				next = rs.With(n)
				set[n] = true
			case 3:
				other := some(t)
				next = rs.Minus(other)
				for _, m := range numbersOf(other) {
					delete(set, m)
				}
			case 4:
				other := some(t)
				next = rs.Plus(other)
				for _, m := range numbersOf(other) {
					set[m] = true
				}
			}
			if !slices.Equal(before, rs) {
				t.Fatalf("step %d changed the receiver: %v to %v", i, before, rs)
			}
			rs = next
			want := slices.Sorted(maps.Keys(set))
			got := numbersOf(rs)
			if !slices.Equal(got, want) {
				t.Fatalf("from %v, step %d: %v are the numbers %v, want %v", start2, i, rs, got, want)
			}
			if int(rs.Count()) != len(want) {
				t.Fatalf("%v: count %d, want %d", rs, rs.Count(), len(want))
			}
			if len(want) > 0 && (rs.First() != want[0] || rs.Last() != want[len(want)-1]) {
				t.Fatalf("%v: first %d, last %d, want %v", rs, rs.First(), rs.Last(), want)
			}
			for n := uint32(0); n < 120; n++ {
				if rs.Contains(n) != set[n] {
					t.Fatalf("%v contains %d: %v", rs, n, rs.Contains(n))
				}
			}
		}
	})
}

func TestRangesPrint(t *testing.T) {
	for want, rs := range map[string]grid.Ranges{
		"":               nil,
		"7":              {{First: 7, Last: 7, Step: 1}},
		"1-3:1,7,9-15:2": {{First: 1, Last: 3, Step: 1}, {First: 7, Last: 7, Step: 1}, {First: 9, Last: 15, Step: 2}},
		"1-1000000:1":    {{First: 1, Last: 1000000}},
	} {
		if got := rs.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, r := range map[string]grid.Range{"4": {First: 4, Last: 4}, "4-8": {First: 4, Last: 8, Step: 1},
		"4-8:2": {First: 4, Last: 8, Step: 2}} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// BenchmarkWithout takes the tasks of a large array off in order, as
// dispatching does.
func BenchmarkWithout(b *testing.B) {
	b.ReportAllocs()
	rs, n := grid.Ranges{{First: 1, Last: 1 << 31, Step: 1}}, uint32(0)
	for b.Loop() {
		n++
		rs = rs.Without(n)
	}
	if rs.First() != n+1 {
		b.Fatal(rs)
	}
}

func TestSlots(t *testing.T) {
	rs := grid.Ranges{{First: 4, Last: 4}, {First: 6, Last: 8}, {First: 16, Last: grid.Open}}
	for end, want := range map[string]string{"": "4,6-8,16-", grid.SlotsEnd: "4,6-8,16-9999999"} {
		if got := rs.Slots(end); got != want {
			t.Errorf("with the end %q: %s, not %s", end, got, want)
		}
	}
}

// TestUnion: ranges that overlap, in any order and with any steps, are put together as a set of their numbers,
// ascending.
func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranges := grid.Ranges(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) grid.Range {
			first := rapid.Uint32Range(1, 40).Draw(t, "first")
			return grid.Range{First: first, Last: first + rapid.Uint32Range(0, 40).Draw(t, "more"),
				Step: rapid.Uint32Range(1, 7).Draw(t, "step")}
		}), 0, 12).Draw(t, "ranges"))
		want := map[uint32]bool{}
		ranges.Each(func(n uint32) bool { want[n] = true; return true })
		var got []uint32
		grid.Union(ranges).Each(func(n uint32) bool { got = append(got, n); return true })
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%v: %v", ranges, got)
		}
	})
}
