package sched_test

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// A job is placed and its place is booked; then there is no room for the same again.
func ExampleCluster_FindPlacement() {
	queue := &grid.CQueue{Name: "all.q", HostList: grid.Names{"node1"}}
	queue.Slots.Value, queue.QType.Value = 1, grid.Names{"BATCH"}
	task := grid.Range{First: 1, Last: 1, Step: 1}
	job := &grid.Job{ID: 1, Owner: "ana", Tasks: task, Pending: grid.Ranges{task}, JobRequest: &grid.JobRequest{}}
	st := state.New()
	st.Apply(events.List{Seq: 1, Events: []events.Event{
		events.Add(
			&grid.Centry{Name: "slots", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "1"}),
		events.Add(&grid.ExecHost{Name: "node1"}),
		events.Add(&grid.Load{Host: "node1", Processors: 1}),
		events.Add(queue),
		events.Add(&grid.QInstance{Queue: "all.q", Host: "node1"}),
		events.Add(job),
	}})

	cluster := sched.NewCluster(st)
	need := cluster.Need(job)
	for range 2 {
		place, reason := cluster.FindPlacement(need, &sched.Cursor{})
		if !reason.Fits() {
			fmt.Println("no place")
			continue
		}
		fmt.Println(place.Slots, "slot of", place.Grants[0].Instance())
		cluster.Book(need, job, place)
	}
	// Output:
	// 1 slot of all.q@node1
	// no place
}
