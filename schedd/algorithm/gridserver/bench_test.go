package gridserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
)

// bed is a cell of 1,000 hosts with 10 slots each and 100,000 pending tasks,
// in jobs of one task or in arrays.
type bed struct {
	a     algorithm.Algorithm
	seq   uint64
	runs  uint64
	now   grid.Time
	tasks [][2]uint32 // started, oldest first
}

var beds = []struct {
	name    string
	tasks   uint32 // of a job
	section []grid.Param
}{
	{"priority/jobs", 1, nil},
	{"priority/arrays", 100, nil},
	{"aggregated/jobs", 1, []grid.Param{{Name: "priority_aggregation", Text: "true"}}},
	{"serial/jobs", 1, []grid.Param{{Name: "serial_service", Text: "true"}}},
	{"sla/jobs", 1, []grid.Param{{Name: "mode", Text: "sla"}, {Name: "sla_groups", Text: "p0=0.4,p1=0.3,p2=0.2"}}},
	{"sla/arrays", 100, []grid.Param{{Name: "mode", Text: "sla"}, {Name: "sla_groups", Text: "p0=0.4,p1=0.3,p2=0.2"}}},
}

const (
	hosts   = 1000
	slots   = 10
	pending = 100_000
)

// fullState is what a scheduler that registers is sent.
func fullState(tasks uint32, section []grid.Param) []events.Event {
	conf := grid.SchedConf{Algorithm: gridserver.Name, LoadFormula: "np_load_avg", ScheddJobInfo: "true",
		Sections: []grid.Section{{Algorithm: gridserver.Name, Params: section}}}
	es := []events.Event{
		events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = slots, grid.Names{"BATCH"}
	for i := range hosts {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: slots, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	for i := range uint32(pending) / tasks {
		r := grid.Range{First: 1, Last: tasks, Step: 1}
		es = append(es,
			events.Listed(&grid.Job{ID: i + 1, Version: 1, Owner: fmt.Sprintf("user%d", i%200), Project: fmt.Sprintf("p%d", i%3),
				Priority: int16(i%5) - 2, Submit: grid.Time(1_000_000 + i), Array: tasks > 1, Tasks: r, Pending: grid.Ranges{r},
				JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "x", Num: float64(1<<20 + i%50)}}}}))
	}
	return es
}

func register(b testing.TB, full []events.Event) *bed {
	a, err := gridserver.Entry.New(*full[0].Object.(*grid.SchedConf))
	if err != nil {
		b.Fatal(err)
	}
	t := &bed{a: a, now: 2_000_000}
	t.apply(full)
	return t
}

func (t *bed) apply(es []events.Event) {
	t.seq++
	t.a.Apply(events.List{Seq: t.seq, At: t.now, Events: es})
}

func (t *bed) decide() (list []orders.Order) {
	t.runs++
	for o := range t.a.Begin()(algorithm.Run{Number: t.runs, Now: t.now}) {
		list = append(list, o)
	}
	return list
}

// follow applies orders as events, in one list.
func (t *bed) follow(list []orders.Order) (starts int) {
	var es []events.Event
	store := func(states []grid.AlgorithmState) {
		for i := range states {
			if s := &states[i]; len(s.Values) == 0 {
				es = append(es, events.Del(grid.KindAlgorithmState, s.Key()))
			} else {
				es = append(es, events.Mod(s))
			}
		}
	}
	for _, o := range list {
		switch o := o.(type) {
		case *orders.StartJob:
			starts++
			store(o.States)
			es = append(
				es, events.Add(&grid.JATask{Job: o.Job, ID: o.Task, Status: grid.Running, Grants: o.Grants, Start: t.now}))
			t.tasks = append(t.tasks, [2]uint32{o.Job, o.Task})
		case *orders.StoreState:
			store(o.States)
		case *orders.JobScheddInfo:
			es = append(es, events.Mod(&o.Info))
		}
	}
	t.apply(es)
	return starts
}

// finish ends the tasks that were started first.
func (t *bed) finish(n int) {
	var es []events.Event
	for _, k := range t.tasks[:n] {
		es = append(es, events.Del(grid.KindJATask, grid.Key{ID: k[0], Sub: k[1]}))
	}
	t.tasks = t.tasks[n:]
	t.apply(es)
}

// BenchmarkRun is a run that starts 1,000 tasks while 9,000 run.
func BenchmarkRun(b *testing.B) {
	for _, kind := range beds {
		b.Run(kind.name, func(b *testing.B) {
			var t *bed
			waiting := 0
			for b.Loop() {
				b.StopTimer()
				if waiting < 1000 { // a new cell, filled
					t = register(b, fullState(kind.tasks, kind.section))
					waiting = pending - t.follow(t.decide())
				}
				t.now += 5000
				t.finish(1000)
				b.StartTimer()
				list := t.decide()
				b.StopTimer()
				if n := t.follow(list); n != 1000 {
					b.Fatalf("%d starts", n)
				}
				waiting -= 1000
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSwap is the way to the first orders: a new model, the full state,
// a run.
func BenchmarkSwap(b *testing.B) {
	for _, kind := range beds {
		b.Run(kind.name, func(b *testing.B) {
			full := fullState(kind.tasks, kind.section)
			for b.Loop() {
				began := time.Now()
				t := register(b, full)
				applied := time.Since(began)
				list := t.decide()
				b.ReportMetric(float64(applied.Milliseconds()), "told-ms")
				if len(list) < hosts*slots {
					b.Fatalf("%d orders", len(list))
				}
			}
		})
	}
}
