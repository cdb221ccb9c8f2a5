package gridserver

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// Model is the default data model and this algorithm's sessions. The cost of an event
// depends on what it changes; a new configuration of levels or groups processes all jobs
// again, once.
type Model struct {
	*model.Model
	conf      *Config
	sessions  ordered.Map[uint32, *session]
	waiting   ordered.Set[linePosition] // sessions that want engines and have used none, and those that get none
	using     ordered.Set[linePosition] // sessions that want engines and have used some
	bands     []tally                   // the levels or groups, and the urgent
	news      ordered.Map[uint32, bool] // sessions without a rate
	unsettled ordered.Map[uint32, bool] // sessions whose engines have changed since they were stored
	turning   ordered.Map[uint32, bool] // that became urgent, or no longer are
	orphans   ordered.Map[string, bool] // objects without a use
	silent    ordered.Map[string, bool] // unknown hosts
	index     *index                    // nil in copies
}

// tally counts the sessions of a band.
type tally struct {
	active  int
	running int // tasks
	demand  int // sum of the caps
	caps    caps
}

// index is what only the owner of the events needs.
type index struct {
	touched   model.Touched
	rates     map[uint32]*rate
	homes     map[string]int // jobs that an object with rates is needed for
	histories map[uint32]history
	keys      map[string]int // jobs by affinity_key
	keyOf     map[uint32]string
}

// linePosition is where a session waits: those of one band, rate and group stand in a
// line, the oldest first.
type linePosition struct {
	band  band
	rate  *rate // nil: new
	group uint32
	age
}

// age orders sessions by their creation.
type age struct {
	created grid.Time
	id      uint32
}

func (a age) before(b age) bool {
	if a.created != b.created {
		return a.created < b.created
	}
	return a.id < b.id
}

func (p linePosition) rateText() string {
	if p.rate == nil {
		return ""
	}
	return p.rate.text
}

// sameLine reports whether two stand in one line.
func (p linePosition) sameLine(o linePosition) bool {
	return p.band == o.band && p.group == o.group && p.rateText() == o.rateText()
}

func (p linePosition) before(o linePosition) bool {
	if p.band != o.band {
		return p.band < o.band
	}
	if a, b := p.rateText(), o.rateText(); a != b {
		return a < b
	}
	if p.group != o.group {
		return p.group < o.group
	}
	return p.age.before(o.age)
}

// NewModel returns a Model that knows nothing yet.
func NewModel() *Model {
	conf, _ := newConfig(&grid.SchedConf{})
	m := &Model{Model: model.New(), conf: conf, index: &index{
		rates: map[uint32]*rate{}, homes: map[string]int{}, histories: map[uint32]history{},
		keys: map[string]int{}, keyOf: map[uint32]string{}}}
	m.orphans, m.silent = ordered.NewMap[string, bool](), ordered.NewMap[string, bool]()
	m.clear()
	return m
}

func (m *Model) clear() {
	byPlace := func(a, b linePosition) bool { return a.before(b) }
	m.sessions = ordered.NewMap[uint32, *session]()
	m.waiting = ordered.NewSet(byPlace)
	m.using = ordered.NewSet(byPlace)
	m.news, m.unsettled, m.turning = ordered.NewMap[uint32, bool](), ordered.NewMap[uint32, bool](),
		ordered.NewMap[uint32, bool]()
	m.bands = make([]tally, len(m.conf.weights)+1)
	for i := range m.bands {
		m.bands[i].caps = ordered.NewMap[int, int]()
	}
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.Model = m.Model.Copy()
	c.sessions, c.waiting, c.using = m.sessions.Copy(), m.waiting.Copy(), m.using.Copy()
	c.news, c.unsettled, c.turning = m.news.Copy(), m.unsettled.Copy(), m.turning.Copy()
	c.orphans, c.silent = m.orphans.Copy(), m.silent.Copy()
	c.bands = slices.Clone(m.bands)
	for i := range c.bands {
		c.bands[i].caps = m.bands[i].caps.Copy()
	}
	c.index = nil
	return &c
}

