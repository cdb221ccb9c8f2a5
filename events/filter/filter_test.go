package filter_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/state"
)

// story is a day of a small cell: two jobs, one of them rescheduled, one reason
// for waiting, and what happens beside.
func story() []events.List {
	all := []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}
	fast := []grid.Grant{{Queue: "fast.q", Host: "node2", Slots: 1}}
	request := &grid.JobRequest{}
	one := grid.Ranges{{First: 1, Last: 1, Step: 1}}
	none := grid.Ranges{}
	lists := []events.List{
		{Cause: events.Cause{Who: "alice@h1", What: "qsub"}, Events: []events.Event{
			events.Add(&grid.Job{JobRequest: request, ID: 7, Name: "sim", Owner: "alice", Pending: one})}},
		{Cause: events.Cause{Who: "bob@h1", What: "qsub"}, Events: []events.Event{
			events.Add(&grid.Job{JobRequest: request, ID: 8, Name: "sweep", Owner: "bob", Array: true,
				Pending: grid.Ranges{{First: 1, Last: 3, Step: 1}}})}},
		{Cause: events.Cause{Who: "schedd", What: "orders", Ref: "1"}, Events: []events.Event{
			events.Add(&grid.JATask{Job: 7, ID: 1, Attempt: 1, Status: grid.Transfering, Grants: all}),
			events.Add(&grid.JATask{Job: 8, ID: 2, Attempt: 1, Status: grid.Transfering, Grants: fast}),
			events.Add(&grid.JobScheddInfo{Category: "", Jobs: []uint32{8},
				Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "queue is full"}}})}},
		{Cause: events.Cause{Who: "node1", What: "report"}, Events: []events.Event{
			events.Mod(&grid.JATask{Job: 7, ID: 1, Attempt: 1, Status: grid.Running, Grants: all}),
			events.Add(&grid.Load{Host: "node1"})}},
		{Cause: events.Cause{Who: "root@h1", What: "qmod"}, Events: []events.Event{
			events.Mod(&grid.JATask{Job: 7, ID: 1, Attempt: 1, Status: grid.Idle, Restarted: true}),
			events.Mod(&grid.QInstance{Queue: "all.q", Host: "node1", State: grid.QueueSuspended})}},
		{Cause: events.Cause{Who: "alice@h2", What: "qdel"},
			Events: []events.Event{events.Del(grid.KindJob, grid.Key{ID: 7})}},
		{Cause: events.Cause{Who: "node2", What: "report"}, Events: []events.Event{
			events.Add(&grid.Accounting{Job: 8, Task: 2, Owner: "bob", Queue: "fast.q", Host: "node2"}),
			events.Del(grid.KindJATask, grid.Key{ID: 8, Sub: 2}),
			events.Mod(&grid.Booking{User: "bob"}),
			events.Del(grid.KindJobScheddInfo, grid.Key{}),
			events.Mod(&grid.Job{JobRequest: request, ID: 8, Name: "sweep", Owner: "bob", Array: true, Pending: none})}},
		{Cause: events.Cause{Who: "root@h1", What: "qconf"}, Events: []events.Event{
			events.Add(&grid.AR{ID: 8, Owner: "root"}), events.Mod(&grid.CQueue{Name: "fast.q"})}},
	}
	for i := range lists {
		lists[i].Seq = uint64(i + 1)
	}
	return lists
}

func TestFilter(t *testing.T) {
	datadriven.RunTest(t, "testdata/filter.txt", func(t *testing.T, d *datadriven.TestData) string {
		f, err := filter.Parse(d.Input)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		out := ""
		before := state.New()
		for _, l := range story() {
			var passed events.List
			if f.NeedsState() {
				passed = f.Of(l, before)
			} else {
				passed = f.Of(l, nil)
			}
			out += events.Text(passed)
			before.Apply(l)
		}
		return out
	})
}

func TestLegendKnowsAll(t *testing.T) {
	for _, line := range filter.Legend() {
		if err := new(filter.Filter).Add(line[0], ""); err == nil || strings.Contains(err.Error(), "unknown") {
			t.Errorf("%s without a value: %v", line[0], err)
		}
	}
}
