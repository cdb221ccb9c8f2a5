package fbsng_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/fbsng"
)

const begin = grid.Time(1_000_000_000)

// farm is 10,000 slots on 625 nodes, 9,000 of them in use, and 100,000 jobs of
// ten projects that ask for fifty different things.
func farm() (conf grid.SchedConf, l events.List) {
	conf = grid.SchedConf{Algorithm: fbsng.Name, LoadFormula: "np_load_avg"}
	es := []events.Event{
		events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "0"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 16, grid.Names{"BATCH"}
	for i := range 625 {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: 16, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	one := grid.Range{First: 1, Last: 1, Step: 1}
	for i := range uint32(109_000) {
		j := &grid.Job{ID: i + 1, Version: 1, Owner: "alice", Submit: grid.Time(1000 + i), Project: fmt.Sprintf("p%d", i%10), Tasks: one, Pending: grid.Ranges{one},
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "x", Num: float64(1<<20 + i%50)}}}}
		es = append(es, events.Listed(j))
		if i < 9000 {
			j.Pending = nil
			es = append(es, events.Listed(&grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, Grants: []grid.Grant{{Queue: "all.q", Host: q.HostList[i%625], Slots: 1}}}))
		}
	}
	return conf, events.List{Seq: 1, At: begin, Events: es}
}

// BenchmarkSwap is a full state and the first run; BenchmarkRun a run that
// starts 1,000 of 100,000 pending jobs.
func BenchmarkSwap(b *testing.B) {
	conf, l := farm()
	for b.Loop() {
		a, err := fbsng.Entry.New(conf)
		if err != nil {
			b.Fatal(err)
		}
		a.Apply(l)
		decide(b, a)
	}
}

func BenchmarkRun(b *testing.B) {
	conf, l := farm()
	a, err := fbsng.Entry.New(conf)
	if err != nil {
		b.Fatal(err)
	}
	a.Apply(l)
	a.Begin()
	for b.Loop() {
		decide(b, a)
	}
}

func decide(b *testing.B, a algorithm.Algorithm) {
	n := 0
	for o := range a.Begin()(algorithm.Run{Number: 1, Now: begin}) {
		if _, ok := o.(*orders.StartJob); ok {
			n++
		}
	}
	if n != 1000 {
		b.Fatalf("%d starts", n)
	}
}
