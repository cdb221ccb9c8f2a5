package scoot

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/schedd/model"
)

// Model is the default data model and this algorithm's classes. The cost of an event
// depends on what it changes; a new configuration of classes processes all jobs again,
// once.
type Model struct {
	*model.Model
	conf      *Config
	members   ordered.Map[uint32, member] // jobs that wait or run
	lines     ordered.Set[linePosition]   // those that wait
	tasks     ordered.Set[started]        // running
	tallies   []tally                     // by class; parallel jobs come last
	durations durations
	orphans   ordered.Map[string, bool] // objects without a use
	index     *index                    // nil in copies
}

// member is a job and how many of its tasks wait to start, or to continue: those
// that were stopped and stand still have no worker.
type member struct {
	linePosition
	waiting uint32
	stopped uint32
}

// tally counts the tasks of a class; those that stand still wait.
type tally struct{ running, waiting int }

// index is what only the owner of the events needs.
type index struct {
	touched model.Touched
	tasks   map[taskID]bool // to look at
	running map[taskID]started
	classes map[string]uint32 // by requestor
}

type taskID struct{ job, task uint32 }

// NewModel returns a Model that knows nothing yet.
func NewModel() *Model {
	conf, _ := newConfig(&grid.SchedConf{})
	m := &Model{Model: model.New(), conf: conf, durations: newDurations(mostDurations),
		orphans: ordered.NewMap[string, bool](),
		index:   &index{tasks: map[taskID]bool{}}}
	m.clear()
	return m
}

func (m *Model) clear() {
	m.members = ordered.NewMap[uint32, member]()
	m.lines = ordered.NewSet(linePosition.before)
	m.tasks = ordered.NewSet(started.before)
	m.tallies = make([]tally, len(m.conf.order)+1)
	m.index.running, m.index.classes = map[taskID]started{}, map[string]uint32{}
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.Model = m.Model.Copy()
	c.members, c.lines, c.tasks = m.members.Copy(), m.lines.Copy(), m.tasks.Copy()
	c.tallies, c.durations, c.orphans = slices.Clone(m.tallies), m.durations.copy(), m.orphans.Copy()
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
		case grid.KindJob:
			if e.Op == events.OpDel {
				m.orphan(hostName(e.Key.ID))
			}
		case grid.KindJATask:
			x.tasks[taskID{e.Key.ID, e.Key.Sub}] = true
		case grid.KindAccounting:
			if a, ok := e.Object.(*grid.Accounting); ok && a.Array && a.Failed == 0 && a.Start != 0 && !a.Rescheduled {
				m.durations.took(a.Name, a.Task, a.End.Sub(a.Start))
			}
		case grid.KindAlgorithmState:
			if name, own := strings.CutPrefix(e.Key.Name, Name+"/"); own {
				m.orphan(name)
			}
		case grid.KindSchedConf:
			if conf, err := newConfig(m.State.SchedConf()); err == nil {
				m.conf, x.touched.All = conf, true
			}
		}
	}
}

// settle looks at what something has happened to.
func (m *Model) settle() {
	x := m.index
	x.touched.Settle(m.Model, m.anew, m.updateJob)
	for t := range x.tasks { // order: each changes only its own entries
		m.updateTask(t)
	}
	clear(x.tasks)
}

// anew begins with nothing.
func (m *Model) anew() {
	m.clear()
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		m.index.tasks[taskID{o.Key().ID, o.Key().Sub}] = true
		return true
	})
}

// updateJob brings a member in line with its job.
func (m *Model) updateJob(id uint32) {
	j := m.State.Job(id)
	group, inLine := m.Stands(id)
	if j == nil || group == 0 {
		m.replace(id, member{})
		return
	}
	now := member{linePosition: linePosition{class: m.classOf(j), group: group, running: m.Cluster.Started(id),
		submit: j.Submit, job: id}}
	now.stopped = uint32(len(m.Cluster.PreemptedOf(id)))
	now.running -= now.stopped
	if inLine {
		now.waiting = m.eligible(j)
	}
	if old, known := m.members.Get(id); now.running+now.stopped > 0 && (!known || old.class != now.class) {
		for _, t := range m.State.Tasks(id) {
			m.index.tasks[taskID{t.Job, t.ID}] = true
		}
	}
	m.replace(id, now)
}

