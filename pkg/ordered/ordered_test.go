package ordered

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSet holds a set, and a copy of it made on the way, against sorted slices.
func TestSet(t *testing.T) { rapid.Check(t, setIsSorted) }

func setIsSorted(t *rapid.T) {
	type entry struct{ key, value int }
	set := NewSet(func(a, b entry) bool { return a.key < b.key })
	var want, before []entry
	var copied Set[entry]
	at := func(key int) (int, bool) {
		return slices.BinarySearchFunc(want, key, func(e entry, k int) int { return e.key - k })
	}
	for range rapid.IntRange(1, 200).Draw(t, "steps") {
		e := entry{rapid.IntRange(0, 60).Draw(t, "key"), rapid.Int().Draw(t, "value")}
		i, had := at(e.key)
		var old entry
		if had {
			old = want[i]
		}
		switch step := rapid.SampledFrom([]string{"set", "load", "delete", "copy", "read"}).Draw(t, "step"); step {
		case "set", "load":
			put := set.Set
			if step == "load" {
				put = set.Load
			}
			if o, was := put(e); o != old || was != had {
				t.Fatalf("%s(%v) = %v, %v, want %v, %v", step, e, o, was, old, had)
			}
			if had {
				want[i] = e
			} else {
				want = slices.Insert(want, i, e)
			}
		case "delete":
			if o, was := set.Delete(e); o != old || was != had {
				t.Fatalf("Delete(%v) = %v, %v, want %v, %v", e, o, was, old, had)
			}
			if had {
				want = slices.Delete(want, i, i+1)
			}
		case "copy":
			copied, before = set.Copy(), slices.Clone(want)
		case "read":
			after := i
			if had {
				after++
			}
			found := func(name string, got entry, any bool, place int) {
				var is entry
				if place < len(want) {
					is = want[place]
				}
				if got != is || any != (place < len(want)) {
					t.Fatalf("%s(%d) = %v, %v in %v", name, e.key, got, any, want)
				}
			}
			got, any := set.AtLeast(e)
			found("AtLeast", got, any, i)
			got, any = set.After(e)
			found("After", got, any, after)
			last := entry{key: e.key + 20}
			upTo, _ := at(last.key + 1)
			if ranged := set.Range(e, last); !slices.Equal(ranged, want[i:upTo]) {
				t.Fatalf("Range(%d, %d) = %v in %v", e.key, last.key, ranged, want)
			}
			cursor := set.Iter(nil)
			for any = cursor.Seek(e); any; any = cursor.Next() {
				found("Seek", cursor.Item(), any, i)
				i++
			}
			found("Seek", entry{}, any, i)
		}
		holds(t, set, want)
	}
	if copied != nil {
		holds(t, copied, before)
	}
}

// holds compares all that a set says of its items.
func holds[T comparable](t *rapid.T, set Set[T], want []T) {
	var scanned, walked []T
	set.Scan(func(e T) bool { scanned = append(scanned, e); return true })
	cursor := set.Iter(set.Iter(nil))
	for cursor.Next() {
		walked = append(walked, cursor.Item())
	}
	if !slices.Equal(scanned, want) || !slices.Equal(walked, want) || set.Len() != len(want) {
		t.Fatalf("Scan %v, Next %v, Len %d, want %v", scanned, walked, set.Len(), want)
	}
	least, any := set.Min()
	most, _ := set.Max()
	if any != (len(want) > 0) || any && (least != want[0] || most != want[len(want)-1]) {
		t.Fatalf("Min %v, %v, Max %v of %v", least, any, most, want)
	}
}

// TestMapCopies changes a map and its copy, which must not know of each other.
func TestMapCopies(t *testing.T) {
	m := NewMap[string, int]()
	for i, k := range []string{"c", "a", "b"} {
		m.Set(k, i)
	}
	c := m.Copy()
	m.Delete("a")
	c.Set("d", 9)
	if got, want := m.Keys(), []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the original has %v, want %v", got, want)
	}
	if got, want := c.Keys(), []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("the copy has %v, want %v", got, want)
	}
	if got, want := c.Range("b", "c"), []int{2, 0}; !slices.Equal(got, want) {
		t.Errorf("from b to c: %v, want %v", got, want)
	}
	var from []string
	c.Ascend("bb", func(k string, _ int) bool { from = append(from, k); return true })
	if want := []string{"c", "d"}; !slices.Equal(from, want) {
		t.Errorf("from bb: %v, want %v", from, want)
	}
}
