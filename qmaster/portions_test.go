package qmaster

import (
	"os/user"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// TestPortions: a user deletes more jobs than are deleted in one step. All are gone with the answer, and no list is long: others may
// have their turns between.
func TestPortions(t *testing.T) {
	q := start(t, Options{Cell: newCell(t), Host: "master"})
	n := 3*portion + portion/2
	load(t, q, n)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, q.opts.Cell)
	reply, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{me.Username}}})
	if err != nil || !reply.OK() || len(reply.Answers) != n {
		t.Fatalf("%d answers of %d: %v", len(reply.Answers), n, err)
	}
	if left := jobs(t, c); len(left) > 0 {
		t.Errorf("%d jobs are left", len(left))
	}
	stop(t, q)
	longest, deletions := 0, 0
	for list, err := range past(t, history.Source{Dir: q.opts.Cell.Dir()}).Lists(1) {
		if err != nil {
			t.Fatal(err)
		}
		if list.Cause.What == "qdel" {
			deletions++
			longest = max(longest, len(list.Events))
		}
	}
	if deletions != 4 || longest > portion {
		t.Errorf("deleted in %d lists, the longest of %d events", deletions, longest)
	}
}
