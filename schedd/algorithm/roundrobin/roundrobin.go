package roundrobin

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Entry is the algorithm that sched_conf(5) calls roundrobin.
var Entry = algorithm.Pair(Name, NewModel, New).Dividing(division)

// Decider decides by the configuration it was made from.
type Decider struct{ conf *Config }

// New makes a decider; it fails for an invalid parameter, with its name.
var New = algorithm.NewDecider(newConfig, func(c *Config) algorithm.Decider[*Model] { return &Decider{c} })

// Params are the parameters that hold.
func (d *Decider) Params() []grid.Param { return algorithm.Describe(d.conf) }

// Decide yields the orders of one run.
func (d *Decider) Decide(r algorithm.Run, m *Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		s := newRun(r, m, yield)
		s.Prepare()
		s.serveOwners()
		s.DropImmediate()
		s.reportReasons()
		s.PublishReservations()
	}
}

// Explain is the order in which owners will have their turns, and the first
// job of each.
func (d *Decider) Explain(r algorithm.Run, m *Model) []string {
	lines := []string{fmt.Sprintf("%-4s %-20s %s", "turn", d.conf.GroupBy, "first job")}
	for i, o := range newRun(r, m, nil).ring {
		lines = append(lines, fmt.Sprintf("%-4d %-20s %d", i+1, o.name, o.at.job))
	}
	return lines
}

// run is one decision: it dies with it.
type run struct {
	model.Decision
	*Config
	m       *Model
	ring    []*owner                 // the next to have a turn first
	begun   map[uint32]uint32        // the last task that was started, by job
	cursors map[uint32]*sched.Cursor // by group
	out     map[uint32]bool          // groups without a place
}

// owner is a user with jobs waiting: those before a place had their turn in
// this run.
type owner struct {
	name string
	at   linePosition
}

func newRun(r algorithm.Run, m *Model, yield func(orders.Order) bool) *run {
	m.Start(r.Now)
	s := &run{Decision: m.Decision(r, yield), Config: m.conf, m: m, begun: map[uint32]uint32{},
		cursors: map[uint32]*sched.Cursor{}, out: map[uint32]bool{}}
	for _, name := range m.owners() {
		at, _ := m.first(linePosition{owner: name, submit: math.MinInt64}, nil)
		s.ring = append(s.ring, &owner{name, at})
	}
	next := slices.IndexFunc(s.ring, func(o *owner) bool { return o.name > s.last() })
	s.ring = slices.Concat(s.ring[max(next, 0):], s.ring[:max(next, 0)])
	return s
}

// last returns the owner of the last turn. qmaster stores it as `turn`, owner=NAME.
func (r *run) last() string {
	s, ok := r.m.State.Get(grid.KindAlgorithmState, grid.Key{Name: Name + "/turn"}).(*grid.AlgorithmState)
	if !ok {
		return ""
	}
	name, _ := s.Values.Get("owner")
	return name
}

// serveOwners goes round until no owner can start anything.
func (r *run) serveOwners() {
	for len(r.ring) > 0 && !r.Stopped && !r.m.Cluster.Idle() && len(r.out) < r.m.PendingGroups() {
		o := r.ring[0]
		r.ring = r.ring[1:]
		if r.serveOwner(o) {
			r.ring = append(r.ring, o)
		}
	}
}

// serveOwner starts what an owner may; false when it can start nothing more.
func (r *run) serveOwner(o *owner) bool {
	for started := 0; started < r.Tasks && !r.Stopped; {
		p, ok := r.m.first(o.at, r.out)
		if !ok {
			return false
		}
		if o.at = p; r.task(o) {
			started++
		} else {
			o.at.job++ // on to the next
		}
	}
	return true
}

// task starts a task of the first job of an owner; false when it has none that
// can start.
func (r *run) task(o *owner) bool {
	j, g := r.m.State.Job(o.at.job), r.m.Group(o.at.group)
	id := r.m.NextTask(j, r.begun[j.ID])
	if id == 0 || !r.MayStart(j) {
		return false
	}
	if r.cursors[g.Number] == nil {
		r.cursors[g.Number] = &sched.Cursor{}
	}
	p, why := r.m.Cluster.FindPlacement(g.Need, r.cursors[g.Number])
	if !why.Fits() {
		r.out[g.Number] = true
		return false
	}
	r.m.Cluster.Book(g.Need, j, p)
	r.begun[j.ID] = id
	start := r.StartJob(j, id, p)
	start.States = []grid.AlgorithmState{
		{Algorithm: Name, Name: "turn", Values: grid.Values{{Name: "owner", Text: o.name}}}}
	return r.YieldStart(j, start)
}

// reportReasons reports why jobs wait: what closes queues, and what no queue instance
// offers to those that found no place.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	reasons := r.Reasons()
	reasons.Closed()
	groups := map[string]*model.Group{}
	for n := range r.out { // order: a category has one group
		g := r.m.Group(n)
		groups[g.Category] = g
	}
	for _, category := range slices.Sorted(maps.Keys(groups)) {
		g := groups[category]
		reasons.Group(g, func() reason.Reason { return r.m.Cluster.Why(g.Need) })
	}
	reasons.Rest(func(string) bool { return true })
}
