package fbsng

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/model"
)

// Model is the default data model, of jobs as they are cast, and where the
// ready sections stand. What an event costs follows what it changes; a new
// configuration looks at all jobs anew, once.
type Model struct {
	*model.Model
	conf    *Config
	farm    *state.State                 // what bare follows: no jobs
	bare    *sched.Cluster               // the same farm with nothing running
	kinds   *btree.Map[uint32, kind]     // by number
	lines   *btree.BTreeG[place]         // ready sections by kind and batch
	lots    *btree.BTreeG[stock]         // how many stand in each
	batches *btree.Map[uint32, batch]    // sections that were passed together
	queues  *btree.Map[string, standing] // what is remembered of queues
	uses    map[string][]float64         // of quotas, by process type; replaced, never changed
	ledger  *ledger                      // nil in copies
}

// kind is what the sections of a queue have in common that cannot be told
// apart: where the first does not fit, none does.
type kind struct {
	queue, processType, mode, fault string
	group                           uint32
	priority                        int // initial
}

// lot is the sections of a kind that have the same priority, for they were
// passed together: their batch, 0 is none.
type lot struct{ kind, batch uint32 }

type stock struct {
	lot
	count int
}

// batch is sections that were passed together, as it is remembered.
type batch struct {
	gain int
	jobs string // ranges
	size int    // those of them that wait, ready or not
	live int    // those that exist
}

// standing is what is remembered of a queue.
type standing struct{ priority, last int }

func (l lot) before(o lot) bool {
	if l.kind != o.kind {
		return l.kind < o.kind
	}
	return l.batch < o.batch
}

// place is where a section stands.
type place struct {
	lot
	submit grid.Time
	job    uint32
}

func (p place) earlier(o place) bool {
	if p.submit != o.submit {
		return p.submit < o.submit
	}
	return p.job < o.job
}

func (p place) before(o place) bool {
	if p.lot != o.lot {
		return p.lot.before(o.lot)
	}
	return p.earlier(o)
}

type ledger struct {
	touched map[uint32]bool // jobs to look at
	all     bool
	basis   string
	numbers map[kind]uint32
	places  map[uint32]place
	members map[uint32]member    // what a job is counted as
	asked   map[uint32]*grid.Job // as submitted, of those that are cast
	faults  map[uint32]string
	batchOf map[uint32]uint32 // by job
	drawn   map[task]draw
}

// member is a job of a batch.
type member struct {
	batch uint32
	waits bool
}

type task struct{ job, id uint32 }

// draw is what a started task takes from the quota of its type.
type draw struct {
	processType string
	amounts     []float64
}

// NewModel returns a Model that knows nothing yet.
func NewModel() *Model {
	conf, _ := newConfig(&grid.SchedConf{})
	m := &Model{Model: model.New(), conf: conf, farm: state.New(), ledger: &ledger{touched: map[uint32]bool{}, all: true,
		asked: map[uint32]*grid.Job{}, faults: map[uint32]string{}, batchOf: map[uint32]uint32{}, members: map[uint32]member{}}}
	m.bare = sched.NewCluster(m.farm)
	m.batches, m.queues = new(btree.Map[uint32, batch]), new(btree.Map[string, standing])
	m.clear()
	return m
}

// clear forgets where sections stand.
func (m *Model) clear() {
	noLocks := btree.Options{NoLocks: true}
	m.kinds = new(btree.Map[uint32, kind])
	m.lines = btree.NewBTreeGOptions(func(a, b place) bool { return a.before(b) }, noLocks)
	m.lots = btree.NewBTreeGOptions(func(a, b stock) bool { return a.before(b.lot) }, noLocks)
	m.uses = map[string][]float64{}
	m.ledger.numbers, m.ledger.places = map[kind]uint32{}, map[uint32]place{}
	m.ledger.drawn = map[task]draw{}
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.settle()
	c := *m
	c.Model = m.Model.Copy()
	c.farm = m.farm.Copy()
	c.bare = m.bare.Copy(c.farm)
	c.kinds, c.lines, c.lots = m.kinds.Copy(), m.lines.Copy(), m.lots.Copy()
	c.batches, c.queues, c.uses = m.batches.Copy(), m.queues.Copy(), maps.Clone(m.uses)
	c.ledger = nil
	return &c
}

