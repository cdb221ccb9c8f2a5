package events_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
)

func TestText(t *testing.T) {
	r := func(first, last uint32) grid.Ranges { return grid.Ranges{{First: first, Last: last, Step: 1}} }
	l := events.List{Seq: 5, Events: []events.Event{
		events.Add(&grid.Job{JobRequest: &grid.JobRequest{}, ID: 1, Name: "sleep", Owner: "alice", Pending: r(1, 1)}),
		events.Mod(&grid.Job{ID: 2, Version: 3, Name: "a b", Owner: "bob", Array: true, Pending: r(1, 9),
			UserHold: r(1, 9), Priority: -5,
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: "60"}}, PE: "mpi",
				PERange: grid.Ranges{{First: 4, Last: grid.Open, Step: 1}}, PredecessorReq: grid.Names{"1", "pre*"}},
			Predecessors: []uint32{1}, Concurrency: 2}),
		events.Mod(&grid.Job{JobRequest: &grid.JobRequest{}, ID: 3, Name: "x", Owner: "bob"}),
		events.Add(&grid.JATask{Job: 1, ID: 1, Attempt: 1, Status: grid.Transfering, State: grid.StateRunning,
			Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}),
		events.Mod(
			&grid.JATask{Job: 1, ID: 1, Attempt: 2, Status: grid.Running, State: grid.StateSuspended | grid.StateDeleted,
				PE: "mpi", Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}, {Queue: "all.q", Host: "h2", Slots: 1}},
				Usage: grid.Usage{CPU: 1.5}}),
		events.Mod(&grid.JATask{Job: 1, ID: 1, State: grid.StateQueued | grid.StateWaiting | grid.StateError, Restarted: true,
			Error: "no such directory"}),
		events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: 1}),
		events.Add(&grid.Accounting{Job: 1, Task: 1, Owner: "alice", Queue: "all.q", Host: "h1", Start: 1000,
			End: 3500, ExitStatus: 1}),
		events.Mod(&grid.Load{Host: "h1", Processors: 2,
			Values: grid.Values{{Name: "np_load_avg", Text: "0.5"}, {Name: "arch", Text: "lx"}}}),
		events.Add(&grid.QInstance{Queue: "all.q", Host: "h1", State: grid.QueueError | grid.QueueDisabled,
			Message: "it failed"}),
		events.Listed(&grid.CQueue{Name: "all.q", HostList: grid.Names{"@all"},
			Slots: grid.PerHost[int32]{Value: 1, At: []grid.At[int32]{{Target: "h1", Value: 4}}}}),
		events.Add(&grid.Manager{Name: "root"}),
		events.Add(&grid.Counter{Name: grid.JobSeqNum, Value: 7}),
	}}
	want := `
5 JOB_ADD 1 name=sleep owner=alice
5 JOB_MOD 2 name="a b" owner=bob pending=1-9:1 tc=2 priority=-5 hold_u=1-9:1 hard=h_rt=60 pe=mpi:4- hold_jid=1,pre* waits_for=1 version=3
5 JOB_MOD 3 name=x owner=bob pending=none
5 JATASK_ADD 1.1 state=transfering queue=all.q@h1
5 JATASK_MOD 1.1 state=running flags=ds queues=all.q@h1=2,all.q@h2=1 pe=mpi attempt=2 cpu=1.5
5 JATASK_MOD 1.1 state=idle flags=E restarted error="no such directory"
5 JATASK_DEL 1.1
5 ACCOUNTING_ADD 1.1 owner=alice queue=all.q@h1 exit_status=1 wallclock=2.5
5 LOAD_MOD h1 processors=2 np_load_avg=0.5
5 QINSTANCE_ADD all.q@h1 state=dE message="it failed"
5 CQUEUE_LIST all.q hostlist=@all slots=1,[h1=4]
5 MANAGER_ADD root
5 COUNTER_ADD jobseqnum value=7
`
	got, lines := strings.Split(events.Text(l), "\n"), strings.Split(want[1:], "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want[1:])
		}
	}
}

// TestEveryKindPrints prints an empty object of each kind, and one of which every field
// has a value.
func TestEveryKindPrints(t *testing.T) {
	l := events.List{Seq: 1}
	for _, s := range grid.Kinds {
		full := s.New()
		new(madeup.Filler).Fill(full)
		l.Events = append(l.Events, events.Add(s.New()), events.Mod(full), events.Del(s.Kind, full.Key()))
	}
	datadriven.RunTest(t, "testdata/kinds.txt", func(t *testing.T, d *datadriven.TestData) string {
		return events.Text(l)
	})
}
