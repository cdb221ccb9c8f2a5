package fbsng

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// dispatch repeats the two steps until no section can be started.
func (r *run) dispatch() {
	for !r.Stopped && (r.whole || !r.m.Cluster.Idle()) {
		if !r.startOne() {
			return
		}
	}
}

// startOne starts one section, if one can.
func (r *run) startOne() bool {
	live := r.orderQueues()
	for i, q := range live {
		if i > 0 && live[0].Gap != nil && live[0].priority-q.priority >= *live[0].Gap {
			q.heldBy = live[0]
			continue
		}
		q.visited = true
		if c, p := r.findSection(q); c != nil {
			r.startSection(live, i, c, p)
			return true
		}
	}
	return false
}

// orderQueues is step 1: the live queues, the first to go first.
func (r *run) orderQueues() (live []*queue) {
	for _, q := range r.queues {
		q.heldBy, q.visited = nil, false
		q.live = !q.Held && slices.ContainsFunc(q.kinds, r.isCandidate)
		if q.live {
			live = append(live, q)
		}
	}
	slices.SortStableFunc(live, func(a, b *queue) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.last, b.last))
	})
	return live
}

// findSection is step 2: the first section of a queue that is not blocked and can
// be placed now.
func (r *run) findSection(q *queue) (*contender, sched.Placement) {
	var first *contender
	for _, c := range q.kinds {
		if !r.isCandidate(c) {
			continue
		}
		if first == nil {
			first = c
		}
		if q.SectionGap != nil && c != first && first.rank-c.rank >= *q.SectionGap {
			break
		}
		if p, ok := r.findPlacement(c); ok {
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

// isCandidate reports whether sections of a kind take part: what waiting cannot
// cure, or only their own quota can, does not.
func (r *run) isCandidate(c *contender) bool {
	if c.skip == "" && !c.checked {
		c.checked = true
		if !r.isPossible(c) {
			c.skip = unsatisfiable
		}
	}
	if t := r.processType(c.processType); c.skip == "" && t != nil && !r.underQuota(c, t, r.m.uses[t.Name]) {
		c.skip = overQuota
	}
	return c.skip == ""
}

// isPossible reports whether a section could be placed if nothing ran.
func (r *run) isPossible(c *contender) bool {
	if t := r.processType(c.processType); t != nil && !r.underQuota(c, t, nil) {
		return false
	}
	if _, ok := r.findPlacement(c); ok {
		return true
	}
	if r.nodes == nil {
		r.nodes = r.m.bare.OpenHosts()
	}
	_, _, why := r.m.bare.Across(r.m.bare.Need(c.need.Job), c.slots, r.nodes, r.nodesEnough(c), c.divideProcesses)
	if !why.Fits() {
		c.why = why
	}
	return why.Fits()
}

// underQuota reports whether a process type's quota, of which so much is used, has
// room for one section.
func (r *run) underQuota(c *contender, t *ProcessType, used []float64) bool {
	for i, n := range t.draws(c.need.Job, c.slots, c.slots, r.m.once) {
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

// findPlacement looks for nodes for a section now. In a run resources only shrink.
func (r *run) findPlacement(c *contender) (sched.Placement, bool) {
	if c.failed || c.memoAt == r.booked {
		return c.memo, !c.failed
	}
	p, first, why := r.m.Cluster.Across(c.need, c.slots, r.hosts[c.from:], r.nodesEnough(c), c.divideProcesses)
	c.from += first
	c.memo, c.memoAt, c.why, c.failed = p, r.booked, why, !why.Fits()
	return p, !c.failed
}

// divideProcesses divides the processes of a section.
func (c *contender) divideProcesses(rooms []int) []sched.Part {
	c.rooms = len(rooms)
	return share(c.mode, c.slots, rooms)
}

// nodesEnough is how many nodes with room need be looked at.
func (r *run) nodesEnough(c *contender) int {
	if c.mode == pack && c.slots > 1 {
		return len(r.m.State.ExecHosts())
	}
	return c.slots
}

// startSection starts the first section of a kind, with what follows from it.
func (r *run) startSection(live []*queue, at int, c *contender, p sched.Placement) {
	j := r.m.State.Job(c.head.job)
	id := r.m.NextTask(j, r.begun[j.ID])
	if id == 0 || !r.MayStart(j) {
		r.removeContender(live[at], c)
		return
	}
	v := r.moveAfter(live, at, c)
	r.m.Cluster.Book(c.need, j, p)
	r.booked++
	if t := r.processType(c.processType); t != nil && len(t.Quota) > 0 {
		r.m.use(draw{t.Name, t.draws(c.need.Job, c.slots, c.slots, r.m.once)}, +1)
	}
	r.begun[j.ID] = id
	o := r.StartJob(j, id, p)
	o.Takes = j.Hard.Beyond(r.m.submitted(j.ID).Hard)
	r.moved++
	o.Priority, o.States = float64(c.rank), []grid.AlgorithmState{v.state(r.moved)}
	r.m.move(v)
	for _, q := range live {
		_, q.standing = r.m.standing(q.Name)
	}
	if r.m.NextTask(j, id) == 0 {
		r.removeContender(live[at], c)
	}
	r.YieldStart(j, o)
}

// removeContender takes the first section of a kind out of the run.
func (r *run) removeContender(q *queue, c *contender) {
	r.m.removePlace(c.head)
	q.kinds = slices.DeleteFunc(q.kinds, func(o *contender) bool { return o == c })
	if r.findLead(c) {
		r.insertQueue(q, c)
	}
}

func (r *run) insertQueue(q *queue, c *contender) {
	i, _ := slices.BinarySearchFunc(q.kinds, c, compareAhead)
	q.kinds = slices.Insert(q.kinds, i, c)
}

// moveAfter is what follows from a start of a queue that is at a place of the order.
func (r *run) moveAfter(live []*queue, at int, c *contender) move {
	q := live[at]
	v := move{queue: q.Queue, passed: r.findPassed(q, c)}
	for _, o := range live[:at] {
		if o.Growth > 0 {
			v.ahead = append(v.ahead, o.Queue)
		}
	}
	if q.Price > 0 {
		for _, o := range live[at+1:] {
			v.behind = append(v.behind, o.Queue)
		}
	}
	return v
}

// findPassed finds the sections of a queue that were passed by the first of a kind,
// those ahead of it, as batches.
func (r *run) findPassed(q *queue, by *contender) grid.Ranges {
	var passed []uint32
	for _, c := range q.kinds {
		if c == by {
			break
		}
		if !r.isCandidate(c) {
			continue
		}
		var lots []stock
		r.lotsOf(c.number, func(l stock) { lots = append(lots, l) })
		for _, l := range lots {
			id := uint32(0)
			switch now := c.priority + r.gainOf(l.batch); {
			case now > by.rank:
				id = r.findBatch(l, nil)
			case now == by.rank:
				id = r.findBatch(l, &by.head)
			}
			if id != 0 {
				passed = append(passed, id)
			}
		}
		c.rank++
	}
	slices.Sort(passed)
	return rangesOf(slices.Compact(passed))
}

// findBatch is the one of the sections of a lot, of those earlier than one if it is
// given; 0 when there are none. If they are not all of their batch they become
// one of their own, whether or not the start stands that passes them: they
// begin with what they had.
func (r *run) findBatch(l stock, than *linePosition) uint32 {
	m := r.m
	old, _ := m.batches.Get(l.batch)
	var ids []uint32
	whole := l.batch != 0 && l.count == old.size
	if whole && than == nil {
		return l.batch
	}
	var moved []linePosition
	m.lines.Ascend(linePosition{lot: l.lot, submit: -1 << 63}, func(p linePosition) bool {
		if p.lot != l.lot || than != nil && !p.earlier(*than) {
			whole = whole && p.lot != l.lot
			return false
		}
		moved = append(moved, p)
		return true
	})
	if whole {
		return l.batch
	}
	if len(moved) == 0 {
		return 0
	}
	r.fresh++
	for _, p := range moved {
		ids = append(ids, p.job)
		m.removePlace(p)
		p.batch = r.fresh
		m.enterLine(p)
	}
	slices.Sort(ids)
	now := batch{jobs: rangesOf(ids).String(), size: len(ids), live: len(ids)}
	m.batches.Set(r.fresh, now)
	states := []grid.AlgorithmState{ofBatchJobs(r.fresh, now)}
	if l.batch != 0 {
		old.jobs = parseRanges(old.jobs).Minus(parseRanges(now.jobs)).String()
		old.size, old.live = old.size-len(ids), old.live-len(ids)
		m.batches.Set(l.batch, old)
		v := move{from: l.batch, into: r.fresh}
		m.move(v)
		r.moved++
		states = append(states, ofBatchJobs(l.batch, old), v.state(r.moved))
	}
	r.Yield(&orders.StoreState{States: states})
	return r.fresh
}

// ofBatchJobs returns the stored form of the sections of a batch.
func ofBatchJobs(id uint32, b batch) grid.AlgorithmState {
	return stateToStore(batchName(ofJobs, id), grid.Value{Name: "jobs", Text: b.jobs})
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
