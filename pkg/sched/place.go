package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Placement is where a task may start: the grants, the master queue first,
// and the parallel environment.
type Placement struct {
	Grants     []grid.Grant
	PE         string
	Slots      uint32
	Violations int // of soft requests
}

// Cursor stores between the jobs of one category how far the instances
// were tried in a run: in a run resources only shrink, so what did not fit is
// not tried again unless it moved forward. The zero value begins at the front.
type Cursor struct {
	at    rank
	begun bool
	moves int
}

// Begin prepares a copy for a run: it keeps note of instances that move
// forward while jobs are booked.
func (c *Cluster) Begin(now grid.Time) {
	c.Refresh(now)
	c.forgetRun()
	c.moves = []rank{}
	for _, r := range c.ars {
		r.Begin(now)
	}
}

// Idle reports whether no queue instance can take a job.
func (c *Cluster) Idle() bool {
	c.settle()
	return c.order.Rows.Len() == 0 && !slices.ContainsFunc(c.ars, func(r *Cluster) bool { return !r.Idle() })
}

// FindPlacement looks for where a job of the need starts best. When there is no such
// place the Reason says why as far as one sentence can; it may be an earlier
// run's, as long as nothing got better since. Explain says it per instance.
func (c *Cluster) FindPlacement(n *Need, cur *Cursor) (Placement, reason.Reason) {
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return Placement{}, why
		}
		return r.FindPlacement(n, cur)
	}
	switch c.find.setWindow(c.find.span.Now, n); {
	case c.find.stillFails(n):
		return Placement{}, n.failure.why
	case c.ledger.Hopeless(int(n.least), &c.find.span):
		return Placement{}, reason.Reason{Code: reason.QueueUnavailable}
	}
	p, why := c.find.place(n, cur)
	if !why.Fits() {
		c.find.noteFailure(n, why)
	}
	return p, why
}

// Infeasible reports whether there is surely no placement for a need, as far as that is
// known without a search.
func (c *Cluster) Infeasible(n *Need) bool {
	if r, why, inside := c.inside(n); inside {
		return !why.Fits() || r.Infeasible(n)
	}
	c.find.setWindow(c.find.span.Now, n)
	return c.find.stillFails(n) || c.ledger.Hopeless(int(n.least), &c.find.span)
}

// Why is why there is no place for a need at this moment; the zero Reason when
// there is one.
func (c *Cluster) Why(n *Need) reason.Reason {
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return why
		}
		return r.Why(n)
	}
	c.find.setWindow(c.find.span.Now, n)
	_, why := c.find.place(n, &Cursor{})
	return why
}

// impossible is why a need can't be placed anywhere at any time.
func (c *search) impossible(n *Need) reason.Reason {
	switch {
	case n.unknown != "":
		return reason.Reason{Code: reason.UnknownResource, What: n.unknown}
	case n.Job.Ckpt != "" && c.st.Ckpt(n.Job.Ckpt) == nil:
		return reason.Reason{Code: reason.CkptUnknown}
	}
	return reason.Reason{}
}

func (c *search) place(n *Need, cur *Cursor) (Placement, reason.Reason) {
	if why := c.impossible(n); !why.Fits() {
		return Placement{}, why
	}
	global, narrow := c.slots(c.atGlobal(), n)
	if global.lead == 0 {
		return Placement{}, c.offersOnly(reason.NotGlobally, "", "g", c.atGlobal(), n, narrow)
	}
	switch {
	case n.Job.PE != "":
		return c.findParallel(n, global.lead)
	case c.span.Ahead(), len(n.Job.Soft)+len(n.softQueue) > 0: // findFirst sees only what is open now
		return c.findBest(n)
	}
	return c.findFirst(n, cur)
}

// findFirst takes the first instance in order that fits.
func (c *search) findFirst(n *Need, cur *Cursor) (Placement, reason.Reason) {
	for ; cur.moves < len(c.moves); cur.moves++ {
		if m := c.moves[cur.moves]; cur.begun && m.before(cur.at) {
			cur.at = m
		}
	}
	walk := c.orderFor(n).Iter(c.walk)
	c.walk = walk
	more := cur.begun && walk.Seek(cur.at) || !cur.begun && walk.Next()
	for ; more; more = walk.Next() {
		cur.at, cur.begun = walk.Item(), true
		in := c.site.Instances[cur.at.inst]
		if !c.suits(n, in) {
			continue
		}
		if c.instanceSlots(n, in) > 0 {
			return Placement{Grants: []grid.Grant{{Queue: in.Queue.Name, Host: in.Host.Name, Slots: 1}}, Slots: 1},
				reason.Reason{}
		}
	}
	return Placement{}, reason.Reason{Code: reason.QueueUnavailable}
}

