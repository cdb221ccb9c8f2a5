package ticket

import (
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/schedd/model"
)

// order is the order of jobs in one run: the one to look at next is the one
// with the highest priority, counting what has been started in this run.
// No priority rises during a run, so a job that is no longer worth what
// it was is found out when it comes to the top.
//
//	contest           the winner over all classes
//	 ├─ contest       a node of the share tree: the winner below it
//	 │   └─ candidate the first job of a class
//	 └─ candidate     a class outside the share tree
type order struct {
	*policies
	root     contest
	inner    []*contest        // nodes of the share tree that are no leaves
	at       *candidate        // the head
	rejected *marks            // groups
	left     int               // groups with jobs in line that are not rejected
	begun    map[uint32]uint32 // tasks with tickets, by job
}

// contest holds a heap of others, the one with the best candidate first. A
// candidate is a contest of its own.
type contest struct {
	parent *contest
	at     int // place among the parent's
	rivals []*contest
	best   *candidate
	node   *shares.Node // nil outside the share tree
	key    float64      // of those that compete in the root: the priority of the best
}

// candidate is the first job of a class, or a job whose tasks continue without
// tickets.
type candidate struct {
	contest
	party  *party
	walk   model.Walk // at the job
	spent  bool       // max_pending_tasks_per_job tasks of it have started
	from   *contest   // then, where it stood before: its tasks still count there
	weight weight     // when it was computed
}

// weight is what a candidate was found to be worth.
type weight struct {
	known  bool
	worth  worth // without share tree tickets: those of its rivals there are the same
	active int   // see activeOf
	served int   // ... of its user
}

// newOrder prepares the order of a run, in the memory of one.
func newOrder(p *policies, m *memory) *order {
	o := &m.order
	*o = order{policies: p, rejected: &m.rejected, left: p.m.PendingGroups(), root: contest{rivals: o.root.rivals[:0]}}
	var at map[*shares.Node]*contest
	if p.tree != nil {
		at = map[*shares.Node]*contest{}
	}
	for i := range p.parties {
		c := &p.parties[i]
		if c.Pending == 0 {
			continue
		}
		k := m.candidates.get()
		*k = candidate{party: c, walk: k.walk}
		k.walk.Begin(&p.m.Lines, c.first)
		k.best = k
		o.contestOf(c.leaf, at).add(&k.contest)
	}
	o.root.settle(o)
	return o
}

// contestOf is where the jobs of a leaf of the share tree compete.
func (o *order) contestOf(n *shares.Node, at map[*shares.Node]*contest) *contest {
	if n == nil {
		return &o.root
	}
	c := at[n]
	if c == nil {
		c = &contest{node: n}
		at[n] = c
		if len(n.Children) > 0 {
			o.inner = append(o.inner, c)
		}
		if n == o.topOf(n) {
			o.root.add(c)
		} else {
			o.contestOf(n.Parent, at).add(c)
		}
	}
	return c
}

// head is the job to look at next, with its group.
func (o *order) head() (h *model.Head, ok bool) {
	for o.left > 0 {
		o.freshen()
		k := o.root.best
		if k == nil {
			break
		}
		if !o.refresh(k) {
			o.at = k
			return &k.walk.Head, true
		}
	}
	return nil, false
}

// refresh brings a candidate up to date; false: it was.
func (o *order) refresh(k *candidate) bool {
	switch {
	case o.rejected.has(k.walk.Group):
		o.advance(k)
	case k.weight.known && o.activeOf(k) != k.weight.active:
		o.changed(k)
	default:
		return false
	}
	return true
}

// freshen brings the winners of inner nodes up to date. There, who wins by
// what its leaf has may give way to one of the same priority who came earlier,
// and so stands better outside.
func (o *order) freshen() {
	for _, c := range o.inner {
		for c.best != nil && o.refresh(c.best) {
		}
	}
}

// worth is what the job at the head is found to be worth.
func (o *order) worth() worth { return o.full(o.at) }

// full is what a candidate is worth with its share tree tickets.
func (o *order) full(k *candidate) worth {
	c := &k.contest
	for c.parent != &o.root {
		c = c.parent
	}
	w := o.weigh(k).worth
	if c.node == nil {
		return w
	}
	w.share = o.pendingShare(c.node)
	return o.sum(w)
}

// weigh finds out what a candidate is worth.
func (o *order) weigh(k *candidate) *weight {
	w := &k.weight
	if w.known {
		return w
	}
	var t tickets
	if o.tickets && !k.spent {
		t = o.pending(k.party)
	}
	*w = weight{known: true, worth: o.policies.weigh(k.party, k.walk.Of.Urgency, k.walk.Submit, t), active: o.activeOf(k)}
	if k.party.user != nil {
		w.served = k.party.user.active
	}
	return w
}

// changed finds the place of a candidate that is no longer worth what it was.
func (o *order) changed(k *candidate) {
	k.weight.known = false
	o.fix(&k.contest)
}

