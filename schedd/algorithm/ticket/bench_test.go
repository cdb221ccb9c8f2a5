package ticket_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// bed is a model of a large cell: hosts of 16 slots, pending jobs of `kinds`
// distinct requests from 200 users.
type bed struct {
	a    algorithm.Algorithm
	seq  uint64
	runs uint64
	now  grid.Time
}

func newBed(b testing.TB, hosts, pending, kinds int, adjust bool) *bed {
	conf := grid.SchedConf{LoadFormula: "np_load_avg", WeightPriority: 1, ScheddJobInfo: "true"}
	if adjust {
		conf.JobLoadAdjustments = grid.Values{{Name: "np_load_avg", Text: "0.50"}}
		conf.LoadAdjustmentDecayTime = "0:7:30"
	}
	a, err := ticket.Entry.New(conf)
	if err != nil {
		b.Fatal(err)
	}
	t := &bed{a: a, now: 1_000_000_000}
	es := []events.Event{
		events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"}),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"}),
		events.Listed(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0"}),
		events.Listed(&grid.Centry{Name: "arch", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO"}),
		events.Listed(&grid.PE{Name: "mpi", Slots: 1 << 30, AllocationRule: "$fill_up"}),
	}
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value, q.PEList.Value = 16, grid.Names{"BATCH"}, grid.Names{"mpi"}
	for i := range hosts {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		es = append(es, events.Listed(&grid.ExecHost{Name: h, ComplexValues: grid.Values{{Name: "mem", Text: "64G"}}}),
			events.Listed(&grid.Load{Host: h, Processors: 16,
				Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%04d", i%997)}, {Name: "arch", Text: "lx-amd64"}}}))
	}
	es = append(es, events.Listed(q))
	for _, h := range q.HostList {
		es = append(es, events.Listed(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	for i := range pending {
		es = append(es, events.Listed(job(uint32(i+1), i, kinds)))
	}
	t.seq = 1
	a.Apply(events.List{Seq: t.seq, At: t.now, Events: es})
	return t
}

func job(id uint32, i, kinds int) *grid.Job {
	mem := float64(1<<20 + i%kinds)
	return &grid.Job{ID: id, Version: 1, Owner: fmt.Sprintf("user%d", i%200), Submit: grid.Time(1000 + i),
		Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}},
		JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "x", Num: mem}, {Name: "arch", Value: "lx-*"}}}}
}

// decide runs once and returns the orders.
func (t *bed) decide() (list []orders.Order) {
	t.runs++
	for o := range t.a.Begin()(algorithm.Run{Number: t.runs, Now: t.now}) {
		list = append(list, o)
	}
	return list
}

// follow applies starts as events, in one list.
func (t *bed) follow(list []orders.Order) {
	var es []events.Event
	for _, o := range list {
		switch o := o.(type) {
		case *orders.StartJob:
			es = append(es,
				events.Add(&grid.JATask{Job: o.Job, ID: o.Task, Status: grid.Running, Grants: o.Grants, Start: t.now, PE: o.PE}))
		case *orders.JobScheddInfo:
			es = append(es, events.Mod(&o.Info))
		}
	}
	t.apply(es)
}

func (t *bed) apply(es []events.Event) {
	t.seq++
	t.a.Apply(events.List{Seq: t.seq, At: t.now, Events: es})
}

func starts(list []orders.Order) (n int) {
	for _, o := range list {
		if _, ok := o.(*orders.StartJob); ok {
			n++
		}
	}
	return n
}

// fill starts jobs until the cell is full.
func (t *bed) fill() {
	for list := t.decide(); starts(list) > 0; list = t.decide() {
		t.follow(list)
	}
}

var sizes = []struct{ hosts, pending, kinds int }{
	{1000, 10_000, 50}, {1000, 100_000, 50}, {1000, 100_000, 500}, {10_000, 1_000_000, 500},
}

func eachSize(b *testing.B, f func(b *testing.B, hosts, pending, kinds int)) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("hosts=%d/pending=%d/kinds=%d", s.hosts, s.pending, s.kinds), func(b *testing.B) {
			if testing.Short() && s.pending > 100_000 {
				b.Skip("-short")
			}
			f(b, s.hosts, s.pending, s.kinds)
		})
	}
}

// BenchmarkIdle is a run with nothing free.
func BenchmarkIdle(b *testing.B) {
	eachSize(b, func(b *testing.B, hosts, pending, kinds int) {
		t := newBed(b, hosts, pending+hosts*16, kinds, false)
		t.fill()
		b.ReportAllocs()
		for b.Loop() {
			t.decide()
		}
	})
}

