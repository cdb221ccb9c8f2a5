package gridserver

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// victim is a running task that may be, or is, taken off its engine.
type victim struct {
	*session
	task     *grid.JATask
	instance int
	score    int64 // level and run time, in units of the threshold
	group    int   // for which SLA group it leaves
}

// preempt takes engines for those that may: urgent sessions, or groups below
// their claim. An engine whose task is suspended is assigned at once; one that
// a task has to leave first, by a later run.
func (r *run) preempt() {
	if r.Stopped {
		return
	}
	if r.sla() {
		r.preemptSLA()
	} else {
		r.preemptUrgent()
	}
}

// preemptable lists the tasks that can be preempted, in the order of engines, and
// counts those that are about to leave their engine anyway.
func (r *run) preemptable() (tasks []*victim, leaving int) {
	r.m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if !t.HoldsSlots() || len(t.Grants) != 1 {
			return true
		}
		if t.Kill != "" || t.State&grid.StateDeleted != 0 {
			leaving++
			return true
		}
		s, _ := r.m.sessions.Get(t.Job)
		in := r.m.Cluster.InstanceOf(t.Grants[0])
		switch {
		case s == nil || s.band < 0 || s.urgent && !r.sla() || in < 0:
		case r.suspends() || r.rerunnable(t):
			tasks = append(tasks, &victim{session: s, task: t, instance: in})
		default:
			r.spared[s.band]++
		}
		return true
	})
	slices.SortStableFunc(tasks, func(a, b *victim) int { return cmp.Compare(a.instance, b.instance) })
	return tasks, leaving
}

// ran is how long a victim has run, in milliseconds.
func (v *victim) ran(now grid.Time) int64 { return max(int64(now-v.task.Start), 0) }

// suspends reports whether tasks stand still when their engine is taken.
func (c *Config) suspends() bool { return c.Preemption == algorithm.Suspend }

func (r *run) rerunnable(t *grid.JATask) bool {
	return r.m.Cluster.Rerunnable(r.m.State.Job(t.Job), t)
}

// preemptFor preempts a victim for a candidate that could then run on its engine. A
// victim that cannot be suspended, or that holds other resources the candidate needs,
// starts anew if it may be rerun; else it is not preempted.
func (r *run) preemptFor(v *victim, c *candidate, need *sched.Need) bool {
	if r.suspends() && r.suspendFor(v, c, need) {
		return true
	}
	return r.rerunnable(v.task) && r.requeueFor(v, c.job, need)
}

// suspendFor lets a victim stand still and starts a task on its engine.
func (r *run) suspendFor(v *victim, c *candidate, need *sched.Need) bool {
	var place sched.Placement
	if !r.Suspend(v.task, c.id, func() (ok bool) {
		place, ok = r.m.Cluster.FindPlacementAt(need, v.instance)
		return ok && r.MayStart(c.job)
	}) {
		return false
	}
	r.assign(c, need, v.instance, place, preemptPhase)
	return true
}

// requeueFor yields the order that requeues a victim for a job.
func (r *run) requeueFor(v *victim, job *grid.Job, need *sched.Need) bool {
	c := r.m.Cluster
	own := sched.Placement{Grants: v.task.Grants, Slots: 1}
	theirs, theirJob := r.m.need(v.session), r.m.State.Job(v.id)
	c.Unbook(theirs, theirJob, own)
	p, ok := c.FindPlacementAt(need, v.instance)
	if !ok {
		c.Book(theirs, theirJob, own)
		return false
	}
	c.Book(need, job, p)
	r.victims = append(r.victims, *v)
	r.Yield(&orders.Preempt{Job: v.id, Task: v.task.ID, For: job.ID})
	return true
}

// preemptUrgent takes the engines of those with the lowest scores, as many as
// preemptable_engine_percent leaves.
func (r *run) preemptUrgent() {
	urgent := r.urgentBand()
	budget := r.engines*r.PreemptablePercent/100 - r.running(urgent)
	if r.PreemptablePercent == 0 || budget <= 0 {
		return
	}
	q := r.queueOf(urgent)
	q.all = true
	var tasks []*victim
	listed, leaving := false, 0
	for i := 0; budget > 0 && !r.Stopped; i++ {
		c := q.seen(i)
		if c == nil {
			return
		}
		if wait := r.since(c.session) + 1000*grid.Time(r.PreemptDelaySeconds); r.Now < wait {
			if c.left() > 0 {
				r.wake(wait)
			}
			continue
		}
		if c.left() == 0 || r.m.NowOrNever(c.job) {
			continue
		}
		if !listed {
			tasks, leaving = r.preemptable()
			r.byScore(tasks)
			budget -= leaving
			listed = true
		}
		come := min(c.left(), leaving) // these come free already
		wanted := c.left() - come
		leaving -= come
		need := r.m.need(c.session)
		tasks = slices.DeleteFunc(tasks, func(v *victim) bool {
			if wanted <= 0 || budget <= 0 || r.Stopped || !r.preemptFor(v, c, need) {
				return false
			}
			wanted--
			budget--
			return true
		})
	}
}

