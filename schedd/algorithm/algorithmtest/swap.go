package algorithmtest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/couple"
)

// Swaps checks what holds whenever the algorithm is swapped while jobs run, on
// qmaster's core with seeded random jobs, ends and swaps:
//
//	no order is refused, and nothing is held more often than it exists, also what only some algorithms count
//	running tasks continue: they end only when their time has come, or preempted
//	no job is lost, and all of them end under any algorithm: suspended tasks
//	resume
//	an algorithm stores and removes its own objects only, and finds them again
//
// Sections are parameters that a swap to their algorithm may bring with it.
func Swaps(t *testing.T, entries []algorithm.Entry, sections ...grid.Section) {
	testkit.EachSeed(t, 20, func(t *testing.T, seed uint64) {
		c := newSwapCell(t, entries, sections, rand.New(rand.NewPCG(seed, 2)))
		for range 60 {
			c.now = c.now.Add(float64(1 + c.r.IntN(30)))
			c.happen()
			c.pass()
		}
		c.drain()
	})
}

// swapCell is a cell of qmaster's core, the current algorithm and hosts that execute
// their commands.
type swapCell struct {
	*couple.Couple
	t        *testing.T
	r        *rand.Rand
	entries  []algorithm.Entry
	sections []grid.Section
	at       int // index of the algorithm in use
	now      grid.Time
	passes   int
	running  map[report.Attempt]string // host
	stopping map[report.Attempt]bool
	standing map[report.Attempt]bool
	tasks    map[uint32]int // of each job, that have not come to an end

	processors []uint32 // of each host
}

