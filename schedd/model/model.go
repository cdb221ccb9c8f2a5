package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// Model is the default data model. One goroutine owns it; Copies may be
// handed to others.
type Model struct {
	State   *state.State
	Cluster *sched.Cluster
	Lines
	Names []string // that policies speak of; the first is ""

	classes    ordered.Map[uint32, Class] // by number
	tallies    []Tally                    // of groups, by number
	categories ordered.Map[string, uint32]
	delayed    ordered.Set[delay]            // jobs with -a, by time
	requeued   ordered.Set[taskID]           // enrolled tasks that can start again
	live       ordered.Set[demand]           // groups with jobs in line or started, by urgency
	inLine     int                           // groups with jobs in line
	ages       ordered.Set[age]              // jobs in line or started, by submission, when waiting counts
	deadlines  ordered.Map[uint32, standing] // those of them with a deadline
	immediate  int                           // pending jobs with -now y
	inputs     policyInputs
	index      *index // nil in copies
	lent       *Model // the last that was
}

// Group is the jobs of one category.
type Group struct {
	Number   uint32
	Category string
	Need     *sched.Need
	Size     sched.JobSize
	Urgency  float64 // rrcontr: the part that follows from what they ask for
}

// delay is a job whose -a time has not come, and what it is until then.
type delay struct {
	until grid.Time
	job   uint32
	standing
}

type taskID struct{ job, id uint32 }

func (t taskID) compare(o taskID) int {
	return cmp.Or(cmp.Compare(t.job, o.job), cmp.Compare(t.id, o.id))
}

// demand is how urgent a group is for what its jobs ask for.
type demand struct {
	urgency float64
	group   uint32
}

// age is when a job of a group was submitted.
type age struct {
	group, job uint32
	submit     grid.Time
}

// index is what only the owner of the events needs.
type index struct {
	jobs      standings
	delays    map[uint32]grid.Time
	suspended map[taskID]bool
	still     map[uint32]uint32 // suspended tasks by job
	names     map[string]uint32
	classes   map[Policy]uint32
	groups    map[asking]uint32
	empty     int      // groups and classes without jobs, kept for the next one
	next      uint32   // number of a group or class
	free      []uint32 // numbers of those that are forgotten
	basis     string   // what groups and classes were made from
	grouped   uint64   // how often all were
	changed   bool     // the configuration, since
	override  string   // the user without whose override tickets there may be no tickets at all; "": none
}

// New returns a Model without any state.
func New() *Model {
	st := state.New()
	m := &Model{State: st, Cluster: sched.NewCluster(st), index: &index{changed: true, basis: "none"}}
	m.clear()
	return m
}

// clear forgets the jobs.
func (m *Model) clear() {
	x := m.index
	m.Lines = newLines(m.inputs.urgency, m.inputs.waiting)
	m.Names = []string{""}
	m.classes, m.tallies, m.categories = ordered.NewMap[uint32, Class](), nil, ordered.NewMap[string, uint32]()
	m.delayed = ordered.NewSet(func(a, b delay) bool {
		if a.until != b.until {
			return a.until < b.until
		}
		return a.job < b.job
	})
	m.requeued = ordered.NewSet(func(a, b taskID) bool { return a.compare(b) < 0 })
	m.live = ordered.NewSet(func(a, b demand) bool {
		if a.urgency != b.urgency {
			return a.urgency < b.urgency
		}
		return a.group < b.group
	})
	m.ages = ordered.NewSet(func(a, b age) bool {
		switch {
		case a.group != b.group:
			return a.group < b.group
		case a.submit != b.submit:
			return a.submit < b.submit
		}
		return a.job < b.job
	})
	m.deadlines = ordered.NewMap[uint32, standing]()
	m.immediate, m.inLine = 0, 0
	x.jobs, x.delays, x.suspended = standings{}, map[uint32]grid.Time{}, map[taskID]bool{}
	x.still = map[uint32]uint32{}
	x.names, x.classes, x.groups, x.empty = map[string]uint32{}, map[Policy]uint32{}, map[asking]uint32{}, 0
	x.next, x.free = 0, nil
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.index, c.lent = nil, nil
	c.State = m.State.Copy()
	c.Cluster = m.Cluster.Copy(c.State)
	c.Lines = m.Lines.Copy()
	c.classes, c.tallies, c.categories = m.classes.Copy(), slices.Clone(m.tallies), m.categories.Copy()
	c.delayed, c.requeued, c.live = m.delayed.Copy(), m.requeued.Copy(), m.live.Copy()
	c.ages, c.deadlines = m.ages.Copy(), m.deadlines.Copy()
	return &c
}

