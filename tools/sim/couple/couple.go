package couple

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Scheduler is the name under which the algorithm is registered.
const Scheduler = "schedd"

// Couple is one core and the algorithm that follows its event lists.
type Couple struct {
	Core      *core.Core
	Algorithm algorithm.Algorithm
	Log       events.Sink // is told all that the algorithm is told; nil: nobody is
	name      string
	runs      uint64
	wake      grid.Time
	woken     func(grid.Time)
	wishes    []orders.Order // of the pass
	wished    func(orders.Order) bool
}

// New makes the owner of a state. Before the first pass Register gives the
// algorithm what it has to know.
func New(s *state.State) *Couple {
	var known []core.Algorithm
	for _, e := range schedd.Algorithms() {
		known = append(known, core.Algorithm{Name: e.Name, Complete: e.Complete, Admission: e.Admission})
	}
	c := &Couple{Core: core.New(s, 1, known...)}
	c.woken = func(at grid.Time) {
		if c.wake == 0 || at < c.wake {
			c.wake = at
		}
	}
	c.wished = func(o orders.Order) bool {
		c.wishes = append(c.wishes, o)
		return true
	}
	c.Core.Step(s.At, core.Scheduler{Name: Scheduler})
	return c
}

// Register gives the configured algorithm the full state, as a scheduler
// receives it when it comes.
func (c *Couple) Register() error {
	a, err := Algorithm(*c.Core.State().SchedConf())
	if err != nil {
		return err
	}
	c.Algorithm, c.name = a, c.Core.State().SchedConf().Algorithm
	c.tell(c.Core.State().Told())
	return nil
}

// Algorithm makes the algorithm that a configuration names, which knows
// nothing yet.
func Algorithm(conf grid.SchedConf) (algorithm.Algorithm, error) {
	for _, e := range schedd.Algorithms() {
		if e.Name == conf.Algorithm {
			return e.New(conf)
		}
	}
	return nil, fmt.Errorf("there is no algorithm %q", conf.Algorithm)
}

// Named are the algorithms that a command line names; "all" are all.
func Named(named []string) (names []string, err error) {
	var known []string
	for _, e := range schedd.Algorithms() {
		known = append(known, e.Name)
	}
	for _, name := range named {
		switch {
		case name == "all":
			names = append(names, known...)
		case slices.Contains(known, name):
			names = append(names, name)
		default:
			return nil, fmt.Errorf("--algorithm %q: known are all, %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

// Step has the core decide on an input and the algorithm follow.
func (c *Couple) Step(now grid.Time, in core.Input) core.Ready {
	r := c.Core.Step(now, in)
	if len(r.List.Events) > 0 {
		c.tell(r.List)
	}
	return r
}

func (c *Couple) tell(l events.List) {
	c.Algorithm.Apply(l)
	if c.Log != nil {
		c.Log.Apply(l)
	}
}

// Begin begins a run: the orders it yields, all of them before the next Step,
// and the empty list they belong in.
func (c *Couple) Begin(now grid.Time) (list orders.List, decide func(yield func(orders.Order) bool)) {
	c.runs++
	c.wake = 0
	list = orders.List{Seq: c.Core.State().Seq, Scheduler: Scheduler, Algorithm: c.name, Run: c.runs}
	return list, algorithm.AtOnce(c.Algorithm, algorithm.Run{Number: c.runs, Now: now, Wake: c.woken})
}

// Wake is when the last run wants the next one even if nothing happens; 0: it
// does not.
func (c *Couple) Wake() grid.Time { return c.wake }

// Pass decides and has the orders judged and their effects followed. Without
// any order nothing happens.
func (c *Couple) Pass(now grid.Time) (r core.Ready, refused []orders.Refusal) {
	list, decide := c.Begin(now)
	c.wishes = c.wishes[:0]
	decide(c.wished)
	if len(c.wishes) == 0 {
		return core.Ready{}, nil
	}
	list.Orders = c.wishes
	r = c.Step(now, core.Orders{List: list})
	return r, r.Answers[0].Result.Refused
}