// reportLoads has all hosts report their load.
func (c *swapCell) reportLoads(hello bool) {
	for i, n := range c.processors {
		c.step(core.Report{Report: report.Report{Host: fmt.Sprintf("h%d", i), Hello: hello, Load: &report.Load{
			Processors: n, At: c.now, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	}
}

func newSwapCell(t *testing.T, entries []algorithm.Entry, sections []grid.Section, r *rand.Rand) *swapCell {
	c := &swapCell{t: t, r: r, entries: entries, sections: sections, now: Begin, running: map[report.Attempt]string{},
		stopping: map[report.Attempt]bool{}, standing: map[report.Attempt]bool{}, tasks: map[uint32]int{}}
	s := state.New()
	s.Apply(core.Fresh(c.now, "root", "master"))
	c.Couple = couple.New(s, entries)
	c.register()
	for range 2 + r.IntN(4) {
		c.processors = append(c.processors, uint32(1+r.IntN(4)))
	}
	c.reportLoads(true)
	c.step(core.Tick{})
	for _, p := range []string{"land", "diff"} {
		c.request("root", &gdi.Add{Objects: []grid.Object{&grid.Project{Name: p}}})
	}
	c.request("root", &gdi.Add{Objects: []grid.Object{&grid.Centry{Name: "lic", Shortcut: "lic", Type: "INT", Relop: "<=",
		Requestable: "YES", Consumable: "YES", Default: "0", Urgency: "0"}}})
	global := *c.Core.State().ExecHost(grid.GlobalHost)
	global.ComplexValues = grid.Values{{Name: "lic", Text: "2"}}
	c.request("root", &gdi.Modify{Objects: []grid.Object{&global}})
	c.request("root", &gdi.Add{Objects: []grid.Object{&grid.RQS{Name: "few", Enabled: true,
		Limits: grid.Names{"users {carol} to slots=2"}}}})
	return c
}

// register gives the configured algorithm the full state.
func (c *swapCell) register() {
	if err := c.Register(); err != nil {
		c.t.Fatal(err)
	}
}

// step has the core decide, the algorithm follow and the hosts do what they are
// commanded to.
func (c *swapCell) step(in core.Input) core.Ready {
	r := c.Step(c.now, in)
	for _, command := range r.Commands {
		for _, d := range command.Deliver {
			c.running[d.Attempt] = command.Host
		}
		for _, s := range command.Signals {
			switch s.Kind {
			case report.Reschedule, report.Terminate:
				c.stopping[s.Attempt] = true
			case report.Suspend, report.Resume:
				c.standing[s.Attempt] = s.Kind == report.Suspend
			}
		}
	}
	for _, e := range r.List.Events {
		if a, ok := e.Object.(*grid.Accounting); ok {
			if a.Failed != 0 && !a.Rescheduled {
				c.t.Fatalf("task %d.%d has failed: %d", a.Job, a.Task, a.Failed)
			}
			if !a.Rescheduled {
				c.tasks[a.Job]--
			}
		}
	}
	return r
}

func (c *swapCell) request(user string, b gdi.Body) *gdi.Reply {
	reply := c.step(
		core.UserRequest{Request: gdi.Request{User: user, Group: "users", Host: "master", Command: "q", Body: b}}).
		Answers[0].Reply
	for _, a := range reply.Answers {
		if a.Status != gdi.StatusOK {
			c.t.Fatal(a.Text)
		}
	}
	return reply
}

// happen lets a few things happen, a swap among them.
func (c *swapCell) happen() {
	for range 1 + c.r.IntN(4) {
		switch c.r.IntN(6) {
		default:
			c.submit()
		case 0, 1:
			c.end(1 + c.r.IntN(3))
		case 2:
			c.swap(c.r.IntN(len(c.entries)))
		}
	}
}

func (c *swapCell) submit() {
	j := &grid.Job{Name: "job", JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{Command: "sleep"},
		Project: [...]string{"", "land", "diff"}[c.r.IntN(3)]}
	n := 1
	if c.r.IntN(3) == 0 {
		n = 2 + c.r.IntN(5)
		j.Array, j.Tasks = true, grid.Range{First: 1, Last: uint32(n), Step: 1}
	}
	j.Immediate = c.r.IntN(6) == 0
	j.Restart = [...]grid.Restart{grid.RestartByQueue, grid.RestartYes, grid.RestartNo}[c.r.IntN(3)]
	if c.r.IntN(4) == 0 {
		j.Priority = -int16(c.r.IntN(5))
	}
	if c.r.IntN(8) == 0 {
		j.JobRequest.Hard = grid.Requests{{Name: "lic", Value: "1"}}
	}
	user := [...]string{"alice", "bob", "carol", "root"}[c.r.IntN(4)]
	if user == "root" {
		j.Priority = 1024
	}
	c.tasks[c.request(user, &gdi.Submit{Job: j}).Job] = n
}

// end ends attempts, first those that were sent a signal to terminate.
func (c *swapCell) end(n int) {
	list := slices.SortedFunc(maps.Keys(c.running), func(a, b report.Attempt) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
	})
	c.r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	list = slices.DeleteFunc(list, func(a report.Attempt) bool { return c.standing[a] && !c.stopping[a] })
	slices.SortStableFunc(list, func(a, b report.Attempt) int {
		switch {
		case c.stopping[a] == c.stopping[b]:
			return 0
		case c.stopping[a]:
			return -1
		}
		return 1
	})
	for _, a := range list[:min(n, len(list))] {
		res := &report.Result{Start: c.now.Add(-1), End: c.now}
		if c.stopping[a] {
			res.ExitStatus, res.Signal = 137, 9
		}
		host := c.running[a]
		delete(c.running, a)
		delete(c.stopping, a)
		delete(c.standing, a)
		r :=
			c.step(core.Report{Report: report.Report{
				Host: host, Tasks: []report.Task{{Attempt: a, Phase: report.Ended, Usage: grid.Usage{CPU: 1}, Result: res}}}})
		if drop := r.Answers[0].Receipt.Drop; len(drop) > 0 {
			c.t.Fatalf("qmaster does not know %v any more", drop)
		}
	}
}

// swap changes to another algorithm as qconf -msconf does, or back.
func (c *swapCell) swap(to int) {
	conf := *c.Core.State().SchedConf()
	conf.Algorithm, conf.Version = c.entries[to].Name, 0
	for _, s := range c.sections {
		if s.Algorithm == conf.Algorithm && c.r.IntN(2) == 0 {
			conf.Sections = conf.WithSection(s)
		}
	}
	c.at = to
	c.request("root", &gdi.Modify{Objects: []grid.Object{&conf}})
	c.register()
}

// pass is one run whose orders qmaster judges.
func (c *swapCell) pass() {
	c.passes++
	list, decide := c.Begin(c.now, c.passes%5 == 0)
	for o := range decide {
		list.Orders = append(list.Orders, o)
		switch o := o.(type) {
		case *orders.RemoveImmediateJob:
			delete(c.tasks, o.Job)
		case *orders.StartJob:
			c.own(o.States)
		case *orders.StoreState:
			c.own(o.States)
		}
	}
	for _, refused := range c.step(core.Orders{List: list}).Answers[0].Result.Refused {
		c.t.Fatalf("%s under %s: refused %v: %s", c.now.Std(), list.Algorithm, list.Orders[refused.Index], refused.Reason)
	}
	c.check()
}

func (c *swapCell) own(states []grid.AlgorithmState) {
	for _, s := range states {
		if s.Algorithm != c.entries[c.at].Name {
			c.t.Fatalf("%s stores %s of %s", c.entries[c.at].Name, s.Name, s.Algorithm)
		}
	}
}

// check holds the state against what was submitted and runs.
func (c *swapCell) check() {
	st := c.Core.State()
	for _, o := range overBooked(st) {
		c.t.Fatalf("%s: over-booked %s", c.entries[c.at].Name, o)
	}
	for id, n := range c.tasks {
		if n > 0 && st.Job(id) == nil {
			c.t.Fatalf("%s: job %d is lost with %d tasks", c.entries[c.at].Name, id, n)
		}
	}
	started := 0
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			started++
			a := report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}
			if c.running[a] == "" {
				c.t.Fatalf("%s: task %d.%d runs nowhere", c.entries[c.at].Name, t.Job, t.ID)
			}
			if c.standing[a] == t.HoldsSlots() {
				c.t.Fatalf("%s: task %d.%d stands still: %v", c.entries[c.at].Name, t.Job, t.ID, c.standing[a])
			}
		}
		return true
	})
	if started != len(c.running) {
		c.t.Fatalf("%s: %d tasks run, qmaster knows %d", c.entries[c.at].Name, len(c.running), started)
	}
}

// drain lets everything come to an end, with no more swaps.
func (c *swapCell) drain() {
	c.swap(c.r.IntN(len(c.entries)))
	for range 2000 {
		c.now = c.now.Add(30)
		if c.pass(); len(c.running) == 0 && c.Core.State().Len(grid.KindJob) == 0 {
			for id, n := range c.tasks {
				if n != 0 {
					c.t.Fatalf("%d tasks of job %d have not come to an end", n, id)
				}
			}
			return
		}
		c.end(1 + c.r.IntN(5))
		c.reportLoads(false)
		c.step(core.Tick{})
	}
	c.t.Fatalf("%s: %d jobs wait for ever", c.entries[c.at].Name, c.Core.State().Len(grid.KindJob))
}
