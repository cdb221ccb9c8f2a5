package scoot

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// fullState is a cell of 10,000 slots and plain pending jobs of 50 kinds and
// eight classes. A thousand slots are free.
func fullState(pending int) events.List {
	conf := grid.SchedConf{Algorithm: Name, LoadFormula: "np_load_avg", ScheddJobInfo: "true"}
	es := []events.Event{events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "0"})}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 10, grid.Names{"BATCH"}
	for i := range 1000 {
		h := fmt.Sprintf("h%04d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: 16, Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%04d", i%997)}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	owners := [...]string{"land", "diff", "regression", "sandbox", "ktf", "coverage", "tryout", "other"}
	add := func(id int, pending grid.Ranges) {
		es = append(es, events.Listed(&grid.Job{ID: uint32(id), Version: 1, Owner: fmt.Sprint(owners[id%8], id%200), Submit: grid.Time(1000 + id),
			Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Pending: pending,
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "x", Num: float64(1<<20 + id%50)}}}}))
	}
	for i := range pending {
		add(i+1, grid.Ranges{{First: 1, Last: 1, Step: 1}})
	}
	for i := range 9000 {
		add(pending+i+1, nil)
	}
	for i := range 9000 {
		es = append(es, events.Listed(&grid.JATask{Job: uint32(pending + i + 1), ID: 1, Attempt: 1, Status: grid.Running,
			Grants: []grid.Grant{{Queue: "all.q", Host: q.HostList[i%1000], Slots: 1}}, Start: epoch}))
	}
	return events.List{Seq: 1, At: epoch, Events: es}
}

func count(d algorithm.Decider[*Model], m *Model) (starts int) {
	for o := range d.Decide(algorithm.Run{Number: 1, Now: epoch}, m) {
		if _, ok := o.(*orders.StartJob); ok {
			starts++
		}
	}
	return starts
}

// BenchmarkRun is a run that starts a thousand of 100,000 pending tasks.
func BenchmarkRun(b *testing.B) {
	m := NewModel()
	m.Apply(fullState(100_000))
	d, _ := New(*m.State.SchedConf())
	m.Copy()
	for b.Loop() {
		if n := count(d, m.Copy()); n != 1000 {
			b.Fatalf("%d starts", n)
		}
	}
}

// BenchmarkSwap is what a change to this algorithm takes: the full state and
// the first run.
func BenchmarkSwap(b *testing.B) {
	l := fullState(100_000)
	for b.Loop() {
		m := NewModel()
		m.Apply(l)
		d, _ := New(*m.State.SchedConf())
		if n := count(d, m.Copy()); n != 1000 {
			b.Fatalf("%d starts", n)
		}
	}
}
