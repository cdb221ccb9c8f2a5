package explain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

const now = grid.Time(1_000_000_000)

// newState is a cell whose hosts of one slot are in use, with jobs of so many distinct requests that wait.
func newState(hosts, pending, kinds int) (*state.State, *sched.Cluster) {
	one := grid.Range{First: 1, Last: 1, Step: 1}
	es := []events.Event{
		events.Listed(&grid.SchedConf{LoadFormula: "np_load_avg", WeightPriority: 1, ScheddJobInfo: "true"}),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem_free", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "disk", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES",
			Default: "0"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES",
			Default: "0"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 1, grid.Names{"BATCH"}
	running := &grid.Job{ID: 1, Version: 1, Owner: "alice", Array: true,
		Tasks: grid.Range{First: 1, Last: uint32(hosts), Step: 1}, JobRequest: new(grid.JobRequest)}
	var tasks []events.Event
	for i := range hosts {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"},
			{Name: "disk", Text: "100G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: 16, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"},
				{Name: "mem_free", Text: "2G"}, {Name: "disk", Text: "10G"}}}))
		tasks = append(tasks, events.Listed(&grid.JATask{Job: 1, ID: uint32(i + 1), Status: grid.Running, Start: now,
			Grants: []grid.Grant{{Queue: "all.q", Host: h, Slots: 1}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	es = append(append(es, events.Listed(running)), tasks...)
	asks := make([]*grid.JobRequest, kinds)
	for i := range asks {
		asks[i] = &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "1G", Num: float64(1<<20 + i)}}}
	}
	for i := range pending {
		es = append(es, events.Listed(&grid.Job{ID: uint32(i + 2), Version: 1, Owner: fmt.Sprintf("user%d", i%200),
			Submit: now, Tasks: one, Pending: grid.Ranges{one}, JobRequest: asks[i%kinds]}))
	}
	st := state.New()
	st.Apply(events.List{Seq: 1, At: now, Events: es})
	c := sched.NewCluster(st)
	c.Refresh(now)
	return st, c
}

// BenchmarkWhy asks about one job of a cell of 10,000 hosts with 100,000 jobs that wait.
func BenchmarkWhy(b *testing.B) {
	st, c := newState(10_000, 100_000, 500)
	j := st.Job(77)
	b.ReportAllocs()
	for b.Loop() {
		if a := explain.New(st, c, now, time.UTC).Why(j, 0); a.First().Kind != explain.Busy {
			b.Fatal(a.Sentence())
		}
	}
}

// BenchmarkGroups asks about all of them.
func BenchmarkGroups(b *testing.B) {
	st, c := newState(10_000, 100_000, 500)
	b.ReportAllocs()
	for b.Loop() {
		if g := explain.New(st, c, now, time.UTC).Groups(nil); len(g) != 1 || g[0].Tasks != 100_000 {
			b.Fatalf("%+v", g)
		}
	}
}

// BenchmarkFeasibility asks of one job after the other whether the cell could ever run it.
func BenchmarkFeasibility(b *testing.B) {
	st, c := newState(10_000, 1000, 500)
	var f explain.Feasibility
	b.ReportAllocs()
	for i := range b.N {
		if why := f.WhyNever(st, c, st.Job(uint32(i%1000+2)), now); why != "" {
			b.Fatal(why)
		}
	}
}
