package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// TestMadeUpWords has execution daemons and schedulers of another version, or
// with a bug, say what they like between what is right. The laws:
//
//	nothing ends qmaster, and no step makes more events than its cell has objects
//	a state that is built from the lists equals the live one
//	no queue instance is over-booked, and no task has a grant of nothing
//	an order that is refused changes nothing, one that comes again neither
//	what is kept of jobs, users and hosts are numbers
func TestMadeUpWords(t *testing.T) {
	testkit.EachSeed(t, 200, func(t *testing.T, seed uint64) {
		w := newMadeUpCell(t, seed)
		for range 100 {
			w.turn()
		}
		w.checkReplay()
	})
}

// madeUpCell is a cell of two hosts and an advance reservation, where jobs come
// and go meanwhile.
type madeUpCell struct {
	*harness
	madeUp
}

func newMadeUpCell(t *testing.T, seed uint64) *madeUpCell {
	w := &madeUpCell{&harness{t: t, now: 1_700_000_000_000}, newMadeUp(rand.New(rand.NewPCG(seed, 11)))}
	arg := func(key string, vals ...string) datadriven.CmdArg { return datadriven.CmdArg{Key: key, Vals: vals} }
	w.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{
		arg("hosts", "h1", "h2"), arg("slots", "2"), arg("pe", "control_slaves", "accounting_summary"), arg("rerun"),
	}})
	w.ask(&gdi.Add{Objects: []grid.Object{&grid.User{Name: "alice"}, &grid.Project{Name: "p"}}})
	w.ask(&gdi.Reserve{AR: &grid.AR{Name: "ar", XACL: grid.Names{""}, Start: w.now, End: w.now.Add(1000), PE: "mpi",
		PERange: grid.Ranges{{First: 1, Last: 1, Step: 1}}}})
	return w
}

func (w *madeUpCell) ask(b gdi.Body) { w.askAs("root", b) }

func (w *madeUpCell) askAs(user string, b gdi.Body) {
	w.ref++
	w.runInput(UserRequest{Ref: w.ref, Request: gdi.Request{User: user, Group: "users", Host: "m", Command: "x", Body: b}})
}

// runInput runs one input and checks the laws.
func (w *madeUpCell) runInput(in Input) Ready {
	objects := 0
	for _, k := range grid.Kinds {
		objects += w.core.state.Len(k.Kind)
	}
	r := w.core.Step(w.now, in)
	w.keep(r)
	if n := len(r.List.Events); n > objects {
		w.t.Fatalf("%d events of %+v", n, in)
	}
	for _, e := range r.List.Events {
		switch o := e.Object.(type) {
		case *grid.JATask, *grid.PETask, *grid.Booking, *grid.Accounting, *grid.Priority, *grid.PriorityRange:
			if !numbers(reflect.ValueOf(o)) {
				w.t.Fatalf("%+v of %+v", o, in)
			}
		}
	}
	w.notOverBooked(in)
	return r
}

// numbers reports whether a value's numbers all are.
func numbers(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || numbers(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !numbers(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !numbers(v.Index(i)) {
				return false
			}
		}
	case reflect.Float32, reflect.Float64:
		return !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0)
	}
	return true
}

func (w *madeUpCell) notOverBooked(in Input) {
	used := map[string]int{}
	for _, t := range there[*grid.JATask](w, grid.KindJATask) {
		if t.Started() != (len(t.Grants) > 0) {
			w.t.Fatalf("%v has grants %v: %+v", t.Key(), t.Grants, in)
		}
		for _, g := range t.Grants {
			if g.Slots == 0 {
				w.t.Fatalf("%v has a grant of nothing: %+v", t.Key(), in)
			}
			if !t.Preempted() {
				used[g.Instance()] += int(g.Slots)
			}
		}
	}
	for name, n := range used {
		if n > 2 {
			w.t.Fatalf("%d slots of %s are used: %+v", n, name, in)
		}
	}
}

func there[T grid.Object](w *madeUpCell, k grid.Kind) (out []T) {
	w.core.state.Each(k, func(o grid.Object) bool { out = append(out, o.(T)); return true })
	return out
}

