package sched

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
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
	site *site.Layout // resolved by settle; nil: the configuration has changed

	// What is used and planned; written by followers and by the decisions of a run, which pass on its Changes.
	ledger *ledger.Ledger

	// Written by reload and restate.
	nows  cow.List[hostNow] // by host index
	world *site.Load        // load of "global"

	// Written by reorder, which holds load, states and the ledger against each other. An instance is where its rank says.
	ranks    cow.List[rank]                // by instance; inst -1: nowhere
	order    cow.Tree[ordered.Set[rank]]   // instances that can take a job now, best first
	full     cow.Tree[ordered.Set[rank]]   // those that can take one later, where diagrams are kept
	mapOrder []cow.Tree[ordered.Set[rank]] // of order, by place in Layout.MapColumns: where instances may be left
	moves    []rank                        // instances that became better during a run

	// Written by adjust and fade.
	recent   cow.Tree[ordered.Set[start]] // starts that still adjust the load of their hosts
	adjusted []adjusted                   // by host index; nil: none is

	released []int        // instances that are not watched, with tasks that thresholds suspended; written by release
	improved improvements // written by the notes of infeasible.go

	ars  []*Cluster // the advance reservations, each a cluster of its own over its part of the ledger
	ar   *grid.AR   // of such a cluster
	of   *Cluster   // whose reservation it is
	lent *Cluster   // the last that was

	// What AtBest has made; settle, reload and restate drop it when it would be another one.
	best *Cluster

	find search // what questions are asked with: the moment, the window that is looked at

	compiled    map[*grid.JobRequest]*Need // see needOf
	sizeClasses map[string]*sizeClass      // see JobSize

	buffer []complex.Demand // scratch
}

// hostNow is what changes of a host beside its use and the ranks of its instances.
type hostNow struct {
	load   *site.Load        // nil: never reported
	states []grid.QueueState // stored states by instance, from place 1; replaced, never written
}

// NewCluster returns the Cluster of a State, which it follows from now on.
func NewCluster(st *state.State) *Cluster {
	c := &Cluster{st: st}
	c.find.Cluster = c
	return c
}

// Copy returns a Cluster that stays as this one is now, over a copy of the
// State.
func (c *Cluster) Copy(st *state.State) *Cluster {
	c.catchUp()
	d := c.copyOver(st, c.ledger.Copy(st))
	if c.best != nil {
		d.best = c.best.Copy(st)
	}
	return d
}

func (c *Cluster) copyOver(st *state.State, l *ledger.Ledger) *Cluster {
	d := *c
	d.st, d.ledger, d.nows, d.ranks = st, l, c.nows.Copy(), c.ranks.Copy()
	d.recent, d.adjusted, d.released = c.recent.Copy(), slices.Clone(c.adjusted), slices.Clone(c.released)
	d.order, d.full, d.mapOrder = c.order.Copy(), c.full.Copy(), slices.Clone(c.mapOrder)
	for i := range d.mapOrder {
		d.mapOrder[i] = c.mapOrder[i].Copy()
	}
	d.ars = make([]*Cluster, len(c.ars))
	for i, r := range c.ars {
		d.ars[i] = r.copyOver(st, l.Part(r.ar.ID))
		d.ars[i].of, d.ars[i].find.of = &d, &d
	}
	d.forgetRun()
	d.find = search{Cluster: &d, of: d.of, span: c.find.span.Present()}
	d.buffer, d.lent, d.best = nil, nil, nil
	return &d
}

// Lend returns a Cluster to book on until this one follows another list or
// lends again: both share what only events change, and what a run writes lives
// in memory that serves the next run as well.
func (c *Cluster) Lend() *Cluster {
	c.catchUp()
	return c.lendOver(c.ledger.Lend())
}

func (c *Cluster) lendOver(l *ledger.Ledger) *Cluster {
	if c.lent == nil {
		c.lent = &Cluster{}
	}
	d := c.lent
	was := *d
	*d = *c
	d.lent, d.ledger, d.nows, d.ranks = was.lent, l, c.nows.Lend(was.nows), c.ranks.Lend(was.ranks)
	d.recent, d.adjusted = c.recent.Lend(), cow.Clone(was.adjusted, c.adjusted)
	d.order, d.full, d.mapOrder = c.order.Lend(), c.full.Lend(), cow.Clone(was.mapOrder, c.mapOrder)
	for i := range d.mapOrder {
		d.mapOrder[i] = c.mapOrder[i].Lend()
	}
	d.ars = was.ars[:0]
	for _, r := range c.ars {
		r = r.lendOver(l.Part(r.ar.ID))
		r.of, r.find.of = d, d
		d.ars = append(d.ars, r)
	}
	d.forgetRun()
	d.find = search{Cluster: d, of: d.of, span: c.find.span.Present(), walk: was.find.walk, better: was.find.better,
		gathered: was.find.gathered}
	d.buffer, d.best = was.buffer, nil
	return d
}

// forgetRun drops what belongs to one run alone.
func (c *Cluster) forgetRun() {
	c.moves, c.compiled, c.sizeClasses = nil, nil, nil
}

