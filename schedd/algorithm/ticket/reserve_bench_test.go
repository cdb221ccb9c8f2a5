package ticket_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// reserving has a bed make reservations.
func (t *bed) reserving(most uint32) {
	conf := grid.SchedConf{LoadFormula: "np_load_avg", WeightPriority: 1, ScheddJobInfo: "false",
		MaxReservation: most, DefaultDuration: "8:0:0", ScheduleInterval: "0:0:15"}
	if err := t.a.Configure(conf); err != nil {
		panic(err)
	}
	t.apply([]events.Event{events.Mod(&conf),
		events.Add(&grid.Centry{Name: "h_rt", Type: "TIME", Relop: "<=", Requestable: "YES", Consumable: "NO"}),
		events.Add(&grid.PE{Name: "smp", Slots: 1 << 30, AllocationRule: "$pe_slots"}),
		events.Add(&grid.PE{Name: "robin", Slots: 1 << 30, AllocationRule: "$round_robin"})})
	q := *t.queue()
	q.PEList.Value = grid.Names{"mpi", "smp", "robin"}
	q.HRT.Value, q.SRT.Value = "INFINITY", "INFINITY"
	t.apply([]events.Event{events.Mod(&q)})
}

func (t *bed) queue() *grid.CQueue {
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value = 16, grid.Names{"BATCH"}
	for i := range 1000 {
		q.HostList = append(q.HostList, fmt.Sprintf("h%05d", i))
	}
	return q
}

// mixed are jobs of all sizes, from one slot to 1024, from minutes to a day.
func mixed(first uint32, n int, r *rand.Rand) (es []events.Event) {
	for i := range n {
		j := job(first+uint32(i), i, 1)
		seconds := float64(60 * (1 + r.IntN(40)) * (1 + r.IntN(40)))
		j.Hard = grid.Requests{{Name: "mem", Value: "x", Num: float64(int64(1) << (27 + r.IntN(5)))},
			{Name: "h_rt", Value: "x", Num: seconds}}
		j.Reserve = true
		switch size := uint32(1) << r.IntN(11); {
		case size == 1:
		case size <= 16 && i%2 == 0:
			j.PE, j.PERange = "smp", grid.Ranges{{First: size, Last: size, Step: 1}}
		case i%3 == 0:
			j.PE, j.PERange = "robin", grid.Ranges{{First: size, Last: 2 * size, Step: 1}}
		default:
			j.PE, j.PERange = "mpi", grid.Ranges{{First: size, Last: size, Step: 1}}
		}
		es = append(es, events.Add(j))
	}
	return es
}

// nine of ten slots of the bed's cell are taken by tasks that end at random in
// the next minutes.
func (t *bed) mostlyFull(minutes int, r *rand.Rand) {
	var es []events.Event
	for i := range 16_000 {
		j := job(uint32(i+1), i, 1)
		j.Pending = nil
		j.Hard = grid.Requests{{Name: "h_rt", Value: "x", Num: float64(60 * (1 + r.IntN(minutes)))}}
		if i%10 > 0 {
			es = append(es, events.Add(j), events.Add(&grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, Start: t.now,
				Grants: []grid.Grant{{Queue: "all.q", Host: fmt.Sprintf("h%05d", i%1000), Slots: 1}}}))
		}
	}
	t.apply(es)
}

// BenchmarkReserve is a run over a cell in which a tenth of the slots is free,
// before jobs of mixed sizes that all ask for a reservation.
func BenchmarkReserve(b *testing.B) {
	for _, pending := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			t, r := newBed(b, 1000, 0, 1, false), rand.New(rand.NewPCG(1, 1))
			t.reserving(100)
			t.mostlyFull(1440, r)
			t.apply(mixed(100_001, pending, r))
			b.ReportAllocs()
			for b.Loop() {
				if starts(t.decide()) == 0 {
					b.Fatal("nothing starts")
				}
			}
		})
	}
}

// BenchmarkBackfill is a run in which the job at the head waits for the whole
// cell: no other job may start unless it ends before, and none does.
func BenchmarkBackfill(b *testing.B) {
	for _, pending := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			t, r := newBed(b, 1000, 0, 1, false), rand.New(rand.NewPCG(1, 1))
			t.reserving(1)
			t.mostlyFull(5, r)
			head := job(100_000, 0, 1)
			head.PE, head.PERange, head.Reserve = "mpi", grid.Ranges{{First: 16_000, Last: 16_000, Step: 1}}, true
			es := append([]events.Event{events.Add(head)}, mixed(100_001, pending, r)...)
			for _, e := range es[1:] {
				e.Object.(*grid.Job).Hard[1].Num += 600
			}
			t.apply(es)
			b.ReportAllocs()
			for b.Loop() {
				if starts(t.decide()) > 0 {
					b.Fatal("the head is delayed")
				}
			}
		})
	}
}
