package explain_test

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
)

// A job with requests of any length is accepted; nothing is kept of it.
func TestLongRequestsAreNotJudged(t *testing.T) {
	st, c := newState(1, 0, 1)
	one := grid.Range{First: 1, Last: 1, Step: 1}
	var f explain.Feasibility
	for _, n := range []int{10, 10_000} {
		j := &grid.Job{ID: 9, Version: 1, Owner: "alice", Tasks: one, Pending: grid.Ranges{one},
			JobRequest: &grid.JobRequest{HardQueues: grid.Names{strings.Repeat("q", n)}}}
		if why := f.WhyNever(st, c, j, now); (why != "") != (n == 10) {
			t.Errorf("a queue name of %d letters: %.80q", n, why)
		}
	}
}