// Apply follows a list that the State has applied already.
func (c *Cluster) Apply(l events.List) {
	c.find.span.Now = max(c.find.span.Now, l.At)
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
	if !c.site.HasTopology(e.Key.Name, c.st.Load(e.Key.Name)) {
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
	c.follow(c.ledger.Follow(e.Key.ID, e.Key.Sub, now))
	if now != nil {
		c.release(now)
	}
}

func (c *Cluster) followJob(e events.Event) {
	if e.Op == events.OpAdd {
		return
	}
	for _, ch := range c.ledger.FollowJob(e.Key.ID) {
		c.follow(ch)
	}
}

// follow brings the order of the instances in line with a change of the ledger, and notes what it may improve.
func (c *Cluster) follow(ch ledger.Change) {
	c.note(ch)
	for _, b := range [...]*ledger.Booking{&ch.Ended, &ch.Began, &ch.Suspended} {
		if b.Task != nil {
			c.reorderAround(b.Job.AR, b.Task.Grants)
		}
	}
}

// note notes what a change of the ledger improves, and how it adjusts load.
func (c *Cluster) note(ch ledger.Change) {
	if t := ch.Ended.Task; t != nil {
		c.adjust(t.Grants, t.Start, -1)
		c.noteReleased(ch)
	}
	if t := ch.Began.Task; t != nil {
		c.adjust(t.Grants, t.Start, +1)
	}
	if ch.Suspended.Task != nil {
		c.noteAllImproved()
	}
}

// Stale reports whether the configuration changed since it was last resolved.
func (c *Cluster) Stale() bool { return c.site == nil }

// settle resolves the configuration if it changed.
func (c *Cluster) settle() {
	if c.site != nil {
		return
	}
	c.site, c.best = site.NewLayout(c.st), nil
	c.find.span.Interval = c.site.Policy.Interval
	c.nows, c.world = nowsOf(c.site, c.st), c.site.ParseLoad(c.st.Load(grid.GlobalHost), nil)
	c.populate(c.st.ARs(), true)
}

// populate makes the layout and what is known of the hosts a cluster with advance reservations and, if they are
// counted, the started tasks.
func (c *Cluster) populate(ars []*grid.AR, counted bool) {
	c.ledger, c.ars = ledger.New(c.site, c.st), nil
	c.empty()
	for _, a := range ars {
		c.ars = append(c.ars, c.reservation(a))
	}
	if counted {
		c.st.Each(grid.KindJATask, func(o grid.Object) bool {
			if t := o.(*grid.JATask); t.Started() {
				c.note(ledger.Change{Began: c.ledger.Count(t)})
				c.release(t)
			}
			return true
		})
	}
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

// empty makes a cluster in which nothing runs and no instance stands in the order yet.
func (c *Cluster) empty() {
	c.ranks = cow.NewList[rank](len(c.site.Instances))
	for i := range c.site.Instances {
		c.ranks.Set(i, rank{inst: -1})
	}
	c.released = nil
	c.recent.Rows, c.adjusted = ordered.NewSet(start.before), nil
	c.order.Rows = ordered.NewSet(rank.before)
	c.full.Rows = ordered.NewSet(rank.before)
	c.mapOrder = make([]cow.Tree[ordered.Set[rank]], len(c.site.MapColumns))
	for i := range c.mapOrder {
		c.mapOrder[i].Rows = ordered.NewSet(rank.before)
	}
}

// nowsOf returns the load of the hosts of a layout and the states of their queue instances.
func nowsOf(l *site.Layout, st *state.State) cow.List[hostNow] {
	nows := cow.NewList[hostNow](len(l.Hosts))
	for i, h := range l.Hosts {
		n := hostNow{l.ParseLoad(st.Load(h.Name), h), make([]grid.QueueState, len(h.Instances))}
		for k, in := range h.Instances {
			if q := st.QInstance(in.Queue.Name, h.Name); q != nil {
				n.states[k] = q.State
			}
		}
		nows.Set(i, n)
	}
	return nows
}

func (c *Cluster) reload(name string) {
	if name == grid.GlobalHost {
		c.world = c.site.ParseLoad(c.st.Load(name), nil)
		c.reorderAll()
		return
	}
	if i, ok := c.site.HostAt[name]; ok {
		n := *c.nows.At(i)
		was, most := n.load, c.mostAtOnce(i)
		n.load = c.site.ParseLoad(c.st.Load(name), c.site.Hosts[i])
		if !n.load.LastsAs(was) {
			c.best = nil
		}
		c.nows.Set(i, n)
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
	now := *c.nows.At(in.Host.Index)
	now.states = slices.Clone(now.states)
	if (now.states[in.Place-1]^o.State)&grid.QueueOrphaned != 0 {
		c.best = nil
	}
	now.states[in.Place-1] = o.State
	c.nows.Set(in.Host.Index, now)
	c.reorder(in.Host.Index)
	c.noteImproved(in.Host.Index)
}

// statesOf are those of an instance that do not depend on load.
func (n *hostNow) statesOf(in *site.Instance) grid.QueueState {
	s := n.states[in.Place-1]
	if in.Ambiguous {
		s |= grid.QueueAmbiguous
	}
	return s
}