// Apply follows a list: jobs go on as they are cast.
func (m *Model) Apply(l events.List) {
	x := m.ledger
	for _, p := range m.Due(l.At) {
		x.touched[p.Job] = true
	}
	farm := events.List{Seq: l.Seq, At: l.At}
	recast := false
	rest := events.List{Seq: l.Seq, At: l.At, Cause: l.Cause}
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			m.flush(&rest) // what jobs are cast by is known first
			x.touched[e.Key.ID] = true
			delete(x.asked, e.Key.ID)
			delete(x.faults, e.Key.ID)
			if j, ok := e.Object.(*grid.Job); ok {
				e.Object = m.own(j)
			}
		case grid.KindJATask:
			x.touched[e.Key.ID] = true
			m.drop(task{e.Key.ID, e.Key.Sub})
		case grid.KindSchedConf:
			if conf, ok := e.Object.(*grid.SchedConf); ok {
				if c, err := newConfig(conf); err == nil {
					m.conf, recast = c, true
				}
			}
		case grid.KindCentry:
			recast = true
		case grid.KindPETask, grid.KindBooking, grid.KindPriority, grid.KindAlgorithmState, grid.KindAccounting, grid.KindJobScheddInfo, grid.KindReceipt:
		default:
			farm.Events = append(farm.Events, e)
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
	if recast {
		m.recast(l)
	}
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindAlgorithmState:
			m.recall(e.Key.Name)
		case grid.KindJATask:
			m.take(task{e.Key.ID, e.Key.Sub})
		}
	}
}

// flush has the mirror follow what has gathered in a list, if it is more than
// jobs.
func (m *Model) flush(l *events.List) {
	if len(l.Events) > 0 && l.Events[len(l.Events)-1].Kind != grid.KindJob {
		m.Model.Apply(*l)
		l.Events = nil
	}
}

// own casts a job and keeps what was asked.
func (m *Model) own(j *grid.Job) *grid.Job {
	seen, err := m.cast(j)
	if err != nil {
		m.ledger.faults[j.ID] = err.Error()
	}
	if seen != j {
		m.ledger.asked[j.ID] = j
	}
	return seen
}

// recast casts all jobs anew.
func (m *Model) recast(l events.List) {
	x := m.ledger
	x.all = true
	clear(x.faults)
	again := events.List{Seq: l.Seq, At: l.At}
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		asked, was := x.asked[j.ID]
		if !was {
			asked = j
		}
		delete(x.asked, j.ID)
		if seen := m.own(asked); seen != j {
			again.Events = append(again.Events, events.Mod(seen))
		}
		return true
	})
	if len(again.Events) > 0 {
		m.Model.Apply(again)
	}
}

// settle looks at the jobs that something has happened to.
func (m *Model) settle() {
	x := m.ledger
	if basis := m.Basis(); basis != x.basis {
		x.basis, x.all = basis, true
	}
	if x.all {
		m.clear()
		m.State.Each(grid.KindJATask, func(o grid.Object) bool {
			m.take(task{o.Key().ID, o.Key().Sub})
			return true
		})
		m.State.Each(grid.KindJob, func(o grid.Object) bool {
			x.touched[o.Key().ID] = true
			return true
		})
	}
	x.all = false
	for _, id := range slices.Sorted(maps.Keys(x.touched)) {
		m.look(id)
	}
	clear(x.touched)
}

// look lets a section stand where it belongs now.
func (m *Model) look(id uint32) {
	x := m.ledger
	if old, ok := x.places[id]; ok {
		m.leave(old)
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
		m.enter(p)
	}
}

// idle says whether a task of a job waits to start again.
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

