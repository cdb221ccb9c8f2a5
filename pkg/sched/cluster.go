package sched

import (
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/topology"
)

// Cluster is the cluster as scheduling sees it: the configuration resolved, load, queue
// states and the utilization, which follows from started tasks. It is an events.Sink that
// follows a State: apply each list to the State first, then to the Cluster. The cost of
// an event depends on what it changes; only a change of the configuration resolves
// everything anew, once, before the next question.
//
// One goroutine owns a Cluster. Copies are cheap and independent: decide on
// one with Book.
type Cluster struct {
	st   *state.State
	site *site.Layout
	now  grid.Time

	nows       vector[*hostNow]                    // by host index
	world      *hostLoad                           // load of "global"
	usedGlobal []float64                           // consumables in use cluster-wide
	peUsed     []uint32                            // slots in use, by place in Layout.PEs
	booked     ordered.Map[uint64, booking]        // what started tasks hold, by numberOf
	preempted  ordered.Map[uint64, booking]        // those of them that have no slots
	jobs       shared[ordered.Map[uint32, uint32]] // how many tasks have started, of those that are counted
	bookedJobs []uint32                            // the others of which this run has started the one task
	users      shared[ordered.Map[string, uint32]] // where maxujobs limits them
	order      shared[ordered.Set[rank]]           // instances that can take a job now, best first
	full       shared[ordered.Set[rank]]           // those that can take one later, where diagrams are kept
	taken      shared[ordered.Set[taken]]          // instances of resource maps that started tasks have
	// of order, by place in Layout.MapColumns: where such a resource map may have instances left
	mapOrder []shared[ordered.Set[rank]]
	planned  planned
	claims   claims                       // instances of resource maps that are booked or planned without being known
	buckets  shared[ordered.Set[*bucket]] // what is taken under resource quotas
	ars      []*Cluster                   // the advance reservations, each a cluster of its own
	ar       *grid.AR                     // of such a cluster
	of       *Cluster                     // whose reservation it is
	guests   guests
	recent   shared[ordered.Set[start]] // starts that still adjust the load of their hosts
	adjusted []adjusted                 // by host index; nil: none is
	released []int                      // instances that are not watched, with tasks that thresholds suspended
	moves    []rank                     // instances that became better during a run
	improved improvements
	lent     *Cluster // the last that was
	memory   *memory  // of a lent one

	compiled    map[*grid.JobRequest]*Need // see needOf
	sizeClasses map[string]*sizeClass      // see JobSize

	buffer  []complex.Demand // scratch of debit
	scratch search           // scratch of the parallel search
}

// hostNow is what changes of a host. It is cloned before the first write
// after a copy.
type hostNow struct {
	token  *byte
	load   *hostLoad // nil: never reported
	width  int
	used   []float64          // consumables in use: a row for the host, one for each instance
	guests []float64          // like used, by tasks of advance reservations; nil: nothing
	states []grid.QueueState  // stored states by instance, from place 1; replaced, never written
	ranks  []rank             // where the instances stand in the order or among the full; inst -1: nowhere
	plans  []*diagram.Diagram // like used; nil where diagrams are not kept
	cores  *topology.Set      // threads that started tasks are bound to, see bound; replaced, never written
}

// JobSize is how many slots a job requests, and for how long. Among jobs that are
// alike in all else, one that is not smaller than another has no placement when
// the other one has none.
type JobSize struct {
	class   *sizeClass // jobs of the same category but for slots and h_rt
	slots   int        // the fewest that it accepts
	seconds float64
}

// sizeClass are jobs that differ only in size. Like a Need it stores, for one run
// at a time, for which sizes the search for a placement failed.
type sizeClass struct {
	run    *byte
	failed []JobSize // without a placement; the smallest ones
}

// bound returns the threads that started tasks are bound to. Few hosts have some: the set is not in hostNow, which a
// run copies for each host on which it starts something.
func (n *hostNow) bound() topology.Set {
	if n.cores == nil {
		return nil
	}
	return *n.cores
}

// booking is what a started task was counted as.
type booking struct {
	spec *grid.Job
	run  *grid.JATask
	end  grid.Time // see grossEnd
}

// numberOf is a task in the order of jobs and their tasks.
func numberOf(job, task uint32) uint64 { return uint64(job)<<32 | uint64(task) }

// NewCluster returns the Cluster of a State, which it follows from now on.
func NewCluster(st *state.State) *Cluster { return &Cluster{st: st} }

