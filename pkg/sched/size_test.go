package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// What is refused because less was refused is refused.
func TestMoreThanFindsNoPlaceFindsNone(t *testing.T) {
	covered := 0
	testkit.EachSeed(t, 12, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for range 60 {
			w.happen()
			run := w.c.Copy(w.st)
			run.Begin(w.st.At)
			var least FailedSizes
			least.Reset() // what the last run has found
			for range 20 {
				j := w.job()
				if j.PE != "" {
					first := uint32(1 + w.r.IntN(6))
					j.PERange = grid.Ranges{{First: first, Last: first + uint32(w.r.IntN(2)), Step: 1}}
				}
				n, e := run.Need(j), w.c.JobSize(j)
				p, why := run.FindPlacement(n, &Cursor{})
				known := least.Covers(e)
				switch {
				case known && why.Fits():
					t.Fatalf("a job of %+v finds a place where less found none", e)
				case known:
					covered++
				case !why.Fits():
					least.Add(e)
				default:
					run.Book(n, j, p)
				}
			}
		}
	})
	if covered < 100 {
		t.Errorf("only %d jobs ask for more than one that found no place", covered)
	}
}
