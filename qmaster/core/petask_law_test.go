package core

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// TestPETasksLaws has jobs, users, execution daemons and qmaster do and suffer
// what they can, commands lost among it. Never are there more PE tasks on a host
// than was granted, never one without its job; each is accounted once, and when
// all is over no host has anything left.
func TestPETasksLaws(t *testing.T) {
	testkit.EachSeed(t, 150, func(t *testing.T, seed uint64) {
		w := newPEWorld(t, int64(seed))
		for range 300 {
			w.turn()
		}
		w.rest()
	})
}

// peWorld is a cell of three hosts with parallel jobs.
type peWorld struct {
	*harness
	dice      *rand.Rand
	hosts     []*peHost
	accounted map[report.Attempt]int
	started   map[report.Attempt]bool // PE tasks that a reply has named
	calm      bool                    // nothing is lost, nothing new is begun
}

// peHost is an execution daemon: what runs, what has ended and is to be reported.
type peHost struct {
	name  string
	runs  map[report.Attempt]bool
	ended map[report.Attempt]report.Failure
	ever  map[report.Attempt]bool
	hello bool
}

func newPEWorld(t *testing.T, seed int64) *peWorld {
	w := &peWorld{
		harness: &harness{t: t, now: 1_700_000_000_000}, dice: rand.New(rand.NewSource(seed)),
		accounted: map[report.Attempt]int{}, started: map[report.Attempt]bool{},
	}
	arg := func(key string, vals ...string) datadriven.CmdArg { return datadriven.CmdArg{Key: key, Vals: vals} }
	w.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{
		arg("hosts", "h1", "h2", "h3"), arg("slots", "2"), arg("pe", "control_slaves", "job_is_first_task"), arg("rerun"),
	}})
	for _, name := range []string{"h1", "h2", "h3"} {
		w.hosts = append(w.hosts, &peHost{name: name, runs: map[report.Attempt]bool{},
			ended: map[report.Attempt]report.Failure{}, ever: map[report.Attempt]bool{}})
	}
	return w
}

// do runs one input, has the hosts carry out commands and checks the laws.
func (w *peWorld) do(in Input) Ready {
	r := w.core.Step(w.now, in)
	w.keep(r)
	for _, e := range r.List.Events {
		if a, ok := e.Object.(*grid.Accounting); ok && e.Op == events.OpAdd {
			k := report.Attempt{Job: a.Job, Task: a.Task, N: a.Attempt, PETask: a.PETask}
			if w.accounted[k]++; w.accounted[k] > 1 {
				w.t.Fatalf("%v is accounted twice", k)
			}
		}
	}
	w.hold()
	for _, c := range r.Commands {
		if h := w.host(c.Host); w.calm || w.dice.Intn(8) > 0 {
			h.carryOut(c.Command)
		}
	}
	return r
}

func (w *peWorld) hold() {
	w.core.state.Each(grid.KindPETask, func(o grid.Object) bool {
		p := o.(*grid.PETask)
		t := w.core.state.Task(p.Job, p.Task)
		if t == nil || !t.Started() || t.Attempt != p.Attempt {
			w.t.Fatalf("PE task %v without its job", p.Key())
		}
		if p.ID != grid.PastUsage {
			_, slots := cell.GrantOn(t, p.Host)
			if n := w.core.cell.PETasksOn(t, w.core.state.PE(t.PE), p.Host); n > slots {
				w.t.Fatalf("%d tasks of %v in %d slots of %s", n, t.Key(), slots, p.Host)
			}
		}
		return true
	})
}

func (w *peWorld) host(name string) *peHost {
	return w.hosts[slices.IndexFunc(w.hosts, func(h *peHost) bool { return h.name == name })]
}

func (h *peHost) carryOut(c report.Command) {
	for _, d := range c.Deliver {
		if a := d.Attempt; !h.ever[a] {
			h.ever[a], h.runs[a] = true, true
		}
	}
	for _, s := range c.Signals {
		switch {
		case s.Kind != report.Terminate && s.Kind != report.Reschedule:
		case h.runs[s.Attempt]:
			delete(h.runs, s.Attempt)
			h.ended[s.Attempt] = 100
		case !h.ever[s.Attempt]:
			h.hello = true
		}
	}
	for _, a := range c.Forget {
		delete(h.ended, a)
	}
}

func inOrder[V any](m map[report.Attempt]V) []report.Attempt {
	return slices.SortedFunc(maps.Keys(m), func(a, b report.Attempt) int { return cmp.Compare(a.String(), b.String()) })
}

// speak is a report of a host: all it knows.
func (w *peWorld) speak(h *peHost) {
	in := Report{Report: report.Report{Host: h.name, Hello: h.hello}}
	in.Load = &report.Load{Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}, Processors: 4}
	h.hello = false
	reported := map[report.Attempt]bool{} // the ends in this report
	for _, a := range append(inOrder(h.runs), inOrder(h.ended)...) {
		task := report.Task{Attempt: a, Phase: report.Running, Usage: grid.Usage{CPU: float64(w.dice.Intn(5))}}
		if failed, over := h.ended[a]; over {
			reported[a] = true
			task.Phase, task.Result = report.Ended, &report.Result{Start: w.now, End: w.now, Failed: failed}
		}
		in.Tasks = append(in.Tasks, task)
	}
	for _, a := range w.do(in).Answers {
		if a.Receipt == nil || !w.calm && w.dice.Intn(8) == 0 { // lost: reported again
			continue
		}
		for _, k := range a.Receipt.Have {
			if reported[k] {
				delete(h.ended, k)
			}
		}
		for _, k := range a.Receipt.Drop {
			delete(h.ended, k)
			delete(h.runs, k)
		}
	}
}