func (w *madeUpCell) turn() {
	w.now = w.now.Add(float64(w.Dice.IntN(3)))
	switch n := w.Dice.IntN(30); {
	case n < 4:
		w.submit()
	case n < 8:
		w.startTask()
	case n < 16:
		w.orders()
	case n < 24:
		w.runInput(Report{Report: w.report()})
	case n == 24: // its administrator sets it right
		w.ask(&gdi.Control{Action: "clear-error", Queues: true, Refs: []string{"*"}})
		w.ask(&gdi.Control{Action: "clear-error", Refs: []string{"*"}})
	case n == 25:
		a := w.attempt()
		w.ask(&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: a.Job}}}, Force: w.Dice.IntN(2) == 0})
	case n == 26:
		w.ask(&gdi.Control{Action: w.one("suspend", "unsuspend", "reschedule"), Refs: []string{fmt.Sprint(w.attempt().Job)}})
	case n == 27: // qmaster begins anew
		w.core = New(w.replay.Copy(), w.core.epoch+1, testAlgorithms...)
		w.runInput(Scheduler{Name: "schedd"})
	default:
		w.now = w.now.Add(float64(w.Dice.IntN(400)))
		w.runInput(Tick{})
	}
}

// startTask starts a PE task of a parallel job that runs.
func (w *madeUpCell) startTask() {
	for _, t := range there[*grid.JATask](w, grid.KindJATask) {
		if t.PE != "" && w.Dice.IntN(2) == 0 {
			w.askAs("alice", &gdi.StartTask{Job: t.Job, Task: t.ID, Host: w.host(), Launch: &grid.Launch{Args: []string{"x"}}})
		}
	}
}

func (w *madeUpCell) submit() {
	j := &grid.Job{JobRequest: &grid.JobRequest{}, Name: "j", Project: w.one("", "p"), Spec: &grid.JobSpec{Command: "j"},
		Immediate: w.Dice.IntN(4) == 0}
	switch w.Dice.IntN(4) {
	case 0:
		j.Array, j.Tasks = true, grid.Range{First: 1, Last: 3, Step: 1}
	case 1:
		j.PE, j.PERange = "mpi", grid.Ranges{{First: 1, Last: 4, Step: 1}}
	case 2:
		j.AR = uint32(w.Dice.IntN(2))
	case 3:
		j.ExecTime = w.now.Add(float64(w.Dice.IntN(9)))
	}
	w.askAs("alice", &gdi.Submit{Job: j})
}

func (w *madeUpCell) one(of ...string) string { return of[w.Dice.IntN(len(of))] }

func (w *madeUpCell) host() string {
	if w.Dice.IntN(6) > 0 {
		return w.one("h1", "h2")
	}
	return w.one("", "h3", "global", "template", "@allhosts", "a b", "all.q@h1")
}

// attempt is one that is there, but for a part of it.
func (w *madeUpCell) attempt() report.Attempt {
	a := report.Attempt{Job: uint32(w.Dice.IntN(5)), Task: uint32(w.Dice.IntN(4)), N: uint32(w.Dice.IntN(3))}
	if tasks := there[*grid.JATask](w, grid.KindJATask); len(tasks) > 0 && w.Dice.IntN(8) > 0 {
		a = cell.AttemptOf(tasks[w.Dice.IntN(len(tasks))])
	}
	if w.Dice.IntN(3) == 0 {
		a.PETask = w.one("1.h1", "1.h2", "2.h1", grid.PastUsage, "x")
	}
	if w.Dice.IntN(8) == 0 {
		w.Some(&a)
	}
	return a
}

