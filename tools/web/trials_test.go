package web

import (
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
)

// TestStretchOfTrial: a comparison repeats what it begins with, a list or what happened at a time; the state that it
// starts from is the one before, or the earliest that there is.
func TestStretchOfTrial(t *testing.T) {
	c := newCell(t, 1)
	c.submit("alice", "sleep", "1")
	c.run()
	c.later("1s")
	c.submit("alice", "sleep", "2")
	first, last := c.lists[0], c.lists[len(c.lists)-1]
	for _, s := range []struct {
		name string
		from gdi.Place
		want uint64
	}{
		{"the log", gdi.Place{}, first.Seq},
		{"its first list", gdi.Place{Seq: first.Seq}, first.Seq},
		{"a time before it", gdi.Place{At: first.At - 1}, first.Seq},
		{"a list", gdi.Place{Seq: last.Seq}, last.Seq - 1},
		{"the time of a list", gdi.Place{At: last.At}, last.Seq - 1},
		{"a time before a list", gdi.Place{At: last.At - 1}, last.Seq - 1},
		{"a time after a list", gdi.Place{At: last.At + 1}, last.Seq},
	} {
		r, err := c.server.cell.readRecorded(t.Context(), &trial{from: s.from})
		if err != nil {
			t.Fatalf("a comparison from %s: %v", s.name, err)
		}
		if r.Start.Seq != s.want {
			t.Errorf("a comparison from %s starts after list %d, not %d", s.name, r.Start.Seq, s.want)
		}
	}
}