// since is when a session became urgent.
func (r *run) since(s *session) grid.Time {
	if s.turns {
		return r.Now
	}
	return s.since
}

// byScore orders victims: level plus run time over the threshold, then the
// lower level, then who has run for less, then by engine.
func (r *run) byScore(tasks []*victim) {
	for _, v := range tasks {
		v.score = int64(v.level)*r.threshold() + v.ran(r.Now)
	}
	slices.SortStableFunc(tasks, func(a, b *victim) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.level, b.level), cmp.Compare(a.ran(r.Now), b.ran(r.Now)))
	})
}

// threshold is preempt_threshold_minutes in milliseconds.
func (c *Config) threshold() int64 { return int64(c.PreemptThreshold * 60_000) }

// preemptSLA lets groups that have less than their claim take engines of
// those that have more than they may keep.
func (r *run) preemptSLA() {
	if !r.SLAPreemption {
		return
	}
	count, demand := make([]int, len(r.weights)), make([]int, len(r.weights))
	for g := range count {
		count[g], demand[g] = r.running(band(g)), r.m.bands[g].demand
	}
	var tasks []*victim
	listed, leaving := false, 0
	for g := range count {
		short := r.quota.claim(g, demand[g]) - count[g]
		if short <= 0 {
			continue
		}
		if !listed {
			tasks, leaving = r.preemptable()
			slices.SortStableFunc(tasks, func(a, b *victim) int { return cmp.Compare(b.task.Start, a.task.Start) })
			listed = true
		}
		for who := r.claimants(band(g)); short > 0 && len(who) > 0 && !r.Stopped; short-- {
			k := 0
			if leaving > 0 { // comes free already
				leaving--
			} else if k = r.fromLargest(&tasks, count, g, who); k < 0 {
				break
			}
			if who[k].left--; who[k].left == 0 && !who[k].advance() {
				who = slices.Delete(who, k, k+1)
			}
			slices.SortStableFunc(who, byFirst)
		}
	}
}

// claimant is the sessions of an SLA group that ask for the same and want more
// engines than they have: the first of them in order, and how many it wants.
type claimant struct {
	queue
	first *candidate
	left  int
}

// claimants are those of a group, the first in order first.
func (r *run) claimants(b band) (who []*claimant) {
	at := map[uint32]*claimant{}
	for _, h := range r.queueOf(b).heads {
		k := at[h.session.group]
		if k == nil {
			k = &claimant{queue: queue{run: r, all: true}}
			at[h.session.group] = k
			who = append(who, k)
		}
		k.heads = append(k.heads, h)
	}
	who = slices.DeleteFunc(who, func(k *claimant) bool {
		heap.Init(&k.heads)
		return !k.advance()
	})
	slices.SortStableFunc(who, byFirst)
	return who
}

// advance continues to the next that wants engines; false: there is none.
func (k *claimant) advance() bool {
	for k.first = k.next(); k.first != nil; k.first = k.next() {
		if k.left = k.first.left(); k.left > 0 && !k.run.m.NowOrNever(k.first.job) {
			return true
		}
	}
	return false
}

func byFirst(a, b *claimant) int {
	if a.first.before(b.first) {
		return -1
	}
	return 1
}

// fromLargest takes an engine from the group that has most beyond what it
// keeps: that of the task started last that a session of a group may use. It
// returns the index of that claimant, -1 when there is none.
func (r *run) fromLargest(tasks *[]*victim, count []int, forGroup int, who []*claimant) int {
	tried := make([]bool, len(count))
	for {
		from := -1
		for g := range count {
			excess := count[g] - r.quota.keep(g)
			if g != forGroup && !tried[g] && excess > 0 && (from < 0 || excess > count[from]-r.quota.keep(from)) {
				from = g
			}
		}
		if from < 0 {
			return -1
		}
		for at, v := range *tasks {
			if int(v.band) != from {
				continue
			}
			v.group = forGroup
			if k := slices.IndexFunc(who, func(k *claimant) bool {
				return r.preemptFor(v, k.first, r.m.need(k.first.session))
			}); k >= 0 {
				count[from]--
				*tasks = slices.Delete(*tasks, at, at+1)
				return k
			}
		}
		tried[from] = true
	}
}