// kindOf is the kind of a job's sections.
func (m *Model) kindOf(j *grid.Job, group uint32, fault string) kind {
	k := kind{queue: m.conf.queueOf(j), processType: m.conf.typeOf(j), mode: context(j, "placement"),
		fault: fault, group: group, priority: int(j.Priority)}
	switch {
	case k.mode == "":
		k.mode = roundRobin
	case !placements().Has(k.mode):
		k.fault = fmt.Sprintf("placement %s is none of %s", k.mode, strings.Join(placements(), ", "))
	}
	return k
}

func (m *Model) placeOf(j *grid.Job, group uint32) place {
	k := m.kindOf(j, group, m.ledger.faults[j.ID])
	n, ok := m.ledger.numbers[k]
	if !ok {
		n = uint32(len(m.ledger.numbers) + 1)
		m.ledger.numbers[k] = n
		m.kinds.Set(n, k)
	}
	return place{lot{n, m.ledger.batchOf[j.ID]}, j.Submit, j.ID}
}

// late is where a job stands whose time has come since the copy was taken.
func (m *Model) late(p model.Place) place {
	j := m.State.Job(p.Job)
	_, err := m.cast(j)
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	k, at := m.kindOf(j, p.Group, fault), place{submit: j.Submit, job: p.Job}
	m.kinds.Scan(func(n uint32, o kind) bool {
		if at.kind = n; o != k {
			at.kind = 0
		}
		return o != k
	})
	if at.kind == 0 {
		last, _, _ := m.kinds.Max()
		at.kind = last + 1
		m.kinds.Set(at.kind, k)
	}
	m.batches.Scan(func(id uint32, b batch) bool {
		if parseRanges(b.jobs).Contains(p.Job) {
			at.batch = id
		}
		return at.batch == 0
	})
	return at
}

func (m *Model) enter(p place) {
	m.lines.Set(p)
	s, _ := m.lots.Get(stock{lot: p.lot})
	m.lots.Set(stock{p.lot, s.count + 1})
}

func (m *Model) leave(p place) {
	m.lines.Delete(p)
	s, _ := m.lots.Get(stock{lot: p.lot})
	if s.count <= 1 {
		m.lots.Delete(s)
	} else {
		m.lots.Set(stock{p.lot, s.count - 1})
	}
}

// first is the section of a lot that was submitted first.
func (m *Model) first(l lot) (p place, ok bool) {
	m.lines.Ascend(place{lot: l, submit: math.MinInt64}, func(q place) bool {
		p, ok = q, q.lot == l
		return false
	})
	return p, ok
}

// Start prepares a copy for a run at a time.
func (m *Model) Start(now grid.Time) {
	for _, p := range m.Due(now) {
		if m.State.Job(p.Job) != nil {
			m.enter(m.late(p))
		}
	}
	m.Model.Start(now)
	m.bare.Begin(now)
}

// take counts what a started task draws from the quota of its type; drop
// takes it back.
func (m *Model) take(id task) {
	m.drop(id)
	t, j := m.State.Task(id.job, id.id), m.State.Job(id.job)
	if t == nil || j == nil || !t.Started() {
		return
	}
	name := m.conf.typeOf(j)
	if p := m.conf.processType(name); p != nil && len(p.Quota) > 0 {
		d := draw{name, p.draws(j, int(t.Slots()), m.once)}
		m.ledger.drawn[id] = d
		m.use(d, +1)
	}
}

func (m *Model) drop(id task) {
	if d, ok := m.ledger.drawn[id]; ok {
		m.use(d, -1)
		delete(m.ledger.drawn, id)
	}
}

func (m *Model) use(d draw, sign float64) {
	sum := make([]float64, len(d.amounts))
	copy(sum, m.uses[d.processType])
	for i, n := range d.amounts {
		sum[i] += sign * n
	}
	m.uses[d.processType] = sum
}

// once says whether a resource is taken once by a whole section.
func (m *Model) once(name string) bool {
	e := m.State.Centry(name)
	return e != nil && e.Consumable == "JOB"
}
