package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// What is refused because less was refused is refused.
func TestMoreThanFindsNoPlaceFindsNone(t *testing.T) {
	covered := 0
	for seed := range uint64(12) {
		w := newRandomWorld(t, seed)
		for range 60 {
			w.happen()
			run := w.c.Copy(w.st)
			run.Begin(w.st.At)
			least := Least{}
			for range 20 {
				j := w.job()
				if j.PE != "" {
					first := uint32(1 + w.r.IntN(6))
					j.PERange = grid.Ranges{{First: first, Last: first + uint32(w.r.IntN(2)), Step: 1}}
				}
				n, e := run.Need(j), run.Extent(j)
				p, why := run.Place(n, &Cursor{})
				known := least.Why(e)
				switch {
				case !known.Fits() && why.Fits():
					t.Fatalf("seed %d: a job of %+v finds a place where less found none: %s", seed, e, known)
				case !known.Fits():
					covered++
				case !why.Fits():
					least.Add(e, why)
				default:
					run.Book(n, j, p)
				}
			}
		}
	}
	if covered < 100 {
		t.Errorf("only %d jobs ask for more than one that found no place", covered)
	}
}