func (w *peWorld) ask(b gdi.Body) Ready {
	w.ref++
	return w.do(
		UserRequest{Ref: w.ref, Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "x", Body: b}})
}

// someJob is a job that is there, 0 when there is none.
func (w *peWorld) someJob() uint32 {
	var ids []uint32
	w.core.state.Each(grid.KindJob, func(o grid.Object) bool { ids = append(ids, o.Key().ID); return true })
	if len(ids) == 0 {
		return 0
	}
	return ids[w.dice.Intn(len(ids))]
}

func (w *peWorld) turn() {
	w.now = w.now.Add(float64(w.dice.Intn(4)))
	job, h := w.someJob(), w.hosts[w.dice.Intn(3)]
	one := gdi.Jobs{Refs: []gdi.JobRef{{ID: job}}}
	control := func(action string) {
		w.ask(&gdi.Control{Action: action, Refs: []string{fmt.Sprint(job)}})
	}
	switch n := w.dice.Intn(40); {
	case n < 3:
		j := &grid.Job{JobRequest: &grid.JobRequest{PE: "mpi", PERange: grid.Ranges{{First: 4, Last: 4, Step: 1}}}, Name: "p",
			Spec: &grid.JobSpec{Command: "p"}}
		w.ask(&gdi.Submit{Job: j})
	case n < 8:
		w.start(job)
	case n < 18:
		w.launch(job, h)
	case n < 28:
		w.speak(h)
	case n < 32: // something ends by itself
		for _, a := range inOrder(h.runs) {
			if w.dice.Intn(3) == 0 {
				delete(h.runs, a)
				h.ended[a] = []report.Failure{0, 0, 0, 0, 0, 100}[w.dice.Intn(6)]
			}
		}
	case n == 32:
		w.ask(&gdi.DeleteJobs{Jobs: one, Force: w.dice.Intn(2) == 0})
	case n == 33:
		control([]string{"suspend", "unsuspend", "reschedule"}[w.dice.Intn(3)])
	case n == 34: // its execution daemon begins anew
		h.hello = true
	case n == 35: // its machine does, with its disk or with an empty one
		for _, a := range inOrder(h.runs) {
			h.ended[a] = report.FailedNoStatus
		}
		h.hello, h.runs = true, map[report.Attempt]bool{}
		if w.dice.Intn(2) == 0 {
			h.ended, h.ever = map[report.Attempt]report.Failure{}, map[report.Attempt]bool{}
		}
	case n == 36: // so does qmaster
		w.core = New(w.replay.Copy(), w.core.epoch+1, testAlgorithms...)
		w.do(Scheduler{Name: "schedd"})
		for _, h := range w.hosts {
			h.hello = true
		}
	case n == 37: // a long silence of all but one
		w.now = w.now.Add(400)
		w.speak(h)
		w.do(Tick{})
	default:
		w.do(Tick{})
	}
}

func (w *peWorld) start(job uint32) {
	j := w.core.state.Job(job)
	if j == nil {
		return
	}
	first := w.dice.Intn(3)
	o := &orders.StartJob{Job: job, Task: 1, JobVersion: j.Version, PE: "mpi"}
	for i := range 2 {
		o.Grants = append(o.Grants, grid.Grant{Queue: "all.q", Host: w.hosts[(first+i)%3].name, Slots: 2})
		o.QueueVersions = append(o.QueueVersions, w.core.state.CQueue("all.q").Version)
	}
	w.do(Orders{List: orders.List{Scheduler: "schedd", Algorithm: "default", Run: 1, Orders: []orders.Order{o}}})
}

func (w *peWorld) launch(job uint32, h *peHost) {
	start := &gdi.StartTask{Job: job, Task: 1, Host: h.name, Launch: &grid.Launch{Args: []string{"ring"}}}
	for _, a := range w.ask(start).Answers {
		if a.Reply.OK() {
			w.started[report.Attempt{Job: job, Task: 1, N: w.core.state.Task(job, 1).Attempt, PETask: a.Reply.PETask}] = true
		}
	}
}

// rest deletes what is there and lets everything come to its end.
func (w *peWorld) rest() {
	w.calm = true
	for round := range 60 {
		w.now = w.now.Add(10)
		if job := w.someJob(); job != 0 {
			w.ask(&gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"root"}}})
		}
		for _, h := range w.hosts {
			h.hello = h.hello || round == 0
			w.speak(h)
		}
		w.do(Tick{})
	}
	if n := w.core.state.Len(grid.KindJob); n > 0 {
		w.t.Errorf("%d jobs do not end:\n%s", n, w.jobs())
	}
	for _, h := range w.hosts {
		if len(h.runs)+len(h.ended) > 0 {
			w.t.Errorf("left on %s: %v %v", h.name, h.runs, h.ended)
		}
	}
	for a := range w.started {
		if w.accounted[a] != 1 {
			w.t.Errorf("%v is accounted %d times", a, w.accounted[a])
		}
	}
	w.checkReplay()
}
