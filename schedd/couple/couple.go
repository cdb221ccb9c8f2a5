package couple

import (
	"fmt"
	"iter"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Scheduler is the name under which the algorithm is registered.
const Scheduler = "schedd"

// Couple is one core and the algorithm that follows its event lists.
type Couple struct {
	Core      *core.Core
	Algorithm algorithm.Algorithm
	Log       events.Sink // receives all lists that the algorithm receives, unless nil
	// Lend has runs decide on the algorithm's model itself instead of a copy. schedd
	// never does: its model follows events while a run decides. A simulation, in
	// which a run is over before the next event, saves the copy: two and a half times
	// the speed. Whoever measures a scheduling run leaves it false.
	Lend bool

	entries  []algorithm.Entry
	name     string
	runs     uint64
	wake     grid.Time
	wakeAt   func(grid.Time)
	decided  []orders.Order // of the pass
	addOrder func(orders.Order) bool
}

// New makes the cell of a state with these algorithms. Before the first pass
// Register gives the configured one the full state.
func New(s *state.State, entries []algorithm.Entry) *Couple {
	c := &Couple{Core: core.New(s, 1, Known(entries)...), entries: entries}
	c.wakeAt = func(at grid.Time) {
		if c.wake == 0 || at < c.wake {
			c.wake = at
		}
	}
	c.addOrder = func(o orders.Order) bool {
		c.decided = append(c.decided, o)
		return true
	}
	c.Core.Step(s.At, core.Scheduler{Name: Scheduler})
	return c
}

// Known returns what a core has to know of algorithms.
func Known(entries []algorithm.Entry) (known []core.Algorithm) {
	for _, e := range entries {
		known = append(known, core.Algorithm{Name: e.Name, Complete: e.Complete, Admission: e.Admission})
	}
	return known
}

// Register makes the configured algorithm and gives it the full state, as a
// scheduler receives it when it registers.
func (c *Couple) Register() error {
	conf := c.Core.State().SchedConf()
	a, err := Algorithm(c.entries, *conf)
	if err != nil {
		return err
	}
	c.Algorithm, c.name = a, conf.Algorithm
	c.apply(c.Core.State().FullList())
	return nil
}

// Algorithm makes the algorithm that a configuration names, before it has
// received any event.
func Algorithm(entries []algorithm.Entry, conf grid.SchedConf) (algorithm.Algorithm, error) {
	e, ok := algorithm.Find(entries, conf.Algorithm)
	if !ok {
		return nil, fmt.Errorf("there is no algorithm %q", conf.Algorithm)
	}
	return e.New(conf)
}

// Step has the core decide on an input and the algorithm follow.
func (c *Couple) Step(now grid.Time, in core.Input) core.Ready {
	r := c.Core.Step(now, in)
	if len(r.List.Events) > 0 {
		c.apply(r.List)
	}
	return r
}

func (c *Couple) apply(l events.List) {
	c.Algorithm.Apply(l)
	if c.Log != nil {
		c.Log.Apply(l)
	}
}

// Begin begins a run: the orders it yields, all of them before the next Step,
// and the empty list they belong in.
func (c *Couple) Begin(now grid.Time, explain bool) (list orders.List, decide iter.Seq[orders.Order]) {
	c.runs++
	c.wake = 0
	list = orders.List{Seq: c.Core.State().Seq, Scheduler: Scheduler, Algorithm: c.name, Run: c.runs}
	r := algorithm.Run{Number: c.runs, Now: now, Explain: explain, Wake: c.wakeAt}
	if c.Lend {
		return list, algorithm.AtOnce(c.Algorithm, r)
	}
	return list, c.Algorithm.Begin()(r)
}

// Wake returns when the last run wants the next one even if nothing happens, 0
// when it does not.
func (c *Couple) Wake() grid.Time { return c.wake }

// Pass decides, has the core check the orders and follows their effects. Without
// any order it does nothing.
func (c *Couple) Pass(now grid.Time) (r core.Ready, refused []orders.Refusal) {
	list, decide := c.Begin(now, false)
	c.decided = c.decided[:0]
	decide(c.addOrder)
	if len(c.decided) == 0 {
		return core.Ready{}, nil
	}
	list.Orders = c.decided
	r = c.Step(now, core.Orders{List: list})
	return r, r.Answers[0].Result.Refused
}
