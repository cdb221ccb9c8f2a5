package fbsng

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Entry is the algorithm that sched_conf(5) calls fbsng.
var Entry = algorithm.Pair(Name, NewModel, New).Dividing(division)

// Decider decides by the configuration it was made from.
type Decider struct{ conf *Config }

// New makes a decider; it fails for an invalid parameter, with its name.
var New = algorithm.NewDecider(newConfig, func(c *Config) algorithm.Decider[*Model] { return &Decider{c} })

// Params are the parameters that hold.
func (d *Decider) Params() []grid.Param { return algorithm.Describe(d.conf) }

// CheckNames returns an error for what a process type names and the cell does not have: amounts of resources, and
// attributes, which are boolean.
func (d *Decider) CheckNames(cell grid.Resources) error {
	boolean := func(e *grid.Centry) bool { return e.Type == "BOOL" }
	for _, t := range d.conf.ProcessTypes {
		wrong := func(parameter, name string, suits func(*grid.Centry) bool, words ...string) error {
			if err := algorithm.FindResource(cell, name, suits, words...); err != nil {
				return fmt.Errorf("%s: process_type: %s: %s: %w", Name, t.Name, parameter, err)
			}
			return nil
		}
		for _, v := range t.Resources {
			if err := wrong("resources", v.Name, isAmount); err != nil {
				return err
			}
		}
		for _, v := range t.Quota {
			if err := wrong("quota", v.Name, isAmount, "processes", "slots"); err != nil {
				return err
			}
		}
		for _, name := range t.Attributes {
			if err := wrong("attributes", name, boolean); err != nil {
				return err
			}
		}
	}
	return nil
}

// isAmount reports whether a resource has numbers as values.
func isAmount(e *grid.Centry) bool {
	_, number := e.Type.Parse("1")
	return number && e.Type != "BOOL"
}

// isTaken reports whether a section may take so much of a resource; slots it has by the number of its processes.
func isTaken(e *grid.Centry) bool { return isAmount(e) && e.Name != "slots" }

// Admit returns why a job may not be submitted, "" when it may: its process type is not known, or it asks for less than
// that; or its placement is none; or the cell does not have what the section takes.
func (d *Decider) Admit(j *grid.Job, cell grid.Resources) string {
	name := d.conf.typeOf(j)
	t := d.conf.processType(name)
	if t == nil && name != defaultType {
		return fmt.Sprintf("job rejected: process type %q is not defined, only %s", name, d.conf.typeNames())
	}
	if mode := algorithm.ContextOf(j, "placement"); mode != "" && !placements().Has(mode) {
		return fmt.Sprintf("job rejected: placement %q is none of %s", mode, strings.Join(placements(), ", "))
	}
	for _, v := range sectResources(j) {
		if err := algorithm.FindResource(cell, v.Name, isTaken); err != nil {
			return "job rejected: sect_resources: " + err.Error()
		}
		if n := amount(v.Name, v.Text); !(n > 0 && n < grid.Infinity) {
			return fmt.Sprintf("job rejected: sect_resources: %s=%s is no amount", v.Name, v.Text)
		}
	}
	if t == nil {
		return ""
	}
	if _, err := requirement(t.Resources, j.Hard, amount); err != nil {
		return "job rejected: it " + err.Error()
	}
	return ""
}

// Next is when the run happens that an event asks for, after a last run: once
// in min_period_s, layer 0 sees to it.
func (d *Decider) Next(last, event grid.Time) grid.Time { return d.conf.Next(last, event) }

// Decide yields the orders of one run.
func (d *Decider) Decide(r algorithm.Run, m *Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		s := newRun(r, m, yield)
		s.Prepare()
		s.m.backUnderQuota()
		s.storeMoves()
		s.dispatch()
		s.DropImmediate()
		s.removeStale()
		s.reportReasons()
		s.PublishReservations()
	}
}

// run is one decision: it dies with it.
type run struct {
	model.Decision
	*Config
	m     *Model
	whole bool // also when nothing is free: who would be held

	sums   []orders.StoreState // of what the last run has moved
	queues []*queue            // in the order of the configuration
	hosts  []int               // that had room when the run began
	nodes  []int               // ... that would if nothing ran; nil: not asked yet
	booked int
	begun  map[uint32]uint32
	fresh  uint32 // the last batch
	moved  int    // ... and move
}

