package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

func TestNextTask(t *testing.T) {
	j := &grid.Job{
		JobRequest: &grid.JobRequest{},
		Pending:    grid.Ranges{{First: 1, Last: 1_000_000, Step: 1}},
		UserHold:   grid.Ranges{{First: 1, Last: 999_990, Step: 1}},
		OperHold:   grid.Ranges{{First: 999_991, Last: 999_999, Step: 2}},
	}
	for _, c := range []struct{ after, want uint32 }{{0, 999_992}, {999_992, 999_994}, {999_998, 1_000_000},
		{1_000_000, 0}} {
		if got := NextTask(j, c.after); got != c.want {
			t.Errorf("after %d: %d, want %d", c.after, got, c.want)
		}
	}
	// Two hundred thousand ranges of held tasks, of a user and of another array in turns, are not gone through for each
	// task.
	var user, array grid.Ranges
	for n := uint32(1); n < 400_000; n += 4 {
		user = append(user, grid.Range{First: n, Last: n + 1, Step: 1})
		array = append(array, grid.Range{First: n + 2, Last: n + 3, Step: 1})
	}
	j = &grid.Job{JobRequest: &grid.JobRequest{}, Pending: grid.Ranges{{First: 1, Last: 400_001, Step: 1}}, UserHold: user,
		ArrayHold: array}
	if got := NextTask(j, 0); got != 400_001 {
		t.Errorf("after the held ones: %d", got)
	}
	j = &grid.Job{JobRequest: &grid.JobRequest{},
		Pending: grid.Ranges{{First: 1, Last: 9, Step: 4}, {First: 20, Last: 20, Step: 1}}}
	for _, c := range []struct{ after, want uint32 }{{0, 1}, {1, 5}, {6, 9}, {9, 20}, {20, 0}} {
		if got := NextTask(j, c.after); got != c.want {
			t.Errorf("after %d: %d, want %d", c.after, got, c.want)
		}
	}
}
