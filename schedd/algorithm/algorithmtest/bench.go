package algorithmtest

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Farm is the full state of a large cell under a configuration: 10,000 slots
// on 625 hosts, 9,000 of them in use, and 100,000 pending jobs of 200 owners
// and ten projects that ask for fifty different things.
func Farm(conf grid.SchedConf) events.List {
	conf.LoadFormula = "np_load_avg"
	es := []events.Event{
		events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 16, grid.Names{"BATCH"}
	for i := range 625 {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(
				&grid.Load{Host: h, Processors: 16, Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%04d", i)}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	one := grid.Range{First: 1, Last: 1, Step: 1}
	for i := range uint32(109_000) {
		j := &grid.Job{ID: i + 1, Version: 1, Owner: fmt.Sprintf("user%d", i%200), Project: fmt.Sprintf("p%d", i%10),
			Submit: grid.Time(1000 + i),
			Tasks:  one, Pending: grid.Ranges{one},
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "x", Num: float64(1<<20 + i%50)}}}}
		if es = append(es, events.Listed(j)); i < 9000 {
			j.Pending = nil
			es = append(es, events.Listed(&grid.JATask{Job: j.ID, ID: 1, Attempt: 1, Status: grid.Running, Start: Begin,
				Grants: []grid.Grant{{Queue: "all.q", Host: q.HostList[i%625], Slots: 1}}}))
		}
	}
	return events.List{Seq: 1, At: Begin, Events: es}
}

// BenchmarkRun is a run on the Farm that starts 1,000 tasks.
func BenchmarkRun(b *testing.B, e algorithm.Entry, conf grid.SchedConf) {
	a := onFarm(b, e, conf, Farm(conf))
	a.Begin()
	for b.Loop() {
		thousand(b, a)
	}
}

// BenchmarkSwap is what a change to an algorithm takes: the full state of the
// Farm and the first run.
func BenchmarkSwap(b *testing.B, e algorithm.Entry, conf grid.SchedConf) {
	l := Farm(conf)
	for b.Loop() {
		thousand(b, onFarm(b, e, conf, l))
	}
}

func onFarm(b *testing.B, e algorithm.Entry, conf grid.SchedConf, l events.List) algorithm.Algorithm {
	a, err := e.New(conf)
	if err != nil {
		b.Fatal(err)
	}
	a.Apply(l)
	return a
}

func thousand(b *testing.B, a algorithm.Algorithm) {
	n := 0
	for o := range a.Begin()(algorithm.Run{Number: 1, Now: Begin}) {
		if o.Type() == orders.TypeStartJob {
			n++
		}
	}
	if n != 1000 {
		b.Fatalf("%d starts", n)
	}
}
