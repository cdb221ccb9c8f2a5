package fbsng

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// dispatch repeats the two steps until no section can be started.
func (r *run) dispatch() {
	for !r.Stopped && (r.whole || !r.m.Cluster.Idle()) {
		if !r.step() {
			return
		}
	}
}

// step starts one section, if one can.
func (r *run) step() bool {
	live := r.order()
	for i, q := range live {
		if i > 0 && live[0].Gap != nil && live[0].priority-q.priority >= *live[0].Gap {
			q.heldBy = live[0]
			continue
		}
		q.visited = true
		if c, p := r.section(q); c != nil {
			r.start(live, i, c, p)
			return true
		}
	}
	return false
}

// order is step 1: the live queues, the first to go first.
func (r *run) order() (live []*queue) {
	for _, q := range r.queues {
		q.heldBy, q.visited = nil, false
		q.live = !q.Held && slices.ContainsFunc(q.kinds, r.candidate)
		if q.live {
			live = append(live, q)
		}
	}
	slices.SortStableFunc(live, func(a, b *queue) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.last, b.last))
	})
	return live
}

// section is step 2: the first section of a queue that is not blocked and can
// be placed now.
func (r *run) section(q *queue) (*contender, sched.Placement) {
	var first *contender
	for _, c := range q.kinds {
		if !r.candidate(c) {
			continue
		}
		if first == nil {
			first = c
		}
		if q.SectionGap != nil && c != first && first.rank-c.rank >= *q.SectionGap {
			break
		}
		if p, ok := r.place(c); ok {
			return c, p
		}
	}
	return nil, sched.Placement{}
}

// The reasons to skip a section.
const (
	unsatisfiable = "unsatisfiable"
	overQuota     = "quota"
)

// candidate says whether sections of a kind take part: what waiting cannot
// cure, or only their own quota can, does not.
func (r *run) candidate(c *contender) bool {
	if c.skip == "" && !r.underQuota(c) {
		c.skip = overQuota
	}
	if c.skip != "" || c.checked {
		return c.skip == ""
	}
	c.checked = true
	if _, ok := r.place(c); !ok && !r.possible(c) {
		c.skip = unsatisfiable
	}
	return c.skip == ""
}

// underQuota says whether the process type's quota has room for one section.
func (r *run) underQuota(c *contender) bool {
	t := r.processType(c.processType)
	if t == nil || len(t.Quota) == 0 {
		return true
	}
	used := r.m.uses[t.Name]
	for i, n := range t.draws(c.need.Job, c.slots, r.m.once) {
		most, _ := grid.CentryType("MEMORY").Parse(t.Quota[i].Text)
		if used != nil {
			n += used[i]
		}
		if n > most+1e-9 {
			return false
		}
	}
	return true
}

// place looks for nodes for a section now. In a run resources only shrink.
func (r *run) place(c *contender) (sched.Placement, bool) {
	if c.failed || c.memoAt == r.booked {
		return c.memo, !c.failed
	}
	p, first, why := r.m.Cluster.Across(c.need, c.slots, r.hosts[c.from:], r.enough(c), c.share)
	c.from += first
	c.memo, c.memoAt, c.why, c.failed = p, r.booked, why, !why.Fits()
	return p, !c.failed
}

// possible says whether a section could be placed if nothing ran.
func (r *run) possible(c *contender) bool {
	if r.nodes == nil {
		r.nodes = r.m.bare.OpenHosts()
	}
	_, _, why := r.m.bare.Across(r.m.bare.Need(c.need.Job), c.slots, r.nodes, r.enough(c), c.share)
	return why.Fits()
}

// share divides the processes of a section.
func (c *contender) share(rooms []int) []sched.Part { return share(c.mode, c.slots, rooms) }

// enough is how many nodes with room need be looked at.
func (r *run) enough(c *contender) int {
	if c.mode == pack && c.slots > 1 {
		return len(r.m.State.ExecHosts())
	}
	return c.slots
}

// start starts the first section of a kind, with what follows from it.
func (r *run) start(live []*queue, at int, c *contender, p sched.Placement) {
	j := r.m.State.Job(c.head.job)
	id := r.m.NextTask(j, r.begun[j.ID])
	if id == 0 || !r.MayStart(j) {
		r.leave(live[at], c)
		return
	}
	passed := r.pass(live[at], c)
	r.m.Cluster.Book(c.need, j, p)
	r.booked++
	if t := r.processType(c.processType); t != nil && len(t.Quota) > 0 {
		r.m.use(draw{t.Name, t.draws(c.need.Job, c.slots, r.m.once)}, +1)
	}
	r.begun[j.ID] = id
	o := r.StartJob(j, id, p)
	o.Priority, o.Remember = float64(c.rank), append(r.pay(live, at), passed...)
	if r.m.NextTask(j, id) == 0 {
		r.leave(live[at], c)
	}
	r.Starting(j, o)
}