func (w *madeUpCell) report() report.Report {
	r := report.Report{Host: w.host(), Hello: w.Dice.IntN(5) == 0}
	if w.Dice.IntN(3) == 0 {
		w.Some(&r)
	}
	if w.Dice.IntN(3) == 0 {
		r.Load = new(report.Load)
		w.All(r.Load)
	}
	for range w.Dice.IntN(4) {
		t := report.Task{Attempt: w.attempt(), Phase: report.Phase(1 + w.Dice.IntN(2)),
			Usage: grid.Usage{CPU: float64(w.Dice.IntN(9))}}
		if t.Phase == report.Ended && w.Dice.IntN(8) > 0 {
			t.Result = &report.Result{Failed: report.Failure(w.Dice.IntN(40)) * report.Failure(w.Dice.IntN(5)/4),
				ExitStatus: []uint32{0, 0, 99, 100}[w.Dice.IntN(4)]}
		}
		if w.Dice.IntN(3) == 0 {
			w.Some(&t)
		}
		r.Tasks = append(r.Tasks, t)
	}
	return r
}

// orders are given one by one, and some of them twice.
func (w *madeUpCell) orders() {
	in := Orders{List: orders.List{Scheduler: "schedd", Algorithm: "default", Run: 1}}
	if w.Dice.IntN(8) == 0 {
		w.Some(&in.List)
	}
	in.Orders = []orders.Order{w.order()}
	for again := range 1 + w.Dice.IntN(2) {
		r := w.runInput(in)
		refused := r.Answers[0].Result.Refused
		if t := in.Orders[0].Type(); t == orders.TypeStoreState || t == orders.TypeJobScheddInfo {
			return // these are stored anew
		}
		if n := len(r.List.Events) + len(r.Commands); n > 0 && (again > 0 || len(refused) > 0) {
			w.t.Fatalf("%v, given %d times, refused %v: %v", in.Orders[0], again+1, refused, r)
		}
	}
}

func (w *madeUpCell) order() orders.Order {
	a := w.attempt()
	if w.Dice.IntN(2) == 0 {
		return w.start(a)
	}
	var all []orders.Order
	for t := range orders.Type(255) {
		if o := orders.New(t); o != nil {
			all = append(all, o)
		}
	}
	o := all[w.Dice.IntN(len(all))]
	v := reflect.ValueOf(o).Elem()
	if job := v.FieldByName("Job"); job.IsValid() {
		job.SetUint(uint64(a.Job))
	}
	if task := v.FieldByName("Task"); task.IsValid() {
		task.SetUint(uint64(a.Task))
	}
	if queue := v.FieldByName("Queue"); queue.IsValid() {
		queue.SetString(w.one("all.q@h1", "all.q@h2"))
	}
	if r, is := o.(*orders.JobReservation); is {
		r.Start, r.End, r.Grants = 1, grid.Never, []grid.Grant{{Queue: "all.q", Host: w.one("h1", "h2"), Slots: 1}}
		if j := w.core.state.Job(a.Job); j != nil {
			r.JobVersion = j.Version
		}
	}
	if w.Dice.IntN(2) == 0 {
		w.Some(o)
	}
	return o
}

// start is an order that could be, but for a part of it.
func (w *madeUpCell) start(a report.Attempt) orders.Order {
	o := &orders.StartJob{Job: a.Job, Task: a.Task}
	if jobs := there[*grid.Job](w, grid.KindJob); len(jobs) > 0 && w.Dice.IntN(4) > 0 {
		j := jobs[w.Dice.IntN(len(jobs))]
		o.Job, o.JobVersion, o.PE = j.ID, j.Version, j.PE
		o.Task = max(j.Pending.First(), 1)
	}
	for range 1 + w.Dice.IntN(3)*w.Dice.IntN(2) {
		o.Grants = append(o.Grants, grid.Grant{Queue: "all.q", Host: w.one("h1", "h2"), Slots: 1})
		o.QueueVersions = append(o.QueueVersions, w.core.state.CQueue("all.q").Version)
	}
	switch w.Dice.IntN(6) {
	case 0:
		w.Some(o)
	case 1:
		w.Some(&o.Grants[w.Dice.IntN(len(o.Grants))])
	case 3:
		o.Grants[w.Dice.IntN(len(o.Grants))].Slots = []uint32{0, 2, math.MaxUint32}[w.Dice.IntN(3)]
	case 2:
		o.States = []grid.AlgorithmState{{}}
		w.Some(&o.States[0])
	}
	return o
}
