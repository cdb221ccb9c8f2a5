package simulator

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// master is qmaster: its core, and a log that takes time.
type master struct {
	world *World
	log   []events.List // durable
	sure  *state.State  // what the log says
	epoch uint64

	core       *core.Core   // nil while it is down
	waiting    []core.Ready // decided, not durable yet
	busy       bool         // an append is under way
	unfinished bool         // the rest of something is to be decided,
	continues  bool         // and soon is
	life       int          // counts starts: messages of an earlier life are void
	answers    map[uint64]func(core.Answer)
	ordered    map[uint64]orders.List // being judged
	ref        uint64
}

func newMaster(w *World) *master {
	return &master{world: w, sure: state.New(), answers: map[uint64]func(core.Answer){}, ordered: map[uint64]orders.List{}}
}

// installCell writes the first list and starts.
func (m *master) installCell() {
	l := core.Fresh(m.world.now, "root", "m")
	conf := grid.DefaultSchedConf()
	conf.JobLoadAdjustments = nil
	conf.Version = 1
	if len(m.world.Algorithms) > 0 {
		conf.Algorithm = m.world.Algorithms[0]
	}
	if m.world.Shares {
		conf.WeightTicketsFunctional, conf.WeightTicketsShare = 1000, 1000
		l.Events = append(l.Events, events.Add(&grid.ShareTree{Nodes: []grid.ShareNode{
			{ID: 0, Name: "Root", Shares: 1, Children: []uint32{1}}, {ID: 1, Name: "default", Shares: 10},
		}}))
		for i, name := range []string{"alice", "bob", "root"} {
			l.Events = append(l.Events, events.Add(&grid.User{Name: name, FShare: uint32(100 + 37*i), OTicket: uint32(i)}))
		}
	}
	if m.world.Preempt {
		owners := []algorithm.Project{{Name: "alice", Weight: 6}, {Name: "bob", Weight: 3}, {Name: "root", Weight: 1}}
		for _, e := range shipped.Algorithms() {
			if e.Preempting != nil {
				conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: e.Preempting(owners)})
			}
		}
	}
	if m.world.Reserve {
		conf.MaxReservation, conf.DefaultDuration = 3, "0:0:20"
	}
	if m.world.Plans { // many jobs run for longer than they are thought to, and stand where reservations begin
		conf.DefaultDuration, conf.Params = "0:0:4", "DURATION_OFFSET=0"
	}
	if m.world.Quota > 0 {
		limit := fmt.Sprintf("users {*} to slots=%d", m.world.Quota)
		l.Events = append(l.Events, events.Add(&grid.RQS{Name: "most", Enabled: true, Limits: grid.Names{limit}, Version: 1}))
	}
	for i, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.CQueue:
			q := *o
			q.Slots.Value, q.LoadThresholds = int32(m.world.Slots), grid.PerHost[grid.Values]{}
			q.Rerun.Value = m.world.hasChance(0.5)
			l.Events[i] = events.Add(&q)
		case *grid.PE:
			pe := *o
			pe.ControlSlaves, pe.AccountingSummary = true, m.world.Summary
			l.Events[i] = events.Add(&pe)
		case *grid.Conf:
			if o.Host != grid.GlobalConf {
				continue
			}
			c := *o
			if m.world.Silence {
				c.Entries = c.Entries.With("load_report_time", "0:0:5").With("max_unheard", "0:0:15").With(
					"reschedule_unknown", "0:0:5")
			}
			if m.world.Tokens {
				c.Entries = c.Entries.With("qmaster_params", "LOGIN_ISSUER="+issuer+",LOGIN_CLIENT="+client+",LOGIN_TIME=60")
			}
			l.Events[i] = events.Add(&c)
		case *grid.SchedConf:
			l.Events[i] = events.Add(conf)
		}
	}
	m.appendList(m.world.addInstances(m.world.addPlans(m.world.addSeats(l))))
	m.recoverLog()
}

// appendList makes a list durable: it goes through the bytes of the log.
func (m *master) appendList(l events.List) {
	got, n, err := codec.DecodeList(codec.AppendList(nil, l))
	if err != nil || n == 0 {
		m.world.fail("list %d does not come back from its bytes: %v", l.Seq, err)
		return
	}
	if got.Seq != m.sure.Seq+1 {
		m.world.fail("list %d follows %d in the log", got.Seq, m.sure.Seq)
	}
	m.log = append(m.log, got)
	if forget := m.world.planted.forget; forget != nil {
		got.Events = slices.DeleteFunc(slices.Clone(got.Events), forget)
	}
	if m.world.planted.first {
		got.Events = m.world.withFirst(got.Events)
	}
	if m.world.planted.others {
		got.Events = m.world.withOthers(got.Events)
	}
	if m.world.planted.firstCores {
		got.Events = m.world.withFirstCores(got.Events)
	}
	m.sure.Apply(got)
	m.world.judgeList(got)
}