// Apply follows a list. Jobs are grouped as they come; in a full state what
// the groups depend on comes before them.
func (m *Model) Apply(l events.List) {
	m.State.Apply(l)
	m.Cluster.Apply(l)
	m.index.changed = m.index.changed || m.Cluster.Stale()
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			m.settle()
			j := m.State.Job(e.Key.ID)
			if e.Op != events.OpAdd {
				m.requeueAll(e.Key.ID, j)
			}
			m.follow(e.Key.ID, j, true)
		case grid.KindJATask:
			m.settle()
			j := m.State.Job(e.Key.ID)
			t, _ := e.Object.(*grid.JATask)
			m.requeue(taskID{e.Key.ID, e.Key.Sub}, j, t)
			m.suspend(taskID{e.Key.ID, e.Key.Sub}, t)
			m.follow(e.Key.ID, j, false)
		case grid.KindUser:
			if overrides(e.Object) {
				m.index.changed = m.index.changed || !m.inputs.tickets
			} else if e.Key.Name == m.index.override {
				m.index.changed = true
			}
		}
	}
	m.due(l.At)
}

// settle brings the groups in line with the configuration: new needs when it
// changed, new groups and classes when the criteria of grouping did.
func (m *Model) settle() {
	if !m.index.changed {
		return
	}
	m.index.changed = false
	inputs := m.policyInputs()
	basis := fmt.Sprint(m.Cluster.CategoryBasis(), m.Cluster.UrgencyBasis(), inputs)
	if basis != m.index.basis {
		m.index.basis, m.inputs = basis, inputs
		m.regroup()
		return
	}
	m.renew()
}

// renew compiles needs anew that the configuration has outlived. Copies continue
// with the old ones.
func (m *Model) renew() {
	for n, g := range m.groups {
		if g != nil && !g.Need.Current(m.Cluster) {
			m.groups[n] = &Group{g.Number, g.Category, m.Cluster.Need(g.Need.Job), m.Cluster.JobSize(g.Need.Job), g.Urgency}
		}
	}
}

func (m *Model) regroup() {
	m.index.grouped++
	m.clear()
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		m.requeue(taskID{t.Job, t.ID}, m.State.Job(t.Job), t)
		m.suspend(taskID{t.Job, t.ID}, t)
		return true
	})
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		m.follow(o.Key().ID, o.(*grid.Job), true)
		return true
	})
	m.due(m.State.At)
}

// follow brings in line where a job stands; j is nil when it is gone. changed
// says that its group or class may be others.
func (m *Model) follow(id uint32, j *grid.Job, changed bool) {
	old := m.index.jobs.get(id)
	now, until := m.standing(id, j, old, changed)
	if was := m.index.delays[id]; was != 0 && (was != until || old != now) {
		m.delayed.Delete(delay{until: was, job: id})
		delete(m.index.delays, id)
	}
	if old != now {
		m.change(id, old, now)
		m.index.jobs.set(id, now)
	}
	if until != 0 {
		m.delayed.Set(delay{until, id, now})
		m.index.delays[id] = until
	}
	m.sweep()
}

