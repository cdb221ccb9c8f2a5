package sched

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/ordered"
)

// TestTaken: what is asked of one map, or of one instance of it, is not that of its neighbours.
func TestTaken(t *testing.T) {
	c := &Cluster{}
	c.taken.rows = ordered.NewSet(taken.before)
	for _, n := range []taken{
		{stockKey{3, wholeCluster}, "a", numberOf(1, 1), 1},
		{stockKey{3, 0}, "a", numberOf(1, 1), 2},
		{stockKey{3, 0}, "a", numberOf(2, 1), 1},
		{stockKey{3, 0}, "a1", numberOf(2, 1), 1},
		{stockKey{4, 0}, "a", numberOf(1, 1), 1},
		{stockKey{3, 1}, "b", numberOf(3, 1), 1},
	} {
		c.taken.rows.Set(n)
	}
	for _, asked := range []struct {
		of   stockKey
		want string
	}{
		{stockKey{3, 0}, "[a a a a1] a 3 a1 1 b 0"},
		{stockKey{3, 1}, "[b] a 0 a1 0 b 1"},
		{stockKey{3, wholeCluster}, "[a] a 1 a1 0 b 0"},
		{stockKey{4, 0}, "[a] a 1 a1 0 b 0"},
		{stockKey{4, 1}, "[] a 0 a1 0 b 0"},
	} {
		got := fmt.Sprint(*c.takenOf(asked.of))
		for _, id := range []string{"a", "a1", "b"} {
			got += fmt.Sprintf(" %s %d", id, c.timesTaken(asked.of, id))
		}
		if got != asked.want {
			t.Errorf("%v: %s, want %s", asked.of, got, asked.want)
		}
	}
}
