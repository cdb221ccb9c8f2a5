package jobstory_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/jobstory"
)

// BenchmarkExplain is qmaster's answer why a job waits, from the state and the Cluster that follows it, with their
// copies: 10,000 hosts that are in use, and so many jobs that wait, of 500 requests.
func BenchmarkExplain(b *testing.B) {
	for _, pending := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(pending), func(b *testing.B) {
			st := waitingCell(10_000, pending)
			c := sched.NewCluster(st)
			c.Refresh(st.At)
			b.ReportAllocs()
			for b.Loop() {
				at := st.Copy()
				r := jobstory.Explain(at, c.Copy(at), &gdi.Explain{Job: 77}, at.At, nil)
				if r.Explanation == nil || r.Explanation.Outlook == nil || len(r.Explanation.Outlook.Closest) == 0 {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}

// waitingCell is a cell whose hosts of one slot are in use.
func waitingCell(hosts, pending int) *state.State {
	const now = grid.Time(1_000_000_000)
	one := grid.Range{First: 1, Last: 1, Step: 1}
	es := []events.Event{
		events.Listed(&grid.SchedConf{LoadFormula: "np_load_avg", WeightPriority: 1, ScheddJobInfo: "true"}),
		events.Listed(&grid.Counter{Name: grid.JobSeqNum, Value: uint64(pending) + 1}),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES",
			Default: "0"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 1, grid.Names{"BATCH"}
	var tasks []events.Event
	for i := range hosts {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: 16, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}}))
		tasks = append(tasks, events.Listed(&grid.JATask{Job: 1, ID: uint32(i + 1), Status: grid.Running, Start: now,
			Grants: []grid.Grant{{Queue: "all.q", Host: h, Slots: 1}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	es = append(es, events.Listed(&grid.Job{ID: 1, Version: 1, Owner: "alice", Array: true,
		Tasks: grid.Range{First: 1, Last: uint32(hosts), Step: 1}, JobRequest: new(grid.JobRequest)}))
	es = append(es, tasks...)
	asks := make([]*grid.JobRequest, 500)
	for i := range asks {
		asks[i] = &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "1G", Num: float64(1<<20 + i)}}}
	}
	for i := range pending {
		es = append(es, events.Listed(&grid.Job{ID: uint32(i + 2), Version: 1, Owner: fmt.Sprintf("user%d", i%200),
			Submit: now, Tasks: one, Pending: grid.Ranges{one}, JobRequest: asks[i%len(asks)]}))
	}
	st := state.New()
	st.Apply(events.List{Seq: 1, At: now, Events: es})
	return st
}
