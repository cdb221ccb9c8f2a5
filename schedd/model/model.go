package model

import (
	"github.com/tidwall/btree"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// Model is the default data model. One goroutine owns it; Copies may be
// handed to others.
type Model struct {
	State   *state.State
	Cluster *sched.Cluster

	pending    *btree.BTreeG[Place]       // by group, then in dispatch order
	heads      *btree.BTreeG[Place]       // the first of each group, in dispatch order
	waiting    *btree.BTreeG[wait]        // jobs with -a, by time
	requeued   *btree.BTreeG[task]        // enrolled tasks that can start again
	groups     *btree.Map[uint32, *Group] // by number
	immediate  int                        // pending jobs with -now y
	index      *index                     // nil in copies
	categories *btree.Map[string, uint32] // group numbers by key
}

// Group is the jobs of one category.
type Group struct {
	Number   uint32
	Category string
	Need     *sched.Need
}

// Place is where a pending job stands: in its group, and among all by
// priority, submission time and number.
type Place struct {
	Group    uint32
	Job      uint32
	Priority int32
	Submit   grid.Time
}

// before is the dispatch order: -p, then first come first served.
func (p Place) before(o Place) bool {
	switch {
	case p.Priority != o.Priority:
		return p.Priority > o.Priority
	case p.Submit != o.Submit:
		return p.Submit < o.Submit
	}
	return p.Job < o.Job
}

type wait struct {
	until grid.Time
	place Place
}

type task struct{ job, id uint32 }

// index is what only the owner of the events needs.
type index struct {
	places map[uint32]wait // by job; until 0: it is pending now
	counts map[uint32]int  // jobs by group
	empty  int             // groups without jobs, kept for the next one
	next   uint32          // group number
	basis  string          // what categories were made from
	stale  bool            // groups must be made anew
}

// New returns a Model that knows nothing yet.
func New() *Model {
	st := state.New()
	m := &Model{State: st, Cluster: sched.NewCluster(st), index: &index{stale: true}}
	m.clear()
	return m
}

var noLocks = btree.Options{NoLocks: true}

// clear forgets the groups.
func (m *Model) clear() {
	m.pending = btree.NewBTreeGOptions(func(a, b Place) bool {
		if a.Group != b.Group {
			return a.Group < b.Group
		}
		return a.before(b)
	}, noLocks)
	m.heads = btree.NewBTreeGOptions(Place.before, noLocks)
	m.waiting = btree.NewBTreeGOptions(func(a, b wait) bool {
		if a.until != b.until {
			return a.until < b.until
		}
		return a.place.Job < b.place.Job
	}, noLocks)
	m.requeued = btree.NewBTreeGOptions(func(a, b task) bool {
		if a.job != b.job {
			return a.job < b.job
		}
		return a.id < b.id
	}, noLocks)
	m.groups, m.categories = new(btree.Map[uint32, *Group]), new(btree.Map[string, uint32])
	m.immediate = 0
	m.index.places, m.index.counts, m.index.empty = make(map[uint32]wait, m.State.Len(grid.KindJob)), map[uint32]int{}, 0
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.index = nil
	c.State = m.State.Copy()
	c.Cluster = m.Cluster.Copy(c.State)
	c.pending, c.heads, c.waiting = m.pending.Copy(), m.heads.Copy(), m.waiting.Copy()
	c.requeued, c.groups, c.categories = m.requeued.Copy(), m.groups.Copy(), m.categories.Copy()
	return &c
}

// Apply follows a list. Jobs are grouped as they come; in a full state what
// the groups depend on comes before them.
func (m *Model) Apply(l events.List) {
	m.State.Apply(l)
	m.Cluster.Apply(l)
	for _, e := range l.Events {
		if e.Kind != grid.KindJob && e.Kind != grid.KindJATask {
			continue
		}
		if m.index.stale || m.Cluster.Stale() {
			m.settle()
		}
		if e.Kind == grid.KindJATask {
			m.requeue(e.Key.ID, e.Key.Sub)
			m.place(e.Key.ID, m.State.Job(e.Key.ID), false)
			continue
		}
		if e.Op != events.OpAdd {
			m.requeueAll(e.Key.ID)
		}
		m.place(e.Key.ID, m.State.Job(e.Key.ID), true)
	}
	m.due(l.At)
}

// settle brings the groups in line with the configuration: new needs when it
// changed, new groups when categories are no longer the same.
func (m *Model) settle() {
	basis := m.Cluster.CategoryBasis()
	if m.index.stale || basis != m.index.basis {
		m.index.basis, m.index.stale = basis, false
		m.regroup()
		return
	}
	var old []*Group
	m.groups.Scan(func(_ uint32, g *Group) bool {
		if !g.Need.Current(m.Cluster) {
			old = append(old, g)
		}
		return true
	})
	for _, g := range old {
		m.groups.Set(g.Number, &Group{g.Number, g.Category, m.Cluster.Need(g.Need.Job)})
	}
}

func (m *Model) regroup() {
	m.clear()
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		m.requeue(o.Key().ID, o.Key().Sub)
		return true
	})
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		m.place(j.ID, j, true)
		return true
	})
	m.due(m.State.At)
}