// activeOf returns a number that changes when jobs that share something with a candidate
// have started: the candidate must then be weighed again.
func (o *order) activeOf(k *candidate) int {
	p := k.party
	n := 0
	for _, h := range p.shares {
		n += h.active
	}
	if p.functional != nil {
		n += p.functional.taken
	}
	return n
}

// started counts a task of the job at the head, which has others.
func (o *order) started() {
	k := o.at
	o.count(k)
	o.changed(k)
	if o.tickets && !k.spent {
		if o.begun == nil {
			o.begun = map[uint32]uint32{}
		}
		o.begun[k.walk.Job]++
		if o.begun[k.walk.Job] == o.conf.MaxPendingTasksPerJob {
			o.spend(k)
		}
	}
}

// finished counts the last task of the job at the head and continues to the next
// job.
func (o *order) finished() {
	o.count(o.at)
	o.pass()
}

// count counts one more task that runs.
func (o *order) count(k *candidate) {
	if k.party.user != nil {
		k.party.count(1)
	}
	if f := k.party.functional; f != nil {
		f.taken++
	}
	if k.from != nil {
		o.fix(k.from)
	}
}

// leads reports whether a job is still at the head.
func (o *order) leads(job uint32) bool {
	h, ok := o.head()
	return ok && h.Job == job
}

// spend lets the other jobs of the class continue without the one at its head,
// whose further tasks have no tickets.
func (o *order) spend(k *candidate) {
	s := &candidate{party: k.party, spent: true, from: k.parent}
	s.walk.Head, s.best = k.walk.Head, s
	o.advance(k)
	o.root.add(&s.contest)
	if len(o.root.rivals) == 2 {
		o.value(o.root.rivals[0]) // it was alone, and never compared
	}
	o.fix(&s.contest)
	o.at = s
}

// pass continues to the next job after the one at the head.
func (o *order) pass() { o.advance(o.at) }

// reject takes the whole group of the job at the head out of the run.
func (o *order) reject() {
	o.rejected.add(o.at.walk.Group)
	o.left--
	o.advance(o.at)
}

// advance continues to the next job of a class that may be looked at.
func (o *order) advance(k *candidate) {
	if k.spent {
		k.best = nil
	} else {
		if !o.rejected.has(k.walk.Group) {
			k.walk.Pass()
		}
		for k.best = nil; k.best == nil && k.walk.Next(); {
			if !o.rejected.has(k.walk.Group) {
				k.best = k
			}
		}
	}
	o.changed(k)
}

// before reports whether a stands before b in a contest.
func (o *order) before(c, a, b *contest) bool {
	x, y := a.best, b.best
	if x == nil || y == nil {
		return x != nil
	}
	if c == &o.root {
		if a.key != b.key {
			return a.key > b.key
		}
	} else {
		if p, q := o.weigh(x).worth.Priority, o.weigh(y).worth.Priority; p != q {
			return p > q
		}
		if a.node != nil && b.node != nil {
			if p, q := a.node.NextShare(), b.node.NextShare(); p != q {
				return p > q
			}
		}
	}
	if o.m.UserSort() && x.weight.served != y.weight.served {
		return x.weight.served < y.weight.served
	}
	return x.walk.Before(y.walk.Place)
}

func (c *contest) add(a *contest) {
	a.parent, a.at = c, len(c.rivals)
	c.rivals = append(c.rivals, a)
}

// settle makes heaps of everything below.
func (c *contest) settle(o *order) {
	for _, r := range c.rivals {
		r.settle(o)
	}
	if c == &o.root && len(c.rivals) > 1 {
		for _, r := range c.rivals {
			o.value(r)
		}
	}
	for i := len(c.rivals)/2 - 1; i >= 0; i-- {
		o.down(c, i)
	}
	c.win()
}

// value finds the key of one that competes in the root.
func (o *order) value(c *contest) {
	if c.best != nil {
		c.key = o.full(c.best).Priority
	}
}

func (c *contest) win() {
	if len(c.rivals) > 0 {
		c.best = c.rivals[0].best
	}
}

// fix brings the contests above in line after one has changed.
func (o *order) fix(a *contest) {
	for c := a.parent; c != nil; a, c = c, c.parent {
		if c == &o.root && len(c.rivals) > 1 {
			o.value(a)
		}
		i := a.at
		for i > 0 && o.before(c, c.rivals[i], c.rivals[(i-1)/2]) {
			c.swap(i, (i-1)/2)
			i = (i - 1) / 2
		}
		o.down(c, i)
		c.win()
	}
}

func (o *order) down(c *contest, i int) {
	for {
		least, l := i, 2*i+1
		for _, k := range [...]int{l, l + 1} {
			if k < len(c.rivals) && o.before(c, c.rivals[k], c.rivals[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		c.swap(i, least)
		i = least
	}
}

func (c *contest) swap(i, j int) {
	c.rivals[i], c.rivals[j] = c.rivals[j], c.rivals[i]
	c.rivals[i].at, c.rivals[j].at = i, j
}
