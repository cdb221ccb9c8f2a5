package scoot

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Entry is the algorithm that sched_conf(5) calls scoot.
var Entry = algorithm.Pair(Name, NewModel, New).Dividing(division).WithPreempting(preempting)

// Decider decides by the configuration it was made from.
type Decider struct{ conf *Config }

// New makes a decider; it fails for an invalid parameter, with its name.
var New = algorithm.NewDecider(newConfig, func(c *Config) algorithm.Decider[*Model] { return &Decider{c} })

// Params are the parameters that hold.
func (d *Decider) Params() []grid.Param { return algorithm.Describe(d.conf) }

// CheckNames returns an error for a class of the requestor map that has no part of the workers: its jobs would be the
// smallest class's.
func (d *Decider) CheckNames(grid.Resources) error {
	for _, r := range d.conf.RequestorMap {
		if _, known := d.conf.class[r.Class]; !known {
			return fmt.Errorf(
				"%s: requestor_map: class %q of pattern %q is none of %s, those of class_load_percents: change the map first, to none if need be", Name, r.Class, r.Pattern, strings.Join(d.conf.order, ", "))
		}
	}
	return nil
}

// Decide yields the orders of one run.
func (d *Decider) Decide(r algorithm.Run, m *Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		s := newRun(r, m, yield)
		if s.PrepareExcept(s.ours) {
			s.updateModel()
		}
		s.forget()
		if !s.trigger() || !s.rebalance() {
			s.ordinary()
		}
		s.UnsuspendRest()
		s.DropImmediate()
		s.reportReasons()
		s.PublishReservations()
	}
}

// run is one decision: it dies with it.
type run struct {
	model.Decision
	*Config
	m *Model

	workers, idle int
	plan          *plan
	anew          bool                     // with what starts the clock starts anew
	turns         []*turns                 // by class, once asked for
	begun         map[uint32]*sequence     // of jobs that had a turn
	homes         map[uint32]home          // of arrays
	cursors       map[uint32]*sched.Cursor // by category
	out           map[uint32]bool          // categories that no worker serves
	still         [][]*grid.JATask         // by class, stopped tasks that may continue; nil before they are needed
}

func newRun(r algorithm.Run, m *Model, yield func(orders.Order) bool) *run {
	m.Start(r.Now)
	s := &run{Decision: m.Decision(r, yield), Config: m.conf, m: m, turns: make([]*turns, len(m.conf.order)),
		begun: map[uint32]*sequence{}, homes: map[uint32]home{}, cursors: map[uint32]*sched.Cursor{}, out: map[uint32]bool{}}
	s.updateModel()
	return s
}

// updateModel counts the workers, and what there is to plan.
func (r *run) updateModel() {
	r.workers, r.idle = r.m.Cluster.Usable()
	r.plan = newPlan(r.workers, r.shares())
}

// ours reports whether a task that stands still waits for a worker of its class.
func (r *run) ours(t *grid.JATask) bool {
	_, class := r.classOf(t)
	return class && len(t.Grants) == 1
}

// classOf is the class of a task, if it is one that gets workers.
func (r *run) classOf(t *grid.JATask) (class uint32, any bool) {
	b, known := r.m.members.Get(t.Job)
	return b.class, known && b.class != r.m.parallel() && r.percents[b.class] > 0
}

// shares are the classes as they are before anything is planned.
func (r *run) shares() []share {
	out := make([]share, len(r.order))
	for i := range out {
		t := r.m.tallies[i]
		out[i] = share{class: r.order[i], percent: r.percents[i], running: t.running, waiting: t.waiting}
	}
	return out
}

// forget removes the stored objects of jobs that are gone.
func (r *run) forget() {
	var states []grid.AlgorithmState
	r.m.orphans.Scan(func(name string, _ bool) bool {
		states = append(states, keep(name))
		return true
	})
	if len(states) > 0 {
		r.Yield(&orders.StoreState{States: states})
	}
}

// trigger reports whether it is time to rebalance, and keeps the clock: that it
// starts anew is kept when something has come of it.
func (r *run) trigger() bool {
	was := r.clock()
	now, due := r.tick(was, r.plan.spread(), r.Now)
	if now != was && !due {
		r.Yield(&orders.StoreState{States: []grid.AlgorithmState{now.state()}})
	}
	if now.set && r.Wake != nil {
		r.Wake(now.since + grid.Time(r.RebalanceMin)*1000 + 1)
	}
	return due
}

// clock is since when the spread has been above the threshold.
type clock struct {
	since grid.Time
	set   bool
}

// clock is what qmaster keeps of it.
func (r *run) clock() clock {
	text, set := r.m.stored(clockName, "since")
	n, _ := strconv.ParseInt(text, 10, 64)
	return clock{grid.Time(n), set}
}

func (c clock) state() grid.AlgorithmState {
	if !c.set {
		return keep(clockName)
	}
	return keep(clockName, grid.Value{Name: "since", Text: strconv.FormatInt(int64(c.since), 10)})
}

// tick is the clock after a run that found a spread, and whether the classes
// are to be rebalanced: then it starts anew.
func (c *Config) tick(was clock, spread int, now grid.Time) (is clock, due bool) {
	switch {
	case c.RebalanceThreshold == 0 || c.RebalanceMin == 0 || spread <= c.RebalanceThreshold:
		return clock{}, false
	case !was.set:
		return clock{now, true}, false
	case now-was.since > grid.Time(c.RebalanceMin)*1000:
		return clock{}, true
	}
	return was, false
}