// leave takes the first section of a kind out of the run.
func (r *run) leave(q *queue, c *contender) {
	r.m.leave(c.head)
	q.kinds = slices.DeleteFunc(q.kinds, func(o *contender) bool { return o == c })
	if r.lead(c) {
		r.insert(q, c)
	}
}

func (r *run) insert(q *queue, c *contender) {
	i, _ := slices.BinarySearchFunc(q.kinds, c, ahead)
	q.kinds = slices.Insert(q.kinds, i, c)
}

// pay moves the priorities of queues at a start of the one that is at a place
// of the order: those ahead were passed and grow, it pays, and what it cannot
// pay because it stands on its floor, its equals behind receive.
func (r *run) pay(live []*queue, at int) (out []grid.AlgorithmState) {
	moved := func(q *queue, to int) {
		if q.Max != nil {
			to = min(to, *q.Max)
		}
		if to != q.priority || q == live[at] {
			q.priority = to
			out = append(out, remember(ofQueue+q.Name, value("priority", q.priority), value("last_start", q.last)))
		}
	}
	for _, q := range live[:at] {
		moved(q, q.priority+q.Growth)
	}
	q := live[at]
	rest := q.priority - q.Price
	r.counter++
	q.last = r.counter
	moved(q, max(q.Min, rest))
	if deficit := q.Min - rest; deficit > 0 {
		for _, o := range live[at+1:] {
			if o.priority >= q.Min {
				moved(o, o.priority+deficit)
			}
		}
	}
	return out
}

// pass raises the sections of a queue that were passed by the first of a kind:
// those ahead of it.
func (r *run) pass(q *queue, by *contender) (out []grid.AlgorithmState) {
	rank, head := by.rank, by.head
	for _, c := range q.kinds {
		if c == by {
			break
		}
		if !r.candidate(c) {
			continue
		}
		var lots []stock
		r.lotsOf(c.number, func(l stock) { lots = append(lots, l) })
		for _, l := range lots {
			switch now := c.priority + r.gain(l.batch); {
			case now > rank:
				out = append(out, r.raise(l, nil)...)
			case now == rank:
				out = append(out, r.raise(l, &head)...)
			}
		}
		c.rank++
	}
	return out
}

// raise adds one to the priority of the sections of a lot, of those earlier
// than one if it is given. If they are not all of their batch they become one
// of their own.
func (r *run) raise(l stock, than *place) (out []grid.AlgorithmState) {
	m := r.m
	old, _ := m.batches.Get(l.batch)
	var moved []place
	whole := l.batch != 0 && l.count == old.size
	m.lines.Ascend(place{lot: l.lot, submit: -1 << 63}, func(p place) bool {
		if p.lot != l.lot || than != nil && !p.earlier(*than) {
			whole = whole && p.lot != l.lot
			return false
		}
		if whole && than == nil {
			return false
		}
		moved = append(moved, p)
		return true
	})
	if whole {
		old.gain++
		m.batches.Set(l.batch, old)
		return append(out, remember(batchName(ofBatch, l.batch), value("gain", old.gain)))
	}
	if len(moved) == 0 {
		return nil
	}
	r.fresh++
	ids := make([]uint32, len(moved))
	for i, p := range moved {
		ids[i] = p.job
		m.leave(p)
		p.batch = r.fresh
		m.enter(p)
	}
	slices.Sort(ids)
	now := batch{gain: old.gain + 1, jobs: rangesOf(ids).String(), size: len(ids), live: len(ids)}
	m.batches.Set(r.fresh, now)
	out = append(out, remember(batchName(ofBatch, r.fresh), value("gain", now.gain)),
		remember(batchName(ofJobs, r.fresh), grid.Value{Name: "jobs", Text: now.jobs}))
	if l.batch != 0 {
		old.jobs = parseRanges(old.jobs).Minus(parseRanges(now.jobs)).String()
		old.size, old.live = old.size-len(ids), old.live-len(ids)
		m.batches.Set(l.batch, old)
		if old.jobs == "" {
			m.batches.Delete(l.batch)
			out = append(out, remember(batchName(ofBatch, l.batch)), remember(batchName(ofJobs, l.batch)))
		} else {
			out = append(out, remember(batchName(ofJobs, l.batch), grid.Value{Name: "jobs", Text: old.jobs}))
		}
	}
	return out
}

// rangesOf is sorted numbers as ranges.
func rangesOf(ids []uint32) (out grid.Ranges) {
	for _, id := range ids {
		if n := len(out); n > 0 && out[n-1].Last+1 == id {
			out[n-1].Last = id
			continue
		}
		out = append(out, grid.Range{First: id, Last: id, Step: 1})
	}
	return out
}