// Apply follows a list.
func (m *Model) Apply(l events.List) {
	x := m.index
	x.touched.Follow(m.Model, l)
	m.Model.Apply(l)
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindAlgorithmState:
			m.readState(e.Key.Name)
		case grid.KindLoad:
			if load := m.State.Load(e.Key.Name); load != nil && load.Unheard {
				m.silent.Set(e.Key.Name, true)
			} else {
				m.silent.Delete(e.Key.Name)
			}
		case grid.KindSchedConf:
			if conf, err := newConfig(m.State.SchedConf()); err == nil {
				m.conf, x.touched.All = conf, true
			}
		}
	}
	if !x.touched.All && !m.Cluster.Stale() {
		m.settle()
	}
}

// settle looks at the jobs that something has happened to.
func (m *Model) settle() { m.index.touched.Settle(m.Model, m.clear, m.updateSession) }

// updateSession brings a session in line with its job.
func (m *Model) updateSession(id uint32) {
	j := m.State.Job(id)
	if j == nil {
		m.keep(id, "")
		m.removeSession(id)
		m.replace(id, nil)
		return
	}
	group, inLine := m.Stands(id)
	s := &session{id: id, created: j.Submit, group: group, stopped: len(m.Cluster.PreemptedOf(id)),
		running: int(m.Cluster.Started(id)), most: int(m.Cluster.TasksAtOnce(j)), rate: m.index.rates[id]}
	s.running -= s.stopped
	s.band, s.level, s.urgent = m.conf.bandOf(j)
	if j.Spec != nil {
		s.key, _ = j.Spec.Context.Get("affinity_key")
	}
	s.history, s.kept = m.historyOf(j, s)
	m.keep(id, s.key)
	if inLine {
		s.pending = m.Startable(j)
	}
	m.markUrgent(s)
	m.replace(id, s)
}

// keep counts a job among those of its affinity_key.
func (m *Model) keep(id uint32, key string) {
	x := m.index
	old := x.keyOf[id]
	if old == key {
		return
	}
	for _, k := range [...]struct {
		key  string
		sign int
	}{{old, -1}, {key, +1}} {
		if k.key == "" {
			continue
		}
		x.keys[k.key] += k.sign
		n := x.keys[k.key]
		if n == 0 {
			delete(x.keys, k.key)
		}
		if m.stored(ofKey+k.key) != nil {
			m.adopt(ofKey+k.key, n > 0)
		}
	}
	if delete(x.keyOf, id); key != "" {
		x.keyOf[id] = key
	}
}

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	for _, p := range m.Due(now) {
		j := m.State.Job(p.Job)
		if old, ok := m.sessions.Get(p.Job); ok && j != nil {
			s := *old
			s.group, s.pending = p.Group, m.Startable(j)
			m.replace(p.Job, &s)
		}
	}
	m.Model.Start(now)
}

// replace lets a session be what it is now; nil: it is gone.
func (m *Model) replace(id uint32, s *session) {
	old, _ := m.sessions.Get(id)
	if old != nil {
		m.count(old, -1)
	}
	if s == nil {
		m.sessions.Delete(id)
		return
	}
	m.count(s, +1)
	m.sessions.Set(id, s)
}

// count adds a session to where it belongs, or takes it away.
func (m *Model) count(s *session, sign int) {
	is := sign > 0
	mark := func(set ordered.Map[uint32, bool], in bool) {
		if in && is {
			set.Set(s.id, true)
		} else if in {
			set.Delete(s.id)
		}
	}
	mark(m.news, s.rate == nil)
	mark(m.unsettled, s.unsettled())
	mark(m.turning, s.turns)
	if s.wants() {
		lines := m.waiting
		if s.band >= 0 && !s.fresh() {
			lines = m.using
		}
		if is {
			lines.Set(s.placeInLine())
		} else {
			lines.Delete(s.placeInLine())
		}
	}
	if !s.active() {
		return
	}
	t := &m.bands[s.band]
	t.active += sign
	t.running += sign * s.running
	t.demand += sign * s.cap()
	n, _ := t.caps.Get(s.cap())
	if n += sign; n == 0 {
		t.caps.Delete(s.cap())
	} else {
		t.caps.Set(s.cap(), n)
	}
}

func (s *session) placeInLine() linePosition {
	return linePosition{s.band, s.rate, s.group, age{s.created, s.id}}
}

// need is what the tasks of a session ask for.
func (m *Model) need(s *session) *sched.Need { return m.Group(s.group).Need }