// classOf is the class of a job: where it stands in the order, parallel jobs
// after all.
func (m *Model) classOf(j *grid.Job) uint32 {
	if j.PE != "" {
		return m.parallel()
	}
	x := m.index
	r := m.conf.requestor(j)
	class, known := x.classes[r]
	if !known {
		n, _ := m.conf.classify(r)
		class = uint32(n)
		if len(x.classes) >= mostRequestors {
			clear(x.classes)
		}
		x.classes[r] = class
	}
	return class
}

// mostRequestors is of how many the class is kept in mind.
const mostRequestors = 10_000

// parallel is the number of the class of parallel jobs, which is none.
func (m *Model) parallel() uint32 { return uint32(len(m.conf.order)) }

// eligible counts the tasks of a job that could start at once.
func (m *Model) eligible(j *grid.Job) uint32 {
	n := uint32(m.Startable(j))
	if most := m.Cluster.TasksAtOnce(j); most > 0 {
		return min(n, most-min(most, m.Cluster.Started(j.ID)))
	}
	return n
}

// replace lets a job be what it is now; the zero member is none.
func (m *Model) replace(id uint32, now member) {
	if old, known := m.members.Get(id); known {
		m.count(old, -1)
		if old.waiting > 0 {
			m.lines.Delete(old.linePosition)
		}
	}
	if now.group == 0 {
		m.members.Delete(id)
		return
	}
	m.count(now, +1)
	if now.waiting > 0 {
		m.lines.Set(now.linePosition)
	}
	m.members.Set(id, now)
}

func (m *Model) count(b member, sign int) {
	t := &m.tallies[b.class]
	t.running += sign * int(b.running)
	t.waiting += sign * int(b.waiting+b.stopped)
}

// updateTask keeps the running tasks of classes in order.
func (m *Model) updateTask(id taskID) {
	x := m.index
	if old, was := x.running[id]; was {
		m.tasks.Delete(old)
		delete(x.running, id)
	}
	t := m.State.Task(id.job, id.task)
	b, known := m.members.Get(id.job)
	if t == nil || !t.HoldsSlots() || !known || b.class == m.parallel() {
		return
	}
	s := started{b.class, t.Start, t.Job, t.ID}
	m.tasks.Set(s)
	x.running[id] = s
}

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	for _, p := range m.Due(now) {
		if b, known := m.members.Get(p.Job); known {
			b.waiting = m.eligible(m.State.Job(p.Job))
			m.replace(p.Job, b)
		}
	}
	m.Model.Start(now)
}

// State of this algorithm that qmaster stores, by name and values:
//
//	rebalance   since=milliseconds: when the spread rose above the threshold
//	host/7      host=h: where the last task of array job 7 was started
const (
	clockName = "rebalance"
	ofHost    = "host/"
)

func hostName(job uint32) string { return ofHost + strconv.FormatUint(uint64(job), 10) }

// stored returns a value of an object that qmaster stores.
func (m *Model) stored(name, value string) (text string, ok bool) {
	s, ok := m.State.Get(grid.KindAlgorithmState, grid.Key{Name: Name + "/" + name}).(*grid.AlgorithmState)
	if !ok {
		return "", false
	}
	return s.Values.Get(value)
}

// orphan notes whether an object of a job is there, but not the job.
func (m *Model) orphan(name string) {
	text, ofJob := strings.CutPrefix(name, ofHost)
	id, err := strconv.ParseUint(text, 10, 32)
	if !ofJob || err != nil {
		return
	}
	if _, kept := m.stored(name, "host"); kept && m.State.Job(uint32(id)) == nil {
		m.orphans.Set(name, true)
	} else {
		m.orphans.Delete(name)
	}
}

func keep(name string, values ...grid.Value) grid.AlgorithmState {
	return grid.AlgorithmState{Algorithm: Name, Name: name, Values: values}
}
