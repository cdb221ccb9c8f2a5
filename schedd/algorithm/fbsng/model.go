package fbsng

import (
	"maps"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/model"
)

// Model is the default data model, with the requirements of jobs and the ready sections.
// The cost of an event depends on what it changes; a new configuration processes all jobs
// again, once.
type Model struct {
	*model.Model
	conf    *Config
	asked   ordered.Map[uint32, *grid.Job] // as submitted, of those with further requirements
	farm    *state.State                   // what bare follows: no jobs
	bare    *sched.Cluster                 // the same farm with nothing running
	kinds   ordered.Map[uint32, kind]      // by number
	lines   ordered.Set[linePosition]      // ready sections by kind and batch
	lots    ordered.Set[stock]             // how many stand in each
	batches ordered.Map[uint32, batch]     // sections that were passed together
	queues  ordered.Map[string, standing]  // stored state of queues
	moves   ordered.Map[int, move]         // ... of starts that are not counted yet, as they were decided
	starts  int                            // so many were counted, in copies
	uses    map[string][]float64           // of quotas, by process type; replaced, never changed
	index   *index                         // nil in copies
}

// findBatch consists of sections that were passed together, as it is stored.
type batch struct {
	gain int
	jobs string // ranges
	size int    // those of them that wait, ready or not
	live int    // those that exist
}

// standing is the stored state of a queue.
type standing struct{ priority, last int }

type index struct {
	touched model.Touched
	numbers map[kind]uint32
	places  map[uint32]linePosition
	members map[uint32]member // what a job is counted as
	faults  map[uint32]string
	batchOf map[uint32]uint32 // by job
	drawn   map[taskID]draw
}

// member is a job of a batch.
type member struct {
	batch uint32
	waits bool
}

type taskID struct{ job, id uint32 }

// NewModel returns a Model that knows nothing yet.
func NewModel() *Model {
	conf, _ := newConfig(&grid.SchedConf{})
	m := &Model{Model: model.New(), conf: conf, farm: state.New(), index: &index{
		faults: map[uint32]string{}, batchOf: map[uint32]uint32{}, members: map[uint32]member{}}}
	m.bare = sched.NewCluster(m.farm)
	m.asked = ordered.NewMap[uint32, *grid.Job]()
	m.batches, m.queues, m.moves = ordered.NewMap[uint32, batch](), ordered.NewMap[string, standing](),
		ordered.NewMap[int, move]()
	m.clear()
	return m
}

// clear forgets where sections stand.
func (m *Model) clear() {
	m.kinds = ordered.NewMap[uint32, kind]()
	m.lines = ordered.NewSet(func(a, b linePosition) bool { return a.before(b) })
	m.lots = ordered.NewSet(func(a, b stock) bool { return a.before(b.lot) })
	m.uses = map[string][]float64{}
	m.index.numbers, m.index.places = map[kind]uint32{}, map[uint32]linePosition{}
	m.index.drawn = map[taskID]draw{}
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.Model = m.Model.Copy()
	c.farm = m.farm.Copy()
	c.bare = m.bare.Copy(c.farm)
	c.asked, c.kinds, c.lines, c.lots = m.asked.Copy(), m.kinds.Copy(), m.lines.Copy(), m.lots.Copy()
	c.batches, c.queues, c.moves, c.uses = m.batches.Copy(), m.queues.Copy(), m.moves.Copy(), maps.Clone(m.uses)
	c.index = nil
	return &c
}

// Apply follows a list: the default model receives jobs with their requirements.
func (m *Model) Apply(l events.List) {
	x := m.index
	x.touched.Follow(m.Model, l)
	farm := events.List{Seq: l.Seq, At: l.At}
	changed := false
	rest := events.List{Seq: l.Seq, At: l.At, Cause: l.Cause}
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			m.flush(&rest) // what requirements follow from comes first
			was := m.submitted(e.Key.ID)
			m.asked.Delete(e.Key.ID)
			if e.Op == events.OpDel { // its last task goes with it, without an event
				for _, t := range m.State.Tasks(e.Key.ID) {
					m.uncountTask(taskID{t.Job, t.ID})
				}
			}
			delete(x.faults, e.Key.ID)
			if j, ok := e.Object.(*grid.Job); ok {
				if e.Op == events.OpMod {
					j = j.After(was)
				}
				e.Object = m.resolve(j)
			}
		case grid.KindJATask:
			m.uncountTask(taskID{e.Key.ID, e.Key.Sub})
		case grid.KindSchedConf:
			if conf, ok := e.Object.(*grid.SchedConf); ok {
				if c, err := newConfig(conf); err == nil {
					m.conf, changed = c, true
				}
			}
		case grid.KindCentry:
			changed = true
		default:
			if grid.EffectOf(e.Kind) != grid.EffectNone {
				farm.Events = append(farm.Events, e)
			}
		}
		if e.Kind == grid.KindSchedConf || e.Kind == grid.KindCentry {
			farm.Events = append(farm.Events, e)
		}
		rest.Events = append(rest.Events, e)
	}
	m.flush(&rest)
	m.Model.Apply(rest)
	m.farm.Apply(farm)
	m.bare.Apply(farm)
	if changed {
		m.resolveAll(l)
	}
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindAlgorithmState:
			m.readState(e.Key.Name)
		case grid.KindJATask:
			m.countTask(taskID{e.Key.ID, e.Key.Sub})
		}
	}
}

// settle looks at the jobs that something has happened to.
func (m *Model) settle() { m.index.touched.Settle(m.Model, m.anew, m.updateJob) }

// anew begins with nothing but what running sections draw from quotas.
func (m *Model) anew() {
	m.clear()
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		m.countTask(taskID{o.Key().ID, o.Key().Sub})
		return true
	})
}

// updateJob lets a section stand where it belongs now.
func (m *Model) updateJob(id uint32) {
	x := m.index
	if old, ok := x.places[id]; ok {
		m.removePlace(old)
		delete(x.places, id)
	}
	if was, ok := x.members[id]; ok {
		m.count(was, -1)
		delete(x.members, id)
	}
	j := m.State.Job(id)
	if j == nil {
		delete(x.batchOf, id)
		return
	}
	if in := x.batchOf[id]; in != 0 {
		is := member{batch: in, waits: len(j.Pending) > 0 || m.idle(id)}
		x.members[id] = is
		m.count(is, +1)
	}
	if group, inLine := m.Stands(id); inLine {
		p := m.placeOf(j, group)
		x.places[id] = p
		m.enterLine(p)
	}
}

// idle reports whether a task of a job waits to start again.
func (m *Model) idle(id uint32) bool {
	return slices.ContainsFunc(m.State.Tasks(id), func(t *grid.JATask) bool { return !t.Started() })
}

func (m *Model) count(is member, by int) {
	if b, ok := m.batches.Get(is.batch); ok {
		b.live += by
		if is.waits {
			b.size += by
		}
		m.batches.Set(is.batch, b)
	}
}

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	for _, p := range m.Due(now) {
		if m.State.Job(p.Job) != nil {
			m.enterLine(m.positionOfLate(p))
		}
	}
	m.Model.Start(now)
	m.bare.Begin(now)
}