// BenchmarkRefill is the run after 1000 tasks have ended: it starts 1000.
func BenchmarkRefill(b *testing.B) {
	eachSize(b, func(b *testing.B, hosts, pending, kinds int) {
		t := newBed(b, hosts, pending+hosts*16, kinds, false)
		t.fill()
		var es []events.Event
		for i := range uint32(1000) {
			id := 1 + i*uint32(hosts*16/1000)
			es = append(es, events.Del(grid.KindJATask, grid.Key{ID: id, Sub: 1}), events.Del(grid.KindJob, grid.Key{ID: id}))
		}
		t.apply(es)
		b.ReportAllocs()
		for b.Loop() {
			if n := starts(t.decide()); n != 1000 {
				b.Fatalf("%d started", n)
			}
		}
	})
}

// BenchmarkFill is the first run of an empty cell: it starts 16 on each host.
func BenchmarkFill(b *testing.B) {
	for _, adjust := range []bool{false, true} {
		b.Run(fmt.Sprintf("adjust=%v", adjust), func(b *testing.B) {
			eachSize(b, func(b *testing.B, hosts, pending, kinds int) {
				t := newBed(b, hosts, pending+hosts*16, kinds, adjust)
				t.a.Begin() // settle
				b.ReportAllocs()
				for b.Loop() {
					if n := starts(t.decide()); n != hosts*16 {
						b.Fatalf("%d started", n)
					}
				}
				b.ReportMetric(float64(hosts*16)*float64(b.N)/b.Elapsed().Seconds(), "starts/s")
			})
		})
	}
}

// BenchmarkOne is the immediate mode's daily bread: one job comes, one starts,
// while many others wait that fit nowhere.
func BenchmarkOne(b *testing.B) {
	t := newBed(b, 1000, 100_000, 50, false)
	t.fill()
	t.apply(
		[]events.Event{events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: 1}), events.Del(grid.KindJob, grid.Key{ID: 1})})
	b.ReportAllocs()
	for b.Loop() {
		if n := starts(t.decide()); n != 1 {
			b.Fatalf("%d started", n)
		}
	}
}

// BenchmarkParallel places a job of 10,000 slots on 1000 hosts.
func BenchmarkParallel(b *testing.B) {
	t := newBed(b, 1000, 0, 1, false)
	t.apply(
		[]events.Event{events.Add(
			&grid.Job{ID: 1, JobRequest: &grid.JobRequest{PE: "mpi", PERange: grid.Ranges{{First: 100, Last: 10_000, Step: 1}}},
				Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}})})
	b.ReportAllocs()
	for b.Loop() {
		if n := starts(t.decide()); n != 1 {
			b.Fatal("not started")
		}
	}
}

// BenchmarkEvents is what following a start and an end costs.
func BenchmarkEvents(b *testing.B) {
	t := newBed(b, 1000, 100_000, 50, false)
	t.a.Begin()
	id := uint32(200_000)
	b.ReportAllocs()
	for b.Loop() {
		id++
		j := job(id, int(id), 50)
		task := &grid.JATask{Job: id, ID: 1, Status: grid.Running, Start: t.now,
			Grants: []grid.Grant{{Queue: "all.q", Host: "h00001", Slots: 1}}}
		t.apply([]events.Event{events.Add(j)})
		t.apply([]events.Event{events.Add(task)})
		t.apply([]events.Event{events.Del(grid.KindJATask, task.Key()), events.Del(grid.KindJob, j.Key())})
	}
}

// BenchmarkBlocked is a run over half-empty hosts on which none of 500 waiting
// categories fits, after some hosts have reported their load. With load adjustments tasks
// started on all of them, at last some minutes ago.
func BenchmarkBlocked(b *testing.B) {
	for _, adjust := range []bool{false, true} {
		for _, reports := range []int{1, 400} {
			b.Run(fmt.Sprintf("adjust=%v/reports=%d", adjust, reports), func(b *testing.B) { blocked(b, adjust, reports) })
		}
	}
}

func blocked(b *testing.B, adjust bool, reports int) {
	t := newBed(b, 1000, 1000*8, 1, adjust)
	t.follow(t.decide())
	t.now = t.now.Add(300)
	var es []events.Event
	for i := range 50_000 {
		j := job(uint32(i+10_001), i, 500)
		j.Hard[0].Num += 64 << 30
		es = append(es, events.Add(j))
	}
	t.apply(es)
	t.follow(t.decide())
	h := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		t.now = t.now.Add(1)
		for range reports {
			h++
			l := &grid.Load{Host: fmt.Sprintf("h%05d", h%1000), Processors: 16,
				Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%03d", h%997)}, {Name: "arch", Text: "lx-amd64"}}}
			t.apply([]events.Event{events.Mod(l)})
		}
		if n := starts(t.decide()); n != 0 {
			b.Fatal(n)
		}
	}
}
