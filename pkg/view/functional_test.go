package view

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestFunctionals: rows have their part of the shares of their kind, what their jobs hold and the tickets of those; a
// row that has neither shares nor jobs is left out.
func TestFunctionals(t *testing.T) {
	s := state.New()
	job := func(id uint32, owner, project string) *grid.Job {
		return &grid.Job{ID: id, Owner: owner, Project: project, JobRequest: &grid.JobRequest{},
			Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}}
	}
	running := job(1, "alice", "gold")
	running.Pending = nil
	s.Apply(events.List{Seq: 1, Events: []events.Event{
		events.Add(&grid.SchedConf{WeightUser: 0.2, WeightProject: 0.7}), events.Add(&grid.Project{Name: "gold", FShare: 30}),
		events.Add(&grid.Project{Name: "tin", FShare: 10}),
		events.Add(&grid.Project{Name: "idle"}), events.Add(&grid.Userset{Name: "list", Type: "ACL", FShare: 5}),
		events.Add(running), events.Add(job(2, "bob", "")),
		events.Add(&grid.JATask{Job: 1, ID: 1, Status: grid.Running, Grants: []grid.Grant{{Queue: "q", Host: "h", Slots: 3}},
			FTickets: 40}),
		events.Add(&grid.Priority{Job: 2, FTickets: 2}),
	}})
	got := ""
	for _, f := range Functionals(s) {
		got += fmt.Sprintf("%s %s: %d shares of weight %g, part %g, %d jobs, %d slots, %g tickets, %g next\n",
			grid.SpecOf(f.Kind).Name, f.Name, f.Shares, f.Weight, f.Part, f.Jobs, f.Slots, f.Tickets, f.Next)
	}
	const want = `USER alice: 0 shares of weight 0.2, part 0, 1 jobs, 3 slots, 40 tickets, 0 next
USER bob: 0 shares of weight 0.2, part 0, 1 jobs, 0 slots, 0 tickets, 2 next
PROJECT gold: 30 shares of weight 0.7, part 0.75, 1 jobs, 3 slots, 40 tickets, 0 next
PROJECT tin: 10 shares of weight 0.7, part 0.25, 0 jobs, 0 slots, 0 tickets, 0 next
`
	if got != want {
		t.Errorf("%s", got)
	}
}
