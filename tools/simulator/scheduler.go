package simulator

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// scheduler is schedd: layer 0 in a few lines around the real algorithm.
type scheduler struct {
	world     *World
	algorithm algorithm.Algorithm
	name      string       // of the algorithm
	since     uint64       // the list at which it was given the full state
	mirror    *state.State // what it has received, compared with the log
	epoch     uint64
	life      int
	run       uint64
	busy      bool
	changed   bool
	until     uint64 // the mirror must reach this list before the next run
	refused   int
}

// registerAnew takes the full state, then deltas.
func (s *scheduler) registerAnew() {
	s.life++
	s.busy, s.changed, s.until = false, true, 0
	life, m := s.life, s.world.master
	if m.core == nil {
		s.world.after(0.5, s.registerAnew)
		return
	}
	m.askCore(func(uint64) core.Input { return core.Scheduler{Name: "schedd"} }, nil)
	conf := *m.sure.SchedConf()
	a, err := couple.Algorithm(shipped.Algorithms(), conf)
	if err != nil {
		s.world.fail("the algorithm refuses its configuration: %v", err)
		return
	}
	s.algorithm, s.name, s.since, s.mirror, s.epoch = a, conf.Algorithm, m.sure.Seq, state.New(), m.epoch
	full := m.sure.FullList()
	s.algorithm.Apply(full)
	s.mirror.Apply(full)
	s.world.checkSame("a full state", s.mirror, m.sure)
	s.pollChanges(life)
}

// pollChanges runs when something changed; the interval is there for lost messages.
func (s *scheduler) pollChanges(life int) {
	if s.life != life {
		return
	}
	if s.epoch != s.world.master.epoch {
		s.registerAnew()
		return
	}
	s.runOnce()
	s.world.after(1, func() { s.pollChanges(life) })
}

// crash forgets everything.
func (s *scheduler) crash() {
	s.world.crashes++
	s.life++
	s.algorithm = nil
	s.world.after(0.5+s.world.rand.Float64(), s.registerAnew)
}

// receiveList receives a durable list. Messages come in order; a gap, as a lost one
// makes, means to register again.
func (s *scheduler) receiveList(epoch uint64, l events.List) {
	life := s.life
	if s.world.Faults && !s.world.calm && s.world.hasChance(0.005) {
		return
	}
	s.world.after(0.002, func() {
		switch {
		case s.life != life || s.algorithm == nil || l.Seq <= s.mirror.Seq:
		case epoch != s.epoch || l.Seq != s.mirror.Seq+1:
			s.registerAnew()
		default:
			s.algorithm.Apply(l)
			s.mirror.Apply(l)
			if !s.reconfigure(l) {
				s.registerAnew()
				return
			}
			s.changed = true
			s.runOnce()
		}
	})
}

// reconfigure applies the configuration that a list contains; false: it names another
// algorithm, which begins with the full state.
func (s *scheduler) reconfigure(l events.List) bool {
	for _, e := range l.Events {
		conf, ok := e.Object.(*grid.SchedConf)
		if ok && conf.Algorithm != s.name {
			return false
		}
		if ok {
			if err := s.algorithm.Configure(*conf); err != nil {
				s.world.fail("the algorithm refuses its configuration: %v", err)
			}
		}
	}
	return true
}

// runOnce runs on the mirror as it is, unless the last run's effects are not
// seen yet.
func (s *scheduler) runOnce() {
	if s.busy || !s.changed || s.mirror.Seq < s.until {
		return
	}
	s.busy, s.changed = true, false
	s.run++
	list := orders.List{
		Seq: s.mirror.Seq, Scheduler: "schedd", Algorithm: s.name, Run: s.run,
		Epoch: s.epoch, Since: s.since, At: s.world.now, Explain: s.run%10 == 0, Last: true,
	}
	for o := range s.algorithm.Begin()(algorithm.Run{Number: s.run, Now: list.At, Explain: list.Explain}) {
		list.Orders = append(list.Orders, o)
	}
	life := s.life
	release := func(seq uint64) {
		if s.life == life && s.busy {
			s.busy, s.until = false, seq
			s.runOnce()
		}
	}
	s.world.after(5, func() {
		if s.life == life && s.busy && s.run == list.Run {
			s.changed = true
			release(0) // no answer: what became of it shows in the events
		}
	})
	if len(list.Orders) == 0 {
		s.world.recorded = append(s.world.recorded, orders.Record{List: list})
		release(0)
		return
	}
	send := func() {
		m := s.world.master
		m.askCore(func(ref uint64) core.Input {
			m.ordered[ref] = list
			return core.Orders{Ref: ref, List: list}
		},
			func(a core.Answer) {
				s.refused += len(a.Result.Refused)
				if s.life == life && s.run == list.Run {
					s.changed = s.changed || len(a.Result.Refused) > 0
					release(a.Result.Seq)
				}
			})
	}
	s.world.deliverLater(send)
	if s.world.Faults && s.world.hasChance(0.05) {
		s.world.deliverLater(send) // sent twice: nothing may happen twice
	}
}

// isCurrent reports whether the mirror has received everything.
func (s *scheduler) isCurrent() bool {
	return s.algorithm != nil && s.epoch == s.world.master.epoch && s.mirror.Seq == s.world.master.sure.Seq
}