// recoverLog recovers from the log.
func (m *master) recoverLog() {
	m.epoch++
	m.life++
	s := m.sure.Copy()
	if m.world.hasChance(0.2) || m.world.CrashAt > 0 { // from the very beginning
		s = state.New()
		for _, l := range m.log {
			s.Apply(l)
		}
		m.world.checkSame("replay from zero", s, m.sure)
	}
	m.core, m.continues = core.New(s, m.epoch, couple.Known(shipped.Algorithms())...), false
	m.core.Portions(2)
	m.unfinished = true // maybe
}

// crash loses everything that is not durable.
func (m *master) crash() {
	if m.core == nil {
		return
	}
	m.world.crashes++
	m.core, m.waiting, m.busy = nil, nil, false
	m.answers, m.ordered = map[uint64]func(core.Answer){}, map[uint64]orders.List{}
	m.life++
	m.world.after(1+3*m.world.rand.Float64(), m.recoverLog)
}

// crashHere crashes once, at the append that Parameters.CrashAt names.
func (m *master) crashHere(after bool) bool {
	w := m.world
	number := len(m.log) // of the append: the log begins with the list of the installation
	if after {
		number--
	}
	if w.CrashAt != number || w.CrashAfter != after || w.crashes > 0 {
		return false
	}
	m.crash()
	return true
}

// askCore gives the core an input and has answer called when it is durable; what
// is asked of a dead master is lost.
func (m *master) askCore(in func(ref uint64) core.Input, answer func(core.Answer)) {
	if m.core == nil {
		return
	}
	m.ref++
	if answer != nil {
		m.answers[m.ref] = answer
	}
	input, with := in(m.ref), uint32(0)
	if q, ok := input.(core.UserRequest); ok && m.world.planted.blind {
		with, q.Token = q.Token, 0
		input = q
	}
	r := m.core.Step(m.world.now, input)
	if with != 0 {
		r.List.Cause.Token = with
	}
	if m.world.planted.early {
		m.sendReady(r)
	}
	m.waiting = append(m.waiting, r)
	if _, report := input.(core.Report); report && m.world.planted.once {
		r.More = false
	}
	m.unfinished = r.More
	if r.More && !m.continues {
		m.continues = true
		life := m.life
		m.world.after(m.world.messageDelay(), func() {
			if m.life == life {
				m.continues = false
				m.askCore(func(uint64) core.Input { return core.Continue{} }, nil)
			}
		})
	}
	m.syncPending()
}

func (m *master) tickCore() {
	m.askCore(func(uint64) core.Input { return core.Tick{} }, nil)
}

// syncPending appends what has piled up, one frame at a time.
func (m *master) syncPending() {
	if m.busy || len(m.waiting) == 0 {
		return
	}
	m.busy = true
	life, n := m.life, len(m.waiting)
	m.world.after(0.0002+0.003*m.world.rand.Float64(), func() {
		if m.life != life {
			return
		}
		landed := m.waiting[:n]
		m.waiting, m.busy = m.waiting[n:], false
		for _, r := range landed {
			if len(r.List.Events) > 0 {
				if m.crashHere(false) {
					return
				}
				m.appendList(r.List)
				if m.crashHere(true) {
					return
				}
			}
			if !m.world.planted.early {
				m.sendReady(r)
			}
		}
		if len(m.waiting) == 0 {
			m.world.checkSame("the live state", m.core.State(), m.sure)
			if !m.unfinished {
				m.world.checkWaits(m.sure)
			}
		}
		m.syncPending()
	})
}

// sendReady sends the answers and commands of a durable step.
func (m *master) sendReady(r core.Ready) {
	w := m.world
	if len(r.List.Events) > 0 {
		w.scheduler.receiveList(m.epoch, r.List)
	}
	for _, a := range r.Answers {
		answer := m.answers[a.Ref]
		delete(m.answers, a.Ref)
		if a.Result != nil {
			w.recorded = append(w.recorded, orders.Record{List: m.ordered[a.Ref], Result: *a.Result})
			delete(m.ordered, a.Ref)
		}
		if answer != nil {
			w.deliverLater(func() { answer(a) })
		}
	}
	for _, c := range r.Commands {
		for _, h := range w.hosts {
			if h.name == c.Host {
				if !w.deliverLater(func() { h.command(c.Command) }) && w.hasChance(0.5) {
					w.after(1, h.reconnect)
				}
			}
		}
	}
}

func (m *master) isIdle() bool {
	return m.core != nil && len(m.waiting) == 0 && m.sure.Len(grid.KindJob)+m.sure.Len(grid.KindAR) == 0
}