// Copy returns a Cluster that stays as this one is now, over a copy of the
// State.
func (c *Cluster) Copy(st *state.State) *Cluster {
	c.catchUp()
	d := *c
	d.st, d.booked, d.preempted = st, c.booked.Copy(), c.preempted.Copy()
	d.nows = c.nows.copy()
	d.usedGlobal, d.peUsed = slices.Clone(c.usedGlobal), slices.Clone(c.peUsed)
	d.jobs, d.users, d.recent, d.adjusted = c.jobs.copied(), c.users.copied(), c.recent.copied(), slices.Clone(c.adjusted)
	d.bookedJobs, d.released = slices.Clone(c.bookedJobs), slices.Clone(c.released)
	d.order, d.full, d.buckets, d.taken = c.order.copied(), c.full.copied(), c.buckets.copied(), c.taken.copied()
	d.mapOrder = slices.Clone(c.mapOrder)
	for i := range d.mapOrder {
		d.mapOrder[i] = c.mapOrder[i].copied()
	}
	d.planned, d.guests, d.claims = c.planned.copy(), c.guests.copy(), c.claims.copy()
	d.ars = make([]*Cluster, len(c.ars))
	for i, r := range c.ars {
		d.ars[i] = r.Copy(st)
		d.ars[i].of = &d
	}
	d.moves, d.compiled, d.sizeClasses, d.buffer, d.scratch, d.lent, d.memory = nil, nil, nil, nil, search{}, nil, nil
	return &d
}

// Apply follows a list that the State has applied already.
func (c *Cluster) Apply(l events.List) {
	c.now = max(c.now, l.At)
	for _, e := range l.Events {
		if c.site == nil {
			return
		}
		c.apply(e)
	}
}

// apply follows one event: by the function of its kind, or by resolving the
// configuration anew before the next question.
func (c *Cluster) apply(e events.Event) {
	switch follow := followers[e.Kind]; {
	case follow != nil:
		follow(c, e)
	case grid.EffectOf(e.Kind) == grid.EffectConfig:
		c.site = nil
	}
}

// followers follow the events of each kind with grid.EffectUse.
var followers = [1 << 8]func(*Cluster, events.Event){
	grid.KindLoad:      (*Cluster).followLoad,
	grid.KindQInstance: (*Cluster).followInstance,
	grid.KindJATask:    (*Cluster).followTask,
	grid.KindJob:       (*Cluster).followJob,
}

func (c *Cluster) followLoad(e events.Event) {
	if c.otherTopology(e.Key.Name) {
		c.site = nil
		return
	}
	c.reload(e.Key.Name)
	for _, r := range c.ars {
		r.reload(e.Key.Name)
	}
}

func (c *Cluster) followInstance(e events.Event) {
	c.restate(e.Key.Name)
	for _, r := range c.ars {
		if _, holds := r.site.InstAt[e.Key.Name]; holds {
			r.restate(e.Key.Name)
		}
	}
}

func (c *Cluster) followTask(e events.Event) {
	now, _ := e.Object.(*grid.JATask)
	c.rebook(e.Key.ID, e.Key.Sub, now)
	if now != nil {
		c.release(now)
	}
}

func (c *Cluster) followJob(e events.Event) {
	if e.Op != events.OpAdd {
		c.rebookJob(e.Key.ID)
	}
}

// Stale reports whether the configuration changed since it was last resolved.
func (c *Cluster) Stale() bool { return c.site == nil }

// settle resolves the configuration if it changed.
func (c *Cluster) settle() {
	if c.site != nil {
		return
	}
	c.site = site.NewLayout(c.st)
	c.empty()
	c.planARs()
	c.st.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			c.book(t)
			c.release(t)
		}
		return true
	})
	for _, r := range c.ars {
		r.reorderAll()
	}
	c.reorderAll()
}

func (c *Cluster) reorderAll() {
	for i := range c.site.Hosts {
		c.reorder(i)
	}
	c.noteAllImproved()
}

// empty makes the layout a cluster in which nothing is in use or planned yet.
func (c *Cluster) empty() {
	c.nows = newVector[*hostNow](len(c.site.Hosts))
	c.usedGlobal = make([]float64, len(c.site.Complex.Consumables))
	c.peUsed = make([]uint32, len(c.site.PEs))
	c.booked, c.preempted = ordered.NewMap[uint64, booking](), ordered.NewMap[uint64, booking]()
	c.released = nil
	c.jobs.rows, c.users.rows = ordered.NewMap[uint32, uint32](), ordered.NewMap[string, uint32]()
	c.recent.rows, c.adjusted = ordered.NewSet(start.before), nil
	c.order.rows = ordered.NewSet(rank.before)
	c.full.rows = ordered.NewSet(rank.before)
	c.taken.rows = ordered.NewSet(taken.before)
	c.mapOrder = make([]shared[ordered.Set[rank]], len(c.site.MapColumns))
	for i := range c.mapOrder {
		c.mapOrder[i].rows = ordered.NewSet(rank.before)
	}
	c.guests = guests{make([]float64, len(c.usedGlobal)), make([]int, len(c.site.PEs))}
	c.planned, c.buckets.rows, c.claims = newPlanned(c.site), newBuckets(), claims{}
	c.world = c.parseLoad(c.st.Load(grid.GlobalHost), nil)
	for i, h := range c.site.Hosts {
		n := &hostNow{token: c.nows.token, width: len(c.usedGlobal)}
		n.load = c.parseLoad(c.st.Load(h.Name), h)
		n.used = make([]float64, n.width*(1+len(h.Instances)))
		if c.site.Planning {
			n.plans = make([]*diagram.Diagram, len(n.used))
		}
		n.states = make([]grid.QueueState, len(h.Instances))
		n.ranks = make([]rank, len(h.Instances))
		for k, in := range h.Instances {
			n.ranks[k].inst = -1
			if q := c.st.QInstance(in.Queue.Name, h.Name); q != nil {
				n.states[k] = q.State
			}
		}
		c.nows.set(i, n, nil)
	}
}

