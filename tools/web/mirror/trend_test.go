package mirror

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// started is a list with the start of a task.
func started(seq uint64, at grid.Time, job uint32) events.List {
	return events.List{Seq: seq, At: at, Events: []events.Event{
		{Op: events.OpAdd, Kind: grid.KindJATask, Key: grid.Key{ID: job, Sub: 1},
			Object: &grid.JATask{Job: job, ID: 1, Status: grid.Transfering, Start: at}},
	}}
}

// TestTrend: slices have the sums of their part of the time and the levels at its end; what was before is not known;
// two trends in sequence are the same as one.
func TestTrend(t *testing.T) {
	s := state.New()
	var whole, first, second Trend
	for n := range uint64(40) {
		l := started(n+1, grid.Time(1_000_000+n*1700), uint32(n+1))
		s.Apply(l)
		whole.Add(l, s)
		if n < 21 {
			first.Add(l, s)
		} else {
			second.Add(l, s)
		}
	}
	second.Prepend(first)
	end, starts := grid.Time(1_080_000), 0
	a, b := whole.Slices(end, 10, 10_000), second.Slices(end, 10, 10_000)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("slice %d: %+v, not %+v", i, b[i], a[i])
		}
		if known := a[i].At+10_000 > 1_000_000; a[i].Known != known {
			t.Errorf("slice %d: known %t", i, a[i].Known)
		}
		starts += a[i].Starts
	}
	if starts != 40 || a[9].Starting != 40 || a[0].Starting != 0 {
		t.Errorf("%d starts, %+v", starts, a)
	}
	if c := whole.Copy(1_030_000, 1_040_000); len(c.Points) == 0 || c.Points[0].At > 1_030_000 ||
		c.Points[len(c.Points)-1].At > 1_040_000 {
		t.Errorf("%+v", c)
	}
}

// TestTrendKeeps: the trend does not grow without end, and says since when it knows.
func TestTrendKeeps(t *testing.T) {
	s, tr := state.New(), Trend{}
	for n := range 3 * trendKeep {
		tr.Add(events.List{Seq: uint64(n + 1), At: grid.Time(n+1) * trendStep}, s)
	}
	if n := len(tr.Points); n < trendKeep || n > trendKeep*11/10+1 || tr.From != tr.Points[0].At {
		t.Errorf("%d points from %d", n, tr.From)
	}
}