// place puts a job (nil: gone) where it belongs now. changed says that its
// category may be another one.
func (m *Model) place(id uint32, j *grid.Job, changed bool) {
	old, had := m.index.places[id]
	now, ready := wait{}, false
	if j != nil && m.ready(j) {
		ready = true
		now.place = Place{Job: id, Priority: j.Priority, Submit: j.Submit}
		if j.ExecTime > m.State.At {
			now.until = j.ExecTime
		}
		if had && !changed {
			now.place.Group = old.place.Group
		} else {
			now.place.Group = m.group(j)
		}
	}
	if had && ready && old == now {
		return
	}
	if had {
		m.leave(old)
		delete(m.index.places, id)
	}
	if ready {
		m.enter(now)
		m.index.places[id] = now
	}
	m.sweep()
}

// ready says whether the job has a task that could start, its -a time aside.
func (m *Model) ready(j *grid.Job) bool {
	if len(j.Predecessors) > 0 {
		return false
	}
	if most := m.Cluster.TasksAtOnce(j); most > 0 && m.Cluster.Started(j.ID) >= most {
		return false
	}
	return m.NextTask(j, 0) != 0
}

func (m *Model) enter(w wait) {
	m.index.counts[w.place.Group]++
	if m.index.counts[w.place.Group] == 1 {
		m.index.empty--
	}
	if w.until > 0 {
		m.waiting.Set(w)
		return
	}
	m.line(w.place)
}

// line puts a job in its group's line.
func (m *Model) line(p Place) {
	head, any := m.head(p.Group)
	if any && p.before(head) {
		m.heads.Delete(head)
	}
	if !any || p.before(head) {
		m.heads.Set(p)
	}
	m.pending.Set(p)
	if g, _ := m.groups.Get(p.Group); g != nil && g.Need.Job.Immediate {
		m.immediate++
	}
}

// leave takes a job out.
func (m *Model) leave(w wait) {
	if w.until > 0 {
		m.waiting.Delete(w)
	} else {
		m.unline(w.place)
	}
	m.index.counts[w.place.Group]--
	if m.index.counts[w.place.Group] == 0 {
		delete(m.index.counts, w.place.Group)
		m.index.empty++
	}
}

func (m *Model) unline(p Place) {
	m.pending.Delete(p)
	if _, was := m.heads.Delete(p); was {
		if head, any := m.head(p.Group); any {
			m.heads.Set(head)
		}
	}
	if g, _ := m.groups.Get(p.Group); g != nil && g.Need.Job.Immediate {
		m.immediate--
	}
}

// head is the first job of a group.
func (m *Model) head(group uint32) (head Place, any bool) {
	m.pending.Ascend(Place{Group: group, Priority: maxPriority}, func(p Place) bool {
		head, any = p, p.Group == group
		return false
	})
	return head, any
}

// maxPriority is above every -p.
const maxPriority = 1 << 30

// group returns the number of a job's group, which is made when it is new.
func (m *Model) group(j *grid.Job) uint32 {
	key := m.Cluster.Category(j)
	if n, ok := m.categories.Get(key); ok {
		return n
	}
	m.index.next++
	slim := *j
	slim.Spec = nil
	m.groups.Set(m.index.next, &Group{m.index.next, key, m.Cluster.Need(&slim)})
	m.categories.Set(key, m.index.next)
	m.index.empty++
	return m.index.next
}

// emptyGroups is how many groups without jobs are kept, so that a category
// that comes back finds what was learned about it.
const emptyGroups = 1024

// sweep forgets the groups without jobs when there are too many.
func (m *Model) sweep() {
	if m.index.empty <= emptyGroups {
		return
	}
	var gone []*Group
	m.groups.Scan(func(n uint32, g *Group) bool {
		if m.index.counts[n] == 0 {
			gone = append(gone, g)
		}
		return true
	})
	for _, g := range gone {
		m.groups.Delete(g.Number)
		m.categories.Delete(g.Category)
	}
	m.index.empty = 0
}

// due lets jobs into their lines whose -a time has come.
func (m *Model) due(now grid.Time) {
	for {
		w, ok := m.waiting.Min()
		if !ok || w.until > now {
			return
		}
		m.waiting.Delete(w)
		m.line(w.place)
		if m.index != nil {
			w.until = 0
			m.index.places[w.place.Job] = w
		}
	}
}

// requeue follows one enrolled task.
func (m *Model) requeue(job, id uint32) {
	j, t := m.State.Job(job), m.State.Task(job, id)
	if j != nil && t != nil && sched.Startable(j, t) {
		m.requeued.Set(task{job, id})
	} else {
		m.requeued.Delete(task{job, id})
	}
}

// requeueAll follows the enrolled tasks of a job whose holds may have changed.
func (m *Model) requeueAll(job uint32) {
	var gone []task
	m.requeued.Ascend(task{job: job}, func(t task) bool {
		if t.job == job {
			gone = append(gone, t)
		}
		return t.job == job
	})
	for _, t := range gone {
		m.requeued.Delete(t)
	}
	for _, t := range m.State.Tasks(job) {
		m.requeue(t.Job, t.ID)
	}
}
