package explain_test

import (
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestTasksApart: the answer about an array names the tasks that wait for something else, that about a task its number.
func TestTasksApart(t *testing.T) {
	st, c := newState(1, 0, 1)
	tasks := func(first, last uint32) grid.Ranges { return grid.Ranges{{First: first, Last: last, Step: 1}} }
	j := &grid.Job{ID: 9, Version: 1, Owner: "alice", Tasks: grid.Range{First: 1, Last: 9, Step: 1}, Pending: tasks(1, 8),
		UserHold: tasks(4, 6), OperHold: tasks(6, 7), JobRequest: &grid.JobRequest{}}
	l := events.List{Seq: st.Seq + 1, At: now, Events: []events.Event{events.Listed(j),
		events.Listed(&grid.JATask{Job: 9, ID: 9, Status: grid.Idle, State: grid.StateError, Error: "no disk"})}}
	st.Apply(l)
	c.Apply(l)
	for task, want := range map[uint32]string{
		0: "There is no place for job 9 now: slots in all.q@h00000: 1 asked, 0 of 1 left, held by job 1. " +
			"1 more task is in error (9); 3 more tasks are held by their owner (4-6:1); 1 more task is held by an operator (7).",
		2: "There is no place for job 9.2 now: slots in all.q@h00000: 1 asked, 0 of 1 left, held by job 1.",
		4: "Job 9.4 is held by its owner (qsub -h, qhold).",
		9: "Job 9.9 is in error: no disk.",
	} {
		if got := explain.New(st, c, now, time.UTC).Why(st.Job(9), task).Sentence(); got != want {
			t.Errorf("task %d: %s, want %s", task, got, want)
		}
	}
}
