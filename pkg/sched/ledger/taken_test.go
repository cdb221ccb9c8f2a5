package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/ordered"
)

// TestTaken: what is asked of one map, or of one instance of it, is not that of its neighbours.
func TestTaken(t *testing.T) {
	c := &Ledger{}
	c.taken.Rows = ordered.NewSet(Taken.before)
	for _, n := range []Taken{
		{MapKey{3, WholeCluster}, "a", Number(1, 1), 1},
		{MapKey{3, 0}, "a", Number(1, 1), 2},
		{MapKey{3, 0}, "a", Number(2, 1), 1},
		{MapKey{3, 0}, "a1", Number(2, 1), 1},
		{MapKey{4, 0}, "a", Number(1, 1), 1},
		{MapKey{3, 1}, "b", Number(3, 1), 1},
	} {
		c.taken.Rows.Set(n)
	}
	for _, asked := range []struct {
		of   MapKey
		want string
	}{
		{MapKey{3, 0}, "[a a a a1] a 3 a1 1 b 0"},
		{MapKey{3, 1}, "[b] a 0 a1 0 b 1"},
		{MapKey{3, WholeCluster}, "[a] a 1 a1 0 b 0"},
		{MapKey{4, 0}, "[a] a 1 a1 0 b 0"},
		{MapKey{4, 1}, "[] a 0 a1 0 b 0"},
	} {
		got := fmt.Sprint(c.idsTaken(asked.of))
		for _, id := range []string{"a", "a1", "b"} {
			got += fmt.Sprintf(" %s %d", id, c.TimesTaken(asked.of, id))
		}
		if got != asked.want {
			t.Errorf("%v: %s, want %s", asked.of, got, asked.want)
		}
	}
}

// idsTaken are the ids of what is taken of a map, each as often as it is.
func (l *Ledger) idsTaken(of MapKey) (ids []string) {
	l.EachTaken(of, func(n Taken) { ids = append(ids, slices.Repeat([]string{n.ID}, n.Times)...) })
	return ids
}