// findQueue is a queue in a run.
type queue struct {
	Queue
	standing
	place   int
	live    bool
	heldBy  *queue
	visited bool
	kinds   []*contender // by their first sections, the first to go first
}

// contender is a kind of sections with ready ones.
type contender struct {
	number uint32
	kind
	head    linePosition
	rank    int // priority of the head
	need    *sched.Need
	slots   int
	from    int // the hosts before that have no room
	failed  bool
	checked bool
	skip    string // why it takes part in nothing
	why     reason.Reason
	rooms   int // nodes that had room for a process
	memo    sched.Placement
	memoAt  int
}

func newRun(r algorithm.Run, m *Model, yield func(orders.Order) bool) *run {
	m.Start(r.Now)
	s := &run{Decision: m.Decision(r, yield), Config: m.conf, m: m, begun: map[uint32]uint32{}}
	s.hosts = m.Cluster.OpenHosts()
	s.fresh, _, _ = m.batches.Max()
	s.moved, _, _ = m.moves.Max()
	s.sums = m.fold()
	at := map[string]*queue{}
	last := uint32(0)
	m.lots.Scan(func(l stock) bool {
		if l.kind == last {
			return true
		}
		last = l.kind
		k, _ := m.kinds.Get(l.kind)
		q := at[k.queue]
		if q == nil {
			q = s.queue(k.queue)
			at[k.queue] = q
			s.queues = append(s.queues, q)
		}
		g := m.Group(k.group)
		c := &contender{number: l.kind, kind: k, need: g.Need, slots: nproc(g.Need.Job), skip: k.fault, memoAt: -1}
		s.findLead(c)
		q.kinds = append(q.kinds, c)
		return true
	})
	slices.SortFunc(s.queues, byPlace)
	for _, q := range s.queues {
		slices.SortFunc(q.kinds, compareAhead)
	}
	return s
}

// byPlace is the order of the configuration; the others follow by name.
func byPlace(a, b *queue) int {
	return cmp.Or(cmp.Compare(a.place, b.place), strings.Compare(a.Name, b.Name))
}

// queue is what a queue is when the run begins.
func (r *run) queue(name string) *queue {
	q := &queue{}
	_, q.place = r.Config.findQueue(name)
	q.Queue, q.standing = r.m.standing(name)
	return q
}

// findLead finds the section of a kind that goes first; false when there is none.
func (r *run) findLead(c *contender) (any bool) {
	r.lotsOf(c.number, func(l stock) {
		p, _ := r.m.firstOfLot(l.lot)
		if rank := c.priority + r.gainOf(l.batch); !any || rank > c.rank || rank == c.rank && p.earlier(c.head) {
			c.head, c.rank, any = p, rank, true
		}
	})
	return any
}

func (r *run) lotsOf(kind uint32, f func(stock)) {
	for l, any := r.m.lots.AtLeast(stock{lot: lot{kind: kind}}); any && l.kind == kind; l, any = r.m.lots.After(l) {
		f(l)
	}
}

func (r *run) gainOf(id uint32) int {
	b, _ := r.m.batches.Get(id)
	return b.gain
}

func compareAhead(a, b *contender) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.head.submit, b.head.submit),
		cmp.Compare(a.head.job, b.head.job))
}

// storeMoves has qmaster keep what the last run has moved.
func (r *run) storeMoves() {
	for i := range r.sums {
		if !r.Yield(&r.sums[i]) {
			return
		}
	}
}

// removeStale removes the stored data of batches of which no job exists.
func (r *run) removeStale() {
	var gone []grid.AlgorithmState
	r.m.batches.Scan(func(id uint32, b batch) bool {
		if b.live == 0 {
			gone = append(gone, stateToStore(batchName(ofBatch, id)), stateToStore(batchName(ofJobs, id)))
		}
		return true
	})
	if len(gone) > 0 {
		r.Yield(&orders.StoreState{States: gone})
	}
}
