package algorithmtest

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
	"github.com/quill-grid/quill/schedd/model"
)

// TestPlantedOverBooking runs the laws on an algorithm that starts one task more
// in a queue instance that is full.
func TestPlantedOverBooking(t *testing.T) {
	faulty := algorithm.Pair(roundrobin.Name, roundrobin.NewModel,
		func(conf grid.SchedConf) (algorithm.Decider[*roundrobin.Model], error) {
			d, err := roundrobin.New(conf)
			return overBooker{d}, err
		})
	for seed := range uint64(5) {
		if broken := brokenLaw(func(f failer) { runSeed(f, roundrobin.Entry, seed, nil) }); broken != "" {
			t.Errorf("seed %d: without the fault: %s", seed, broken)
		}
		broken := brokenLaw(func(f failer) { runSeed(f, faulty, seed, nil) })
		if !strings.Contains(broken, "refused start_job") &&
			!strings.Contains(broken, "a place is free: false, orders: [start_job") {
			t.Errorf("seed %d: the over-booking is not found: %q", seed, broken)
		}
	}
}

// TestOverBookedCounts holds two tasks against one slot, which no check of
// orders has seen.
func TestOverBookedCounts(t *testing.T) {
	c, err := NewHarness(roundrobin.Entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"sched", "complex slots INT <= YES YES 1", "host h1", "queue all.q hosts=h1 slots=1",
		"submit 1", "submit 2"} {
		if err := c.Do(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	for job := range uint32(2) {
		if over := c.OverBooked(); len(over) > 0 {
			t.Errorf("%d tasks: over-booked %v", job, over)
		}
		c.Apply(events.Add(
			&grid.JATask{Job: job + 1, ID: 1, Attempt: 1, Status: grid.Running, State: grid.StateRunning, Start: c.Now,
				Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}))
	}
	if over := c.OverBooked(); len(over) == 0 {
		t.Error("two tasks in one slot are not found")
	}
}

// TestPlantedLateness runs the laws on an algorithm that does not see that the time of a job has come.
func TestPlantedLateness(t *testing.T) {
	faulty := algorithm.Pair(roundrobin.Name, roundrobin.NewModel,
		func(conf grid.SchedConf) (algorithm.Decider[*roundrobin.Model], error) {
			d, err := roundrobin.New(conf)
			return latecomer{d}, err
		})
	for seed := range uint64(5) {
		if broken := brokenLaw(func(f failer) {
			runSeed(f, faulty, seed, nil)
		}); !strings.Contains(broken, "a place is free: true, orders: []") {
			t.Errorf("seed %d: the lateness is not found: %q", seed, broken)
		}
	}
}

// TestPlantedUnpublished runs the laws on an algorithm that publishes all reservations of a run but one.
func TestPlantedUnpublished(t *testing.T) {
	faulty := algorithm.Pair(ticket.Entry.Name, model.New,
		func(conf grid.SchedConf) (algorithm.Decider[*model.Model], error) {
			d, err := ticket.New(conf)
			return concealer{d}, err
		})
	found := 0
	for seed := range uint64(12) {
		switch broken := brokenLaw(func(f failer) { runSeed(f, faulty, seed, nil) }); {
		case strings.Contains(broken, "is not published"), strings.Contains(broken, "is published as"):
			found++
		case broken != "":
			t.Errorf("seed %d: %s", seed, broken)
		}
	}
	if found == 0 {
		t.Error("the reservation that is left out is not found")
	}
}

// concealer leaves out the first reservation of a run.
type concealer struct {
	algorithm.Decider[*model.Model]
}

func (d concealer) Decide(r algorithm.Run, m *model.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		concealed := false
		for o := range d.Decider.Decide(r, m) {
			if p, is := o.(*orders.JobReservation); is && len(p.Grants) > 0 && !concealed {
				concealed = true
				continue
			}
			if !yield(o) {
				return
			}
		}
	}
}

// latecomer decides as if it were a second earlier.
type latecomer struct {
	algorithm.Decider[*roundrobin.Model]
}

func (d latecomer) Decide(r algorithm.Run, m *roundrobin.Model) iter.Seq[orders.Order] {
	r.Now = r.Now.Add(-1)
	return d.Decider.Decide(r, m)
}

// overBooker starts what its decider starts, and then a task that waits where
// another one runs and no slot is free.
type overBooker struct {
	algorithm.Decider[*roundrobin.Model]
}

func (d overBooker) Decide(r algorithm.Run, m *roundrobin.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		decided := map[uint32]bool{}
		for o := range d.Decider.Decide(r, m) {
			if s, ok := o.(*orders.StartJob); ok {
				decided[s.Job] = true
			}
			if !yield(o) {
				return
			}
		}
		if s := oneTooMany(m, decided); s != nil {
			if r.Monitor != nil {
				r.Monitor(fmt.Sprintf("%d:%d:STARTING:0:0:Q:%s:slots:1", s.Job, s.Task, s.Grants[0].Instance()))
			}
			yield(s)
		}
	}
}

// oneTooMany is a start in a full queue instance of a job that could run there.
func oneTooMany(m *roundrobin.Model, decided map[uint32]bool) (start *orders.StartJob) {
	free := map[int]bool{}
	for _, i := range m.Cluster.Open() {
		free[i] = true
	}
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if !t.HoldsSlots() || len(t.Grants) != 1 || free[m.Cluster.InstanceOf(t.Grants[0])] {
			return true
		}
		m.State.Each(grid.KindJob, func(o grid.Object) bool {
			j := o.(*grid.Job)
			next := j.Eligible().First()
			if j.Array || j.Immediate || j.PE != "" || j.AR != 0 || next == 0 || decided[j.ID] || len(j.Predecessors) > 0 ||
				j.ExecTime > m.State.At {
				return true
			}
			g := grid.Grant{Queue: t.Grants[0].Queue, Host: t.Grants[0].Host, Slots: 1}
			start = &orders.StartJob{Job: j.ID, Task: next, JobVersion: j.Version, Grants: []grid.Grant{g},
				QueueVersions: []uint32{m.State.CQueue(g.Queue).Version}}
			return false
		})
		return start == nil
	})
	return start
}

// brokenLaw runs laws and returns what they fail with, "" when they hold.
func brokenLaw(laws func(failer)) (broken string) {
	defer func() {
		if p := recover(); p != nil {
			broken = string(p.(failed))
		}
	}()
	laws(catcher{})
	return ""
}

// catcher ends a law at its first failure with a panic.
type catcher struct{}

type failed string

func (catcher) Helper()                      {}
func (catcher) Fatal(a ...any)               { panic(failed(fmt.Sprint(a...))) }
func (catcher) Fatalf(f string, args ...any) { panic(failed(fmt.Sprintf(f, args...))) }