// change counts a job as what it is now and lets it stand there.
func (m *Model) change(id uint32, old, now standing) {
	if old.group == now.group && old.class == now.class {
		m.count(now, now.tally().plus(old.tally(), -1))
	} else {
		m.count(now, now.tally()) // first, so that what both need is never empty
		m.count(old, Tally{}.plus(old.tally(), -1))
	}
	m.observe(id, old, false)
	m.observe(id, now, true)
	m.move(id, old, now)
}

// standing is where a job belongs now; until is its -a time if it waits for
// that alone. changed is as for follow.
func (m *Model) standing(id uint32, j *grid.Job, old standing, changed bool) (s standing, until grid.Time) {
	if j == nil {
		return s, 0
	}
	s.started, s.submit = m.Cluster.Started(id), j.Submit
	ready := m.ready(j)
	if !ready && s.started == 0 {
		return standing{}, 0
	}
	s.active = s.started - m.index.still[id]
	if ready && j.ExecTime > m.State.At {
		until = j.ExecTime
	}
	s.pending = ready && until == 0
	if old.group != 0 && !changed {
		s.group, s.class = old.group, old.class
	} else {
		s.group, s.class = m.group(j), m.class(j)
	}
	return s, until
}

// move puts a job in line, takes it out or lets it change lines.
func (m *Model) move(id uint32, old, now standing) {
	was, is := old.placeOf(id), now.placeOf(id)
	if old.pending == now.pending && (!now.pending || was == is) {
		return
	}
	if old.pending {
		m.remove(was)
	}
	if now.pending {
		m.enter(is)
	}
}

// ready reports whether the job has a task that could start, its -a time aside.
func (m *Model) ready(j *grid.Job) bool {
	if len(j.Predecessors) > 0 {
		return false
	}
	if most := m.Cluster.TasksAtOnce(j); most > 0 && m.Cluster.Started(j.ID) >= most {
		return false
	}
	return m.NextTask(j, 0) != 0
}

// due lets jobs into their lines whose -a time has come.
func (m *Model) due(now grid.Time) {
	for {
		d, ok := m.delayed.Min()
		if !ok || d.until > now {
			return
		}
		m.delayed.Delete(d)
		ready := d.standing
		ready.pending = true
		m.change(d.job, d.standing, ready)
		if m.index != nil {
			m.index.jobs.set(d.job, ready)
			delete(m.index.delays, d.job)
		}
	}
}

// requeue follows one enrolled task; nil stands for what is gone.
func (m *Model) requeue(key taskID, j *grid.Job, t *grid.JATask) {
	if j != nil && t != nil && sched.Startable(j, t) {
		m.requeued.Set(key)
	} else if m.requeued.Len() > 0 {
		m.requeued.Delete(key)
	}
}

// requeueAll follows the enrolled tasks of a job whose holds may have changed,
// or that is gone: nil.
func (m *Model) requeueAll(job uint32, j *grid.Job) {
	for _, t := range m.requeued.Range(taskID{job: job}, taskID{job, math.MaxUint32}) {
		m.requeued.Delete(t)
	}
	if j == nil {
		return
	}
	for _, t := range m.State.Tasks(job) {
		m.requeue(taskID{t.Job, t.ID}, j, t)
	}
}

// Still are the states in which a started task is not active: it has no
// tickets.
const Still = grid.StateSuspended | grid.StateSuspendedThreshold | grid.StateSuspendedPreempted

// suspend follows which started tasks are suspended; nil is one that is gone.
func (m *Model) suspend(key taskID, t *grid.JATask) {
	x := m.index
	is, was := t != nil && t.Started() && t.State&Still != 0, x.suspended[key]
	switch {
	case is && !was:
		x.suspended[key] = true
		x.still[key.job]++
	case was && !is:
		delete(x.suspended, key)
		if x.still[key.job]--; x.still[key.job] == 0 {
			delete(x.still, key.job)
		}
	}
}
