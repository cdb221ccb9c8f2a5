package gridserver

import (
	"fmt"
	"iter"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Entry is the algorithm that sched_conf(5) calls gridserver.
var Entry = algorithm.Pair(Name, NewModel, New).Dividing(division).WithPreempting(preempting)

// Decider decides by the configuration it was made from.
type Decider struct{ conf *Config }

// New makes a decider; it fails for an invalid parameter, with its name.
var New = algorithm.NewDecider(newConfig, func(c *Config) algorithm.Decider[*Model] { return &Decider{c} })

// Params are the parameters that hold.
func (d *Decider) Params() []grid.Param { return algorithm.Describe(d.conf) }

// Admit returns why a job may not be submitted, "" when it may: in mode sla a
// session needs a group.
func (d *Decider) Admit(j *grid.Job, _ grid.Resources) string {
	if text := d.conf.badContext(j); text != "" {
		return "job rejected: " + text
	}
	if !d.conf.sla() || d.conf.slaGroup(j) >= 0 {
		return ""
	}
	name := algorithm.GroupOf(d.conf.GroupBy, j)
	if name == "" {
		return fmt.Sprintf("job rejected: gridserver needs an SLA group, and the job has no %s", d.conf.GroupBy)
	}
	return fmt.Sprintf("job rejected: %s %q is no SLA group", d.conf.GroupBy, name)
}

// Decide yields the orders of one run.
func (d *Decider) Decide(r algorithm.Run, m *Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) { newRun(r, m, yield).decide() }
}

func (r *run) decide() {
	if r.PrepareExcept(r.ours) {
		r.updateModel()
	}
	r.episode()
	r.preempt()
	r.UnsuspendRest()
	r.storeStates()
	r.reportReasons()
	r.PublishReservations()
}

// phase is the stage of a run in which an engine was assigned.
type phase string

const (
	urgentPhase     phase = "urgent"
	idealPhase      phase = "ideal"
	roundRobinPhase phase = "round_robin"
	serialPhase     phase = "serial"
	preemptPhase    phase = "preempt"
	slaPhase        phase = "sla"
	remainderPhase  phase = "remainder"
	sharePhase      phase = "share"
)

// run is one decision: it dies with it.
type run struct {
	model.Decision
	*Config
	m *Model

	engines  int              // all of them, E
	idle     int              // when the run began
	open     []int            // instances that could take a task then
	onHost   map[string][]int // ... by host
	seekers  map[uint32]*seeker
	assigned []assignment
	ideals   []share // by level, in mode priority
	quota    *quota  // in mode sla
	victims  []victim
	spared   map[band]int      // tasks that may not be preempted, by band, once those that may were looked for
	fresh    map[freshly]*rate // the rates of new sessions, by band
	at       map[uint32]*candidate
}

// assignment is an engine that a session gets in this run.
type assignment struct {
	to       *candidate
	task     uint32
	instance int
	phase    phase
}

func newRun(r algorithm.Run, m *Model, yield func(orders.Order) bool) *run {
	m.Start(r.Now)
	s := &run{Decision: m.Decision(r, yield), Config: m.conf, m: m, seekers: map[uint32]*seeker{},
		fresh: map[freshly]*rate{}, spared: map[band]int{}, at: map[uint32]*candidate{}}
	s.updateModel()
	return s
}

// updateModel counts the engines.
func (r *run) updateModel() {
	r.engines, r.idle = r.m.Cluster.Usable()
	r.open = r.m.Cluster.Open()
}

// ours reports whether a preempted task waits for an engine in a session's turn.
func (r *run) ours(t *grid.JATask) bool {
	s, _ := r.m.sessions.Get(t.Job)
	return s != nil && s.band >= 0 && len(t.Grants) == 1
}

// episode assigns engines.
func (r *run) episode() {
	if r.sla() {
		r.bySLA()
	} else {
		r.byPriority()
	}
	gone := r.DropImmediate()
	r.assigned = slices.DeleteFunc(r.assigned, func(a assignment) bool { return gone[a.to.id] })
}

// full reports whether no engine is left.
func (r *run) full() bool { return r.Stopped || r.m.Cluster.Idle() }