// own returns a host's changing part for writing.
func (c *Cluster) own(host int) *hostNow {
	n := c.nows.get(host)
	if n.token == c.nows.token {
		return n
	}
	n = c.memory.host(n)
	n.token = c.nows.token
	c.nows.set(host, n, c.memory.pages())
	return n
}

func (c *Cluster) reload(name string) {
	if name == grid.GlobalHost {
		c.world = c.parseLoad(c.st.Load(name), nil)
		c.reorderAll()
		return
	}
	if i, ok := c.site.HostAt[name]; ok {
		n := c.own(i)
		was, most := n.load, c.mostAtOnce(i)
		n.load = c.parseLoad(c.st.Load(name), c.site.Hosts[i])
		c.noteLoad(i, was, most, c.reorder(i))
	}
}

// restate follows a queue instance: its state, or that it came or went.
func (c *Cluster) restate(name string) {
	o, _ := c.st.Get(grid.KindQInstance, grid.Key{Name: name}).(*grid.QInstance)
	i, known := c.site.InstAt[name]
	if known != (o != nil) {
		c.site = nil
		return
	}
	if !known {
		return
	}
	in := c.site.Instances[i]
	now := c.own(in.Host.Index)
	now.states = slices.Clone(now.states)
	now.states[in.Place-1] = o.State
	c.reorder(in.Host.Index)
	c.noteImproved(in.Host.Index)
}

// row is a host's (0) or instance's use of the consumables.
func (n *hostNow) row(place int) []float64 { return n.used[place*n.width : (place+1)*n.width] }

// guestsOf is the row of what tasks of advance reservations take, nil when
// there have been none.
func (n *hostNow) guestsOf(place int) []float64 {
	if n.guests == nil {
		return nil
	}
	return n.guests[place*n.width : (place+1)*n.width]
}

// diagrams are those of a row, nil where none are kept.
func (n *hostNow) diagrams(place int) []*diagram.Diagram {
	if n.plans == nil {
		return nil
	}
	return n.plans[place*n.width : (place+1)*n.width]
}

// hostLoad is a load report as numbers by attribute; NaN where none was
// reported. Scaling is applied. Never changed once made.
type hostLoad struct {
	*grid.Load
	num []float64
}

func (c *Cluster) parseLoad(l *grid.Load, h *site.Host) *hostLoad {
	if l == nil {
		return nil
	}
	p := &hostLoad{Load: l, num: make([]float64, len(c.site.Complex.List))}
	for i := range p.num {
		p.num[i] = math.NaN()
	}
	for _, v := range l.Values {
		i := c.site.Complex.Find(v.Name)
		if i < 0 || !c.site.Complex.List[i].Numeric {
			continue
		}
		if n, ok := c.site.Complex.List[i].Type.Parse(v.Text); ok {
			p.num[i] = n
		}
	}
	if l.Processors > 0 { // np_load_avg follows from load_avg where it was not reported
		for i := range c.site.Complex.List {
			name, np := strings.CutPrefix(c.site.Complex.List[i].Name, "np_")
			if j := c.site.Complex.Find(name); np && j >= 0 && math.IsNaN(p.num[i]) {
				p.num[i] = p.num[j] / float64(l.Processors)
			}
		}
	}
	if h != nil {
		for name, f := range h.Scaling { // order: each name is another attribute
			if i := c.site.Complex.Find(name); i >= 0 {
				p.num[i] *= f
			}
		}
	}
	return p
}

// text is a reported value as text.
func (l *hostLoad) text(name string) (string, bool) {
	if l == nil {
		return "", false
	}
	return l.Values.Get(name)
}

func (l *hostLoad) number(attr int) (float64, bool) {
	if l == nil || math.IsNaN(l.num[attr]) {
		return 0, false
	}
	return l.num[attr], true
}

// statesOf are those of an instance that do not depend on load.
func (n *hostNow) statesOf(in *site.Instance) grid.QueueState {
	s := n.states[in.Place-1]
	if in.Ambiguous {
		s |= grid.QueueAmbiguous
	}
	return s
}
