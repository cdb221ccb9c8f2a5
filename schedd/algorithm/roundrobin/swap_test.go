package roundrobin_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
	"github.com/quill-grid/quill/schedd/couple"
)

// idle is an algorithm that starts nothing and stores a turn of its own.
type idle struct{}

func (idle) Decide(_ algorithm.Run, m *roundrobin.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		yield(&orders.StoreState{
			States: []grid.AlgorithmState{{Algorithm: "idle", Name: "turn", Values: grid.Values{{Name: "owner", Text: "zoe"}}}}})
	}
}

var idleEntry = algorithm.Pair("idle", roundrobin.NewModel,
	func(grid.SchedConf) (algorithm.Decider[*roundrobin.Model], error) { return idle{}, nil })

// swapping is qmaster's core with one host and the algorithms of a list.
type swapping struct {
	*couple.Couple
	t   *testing.T
	now grid.Time
}

func newSwapping(t *testing.T, slots int) *swapping {
	st := state.New()
	st.Apply(core.Fresh(algorithmtest.Begin, "root", "master"))
	s := &swapping{couple.New(st, []algorithm.Entry{roundrobin.Entry, idleEntry}), t, algorithmtest.Begin}
	conf := *st.SchedConf()
	conf.Algorithm = roundrobin.Name
	st.Apply(events.List{Seq: st.Seq + 1, At: s.now, Events: []events.Event{events.Mod(&conf)}})
	s.Couple = couple.New(st, []algorithm.Entry{roundrobin.Entry, idleEntry})
	s.register()
	s.Step(s.now, core.Report{Report: report.Report{Host: "h1", Hello: true, Load: &report.Load{
		Processors: uint32(slots), At: s.now, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	s.Step(s.now, core.Tick{})
	return s
}

func (s *swapping) register() {
	if err := s.Register(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *swapping) request(user string, b gdi.Body) {
	r := s.Step(
		s.now, core.UserRequest{Request: gdi.Request{User: user, Group: "users", Host: "master", Command: "q", Body: b}})
	for _, a := range r.Answers[0].Reply.Answers {
		if a.Status != gdi.StatusOK {
			s.t.Fatal(a.Text)
		}
	}
}

// submit submits a job of each owner.
func (s *swapping) submit(owners ...string) {
	for _, owner := range owners {
		s.request(owner,
			&gdi.Submit{Job: &grid.Job{Name: owner, JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{Command: "sleep"}}})
	}
}

// use swaps the algorithm as qconf -msconf does; schedd then registers with the full state.
func (s *swapping) use(name string) {
	conf := *s.Core.State().SchedConf()
	conf.Algorithm, conf.Version = name, 0
	s.request("root", &gdi.Modify{Objects: []grid.Object{&conf}})
	s.register()
}

// run decides and returns the owners of the jobs that start.
func (s *swapping) run() (owners []string) {
	list, decide := s.Begin(s.now, false)
	for o := range decide {
		list.Orders = append(list.Orders, o)
		if start, is := o.(*orders.StartJob); is {
			owners = append(owners, s.Core.State().Job(start.Job).Owner)
		}
	}
	if refused := s.Step(s.now, core.Orders{List: list}).Answers[0].Result.Refused; len(refused) > 0 {
		s.t.Fatal(refused)
	}
	return owners
}

// end ends the running task of an owner.
func (s *swapping) end(owner string) {
	ended := false
	s.Core.State().Each(grid.KindJATask, func(o grid.Object) bool {
		task := o.(*grid.JATask)
		if ended = s.Core.State().Job(task.Job).Owner == owner && task.Started(); ended {
			s.Step(s.now, core.Report{Report: report.Report{Host: "h1", Tasks: []report.Task{{
				Attempt: report.Attempt{Job: task.Job, Task: task.ID, N: task.Attempt}, Phase: report.Ended,
				Result: &report.Result{Start: s.now, End: s.now}}}}})
		}
		return !ended
	})
	if !ended {
		s.t.Fatalf("no task of %s runs", owner)
	}
}

func (s *swapping) expect(what string, got []string, want ...string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// turns are the owners in the order of their turns, as Explain has them.
func (s *swapping) turns() (owners []string) {
	for _, line := range s.Algorithm.Explain(algorithm.Run{Now: s.now})[1:] {
		owners = append(owners, strings.Fields(line)[1])
	}
	return owners
}

// TestTurnAfterSwap checks that the last turn holds when another algorithm was in use between two runs, whatever that
// one has stored, and when a scheduler starts anew.
func TestTurnAfterSwap(t *testing.T) {
	s := newSwapping(t, 2)
	s.submit("alice", "bob", "carol", "dave", "alice", "bob")
	s.expect("the first run starts", s.run(), "alice", "bob")
	s.expect("turns", s.turns(), "carol", "dave", "alice", "bob")

	s.use("idle")
	s.end("alice")
	s.expect("the other algorithm starts", s.run())

	s.use(roundrobin.Name)
	s.expect("turns after the swap", s.turns(), "carol", "dave", "alice", "bob")
	s.expect("the run after the swap starts", s.run(), "carol")

	s.register()
	s.end("bob")
	s.expect("turns of a scheduler that starts anew", s.turns(), "dave", "alice", "bob")
	s.expect("its run starts", s.run(), "dave")
}

// TestStoredTurns checks that each algorithm stores one object, under its own name.
func TestStoredTurns(t *testing.T) {
	s := newSwapping(t, 2)
	s.submit("alice", "bob")
	s.run()
	s.use("idle")
	s.run()
	var stored []string
	s.Core.State().Each(grid.KindAlgorithmState, func(o grid.Object) bool {
		a := o.(*grid.AlgorithmState)
		stored = append(stored, fmt.Sprint(a.Key().Name, a.Values))
		return true
	})
	s.expect("stored", stored, "idle/turn[{owner zoe}]", "roundrobin/turn[{owner bob}]")
}

// TestTurnOfStrangers checks that a turn of an owner without jobs, or one that cannot be read, is compared by name
// alone.
func TestTurnOfStrangers(t *testing.T) {
	for stored, want := range map[string][]string{
		"":      {"alice", "bob", "carol"},
		"aaron": {"alice", "bob", "carol"},
		"bert":  {"bob", "carol", "alice"},
		"bob":   {"carol", "alice", "bob"},
		"zoe":   {"alice", "bob", "carol"},
	} {
		s := newSwapping(t, 1)
		s.submit("carol", "bob", "alice")
		values := grid.Values{{Name: "owner", Text: stored}}
		if stored == "" {
			values = grid.Values{{Name: "something", Text: "else"}}
		}
		list := orders.List{Seq: s.Core.State().Seq, Scheduler: couple.Scheduler, Algorithm: roundrobin.Name, Run: 1,
			Orders: []orders.Order{
				&orders.StoreState{States: []grid.AlgorithmState{{Algorithm: roundrobin.Name, Name: "turn", Values: values}}}}}
		s.Step(s.now, core.Orders{List: list})
		s.expect(fmt.Sprintf("after a turn of %q", stored), s.turns(), want...)
	}
}
