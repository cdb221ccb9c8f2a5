package schedd

import (
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestStir is the list of events that a run can decide on.
func TestStir(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	task := func(s grid.Status) *grid.JATask { return &grid.JATask{Job: 1, ID: 1, Status: s} }
	for _, c := range []struct {
		name                               string
		event                              events.Event
		submitted, finished, other, urgent bool
	}{
		{name: "a job came", event: events.Add(&grid.Job{JobRequest: &grid.JobRequest{}, ID: 1}), submitted: true},
		{name: "a job was changed or released", event: events.Mod(&grid.Job{JobRequest: &grid.JobRequest{}, ID: 1}),
			submitted: true},
		{name: "a job went, and its last task with it", event: events.Del(grid.KindJob, grid.Key{ID: 1}), finished: true},
		{name: "a task ended", event: events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: 1}), finished: true},
		{name: "a task was put back", event: events.Mod(task(grid.Idle)), finished: true},
		{name: "a task was started", event: events.Add(task(grid.Transfering))},
		{name: "a task runs", event: events.Mod(task(grid.Running))},
		{name: "a host reported", event: events.Mod(&grid.Load{Host: "h1"})},
		{name: "a new host reported", event: events.Add(&grid.Load{Host: "h1"}), other: true},
		{name: "a queue was enabled", event: events.Mod(&grid.QInstance{Queue: "q", Host: "h1"}), other: true},
		{name: "a queue was changed", event: events.Mod(&grid.CQueue{Name: "q"}), urgent: true},
		{name: "an accounting record", event: events.Add(&grid.Accounting{Job: 1})},
	} {
		s := activity{silent: map[string]bool{}}
		s.noteList(events.List{Events: []events.Event{c.event}}, now)
		got := [4]bool{!s.submitted.IsZero(), !s.finished.IsZero(), !s.other.IsZero(), !s.urgent.IsZero()}
		if want := [4]bool{c.submitted, c.finished, c.other, c.urgent}; got != want {
			t.Errorf("%s: submitted, finished, other, urgent = %v, want %v", c.name, got, want)
		}
	}
}