// findBest takes the instance with the fewest violations of soft requests,
// the first of equals.
func (c *search) findBest(n *Need) (best Placement, r reason.Reason) {
	c.scan(n, func(k rank) bool {
		in := c.site.Instances[k.inst]
		if !c.suits(n, in) {
			return true
		}
		if c.instanceSlots(n, in) == 0 {
			return true
		}
		if v := c.violations(n, in); best.Grants == nil || v < best.Violations {
			best = Placement{Slots: 1, Violations: v}
			best.Grants = []grid.Grant{{Queue: in.Queue.Name, Host: in.Host.Name, Slots: 1}}
		}
		return best.Violations > 0
	})
	if best.Grants == nil {
		return best, reason.Reason{Code: reason.QueueUnavailable}
	}
	return best, reason.Reason{}
}

// violations counts the soft requests that an instance does not meet, and
// the soft queue requests that do not match it.
func (c *search) violations(n *Need, in *site.Instance) (count int) {
	for i := range n.softQueue {
		if !matches(&n.softQueue[i], in, c.st) {
			count++
		}
	}
	now := c.nows.At(in.Host.Index)
	for i := range n.soft {
		if !c.meets(&n.soft[i], in, now) {
			count++
		}
	}
	for _, r := range n.Job.Soft { // attributes may have been deleted or made consumables since
		if a := c.site.Complex.Find(r.Name); a < 0 || c.site.Complex.List[a].Column >= 0 {
			count++
		}
	}
	return count
}

// meets reports whether every level that knows the attribute satisfies the ask,
// and at least one does.
func (c *search) meets(k *complex.Condition, in *site.Instance, now *hostNow) bool {
	a := &c.site.Complex.List[k.Attr]
	for _, s := range [...]*complex.Supply{&in.Supply, &in.Host.Supply, &c.site.Global} {
		if v, ok := s.Fixed[k.Attr]; ok && !k.Satisfied(a, v) {
			return false
		}
	}
	l := c.atHost(in.Host)
	return c.known(k.Attr, in, now) && c.askSlots(&l, k) >= 1
}

// Book counts a placement as started: decide on a copy, and the next decision
// sees it.
func (c *Cluster) Book(n *Need, j *grid.Job, p Placement) {
	c.improved.booked = true
	c.ledger.Book(n.taking(j, p, grid.Window{Start: c.find.span.Now, End: c.find.span.Now.Add(n.gross)}))
	c.adjust(p.Grants, c.find.span.Now, +1)
	c.reorderAround(j.AR, p.Grants)
}

// Unbook takes a Book back, for jobs that start whole or not at all.
func (c *Cluster) Unbook(n *Need, j *grid.Job, p Placement) {
	c.ledger.Unbook(n.taking(j, p, grid.Window{Start: c.find.span.Now, End: c.find.span.Now.Add(n.gross)}))
	c.adjust(p.Grants, c.find.span.Now, -1)
	c.reorderAround(j.AR, p.Grants)
}

// taking is what a placement of a job of the need takes for a window.
func (n *Need) taking(j *grid.Job, p Placement, w grid.Window) ledger.Taking {
	return ledger.Taking{Demands: n.demands, Selections: n.selections, Job: j, Grants: p.Grants, PE: p.PE, Window: w}
}

// QueueVersions are the versions of the cluster queues of grants, for the
// evidence of a start order.
func (c *Cluster) QueueVersions(grants []grid.Grant) []uint32 {
	out := make([]uint32, len(grants))
	for i, g := range grants {
		if in := c.site.Granted(g); in != nil {
			out[i] = in.Queue.Version
		}
	}
	return out
}

// Started is how many tasks of a job hold slots.
func (c *Cluster) Started(job uint32) uint32 {
	c.settle()
	return c.ledger.Started(job)
}

// StartedOf is how many tasks of a user's jobs hold slots, which is known where
// maxujobs limits them.
func (c *Cluster) StartedOf(user string) uint32 {
	c.settle()
	return c.ledger.StartedOf(user)
}
