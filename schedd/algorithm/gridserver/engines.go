package gridserver

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// seeker is how far the engines were tried for a group: in a run they only
// become fewer, so what did not fit is not tried again.
type seeker struct{ at int }

// done reports whether no engine is left for the group.
func (k *seeker) done() bool { return k != nil && k.at < 0 }

// assignEngine assigns an engine to a candidate; false: it gets none.
func (r *run) assignEngine(c *candidate, p phase) bool {
	if c.spent || r.full() {
		return false
	}
	if r.unsuspend(c, p) {
		return true
	}
	if c.left() == 0 || !r.MayStart(c.job) {
		c.spent = true
		return false
	}
	need := r.m.need(c.session)
	instance, place, ok := r.engine(c, need)
	if !ok {
		c.spent = true
		return false
	}
	return r.assign(c, need, instance, place, p)
}

// assign starts the next task of a candidate.
func (r *run) assign(c *candidate, need *sched.Need, instance int, place sched.Placement, p phase) bool {
	r.m.Cluster.Book(need, c.job, place)
	o := r.StartJob(c.job, r.nextTask(c), place)
	if c.kept || c.key != "" {
		_, host := r.m.Cluster.InstanceAt(instance)
		o.States = []grid.AlgorithmState{begins(c.session, r.Now, o.Task, host)}
	}
	c.got++
	r.assigned = append(r.assigned, assignment{c, o.Task, instance, p})
	return r.YieldStart(c.job, o)
}

// unsuspend lets a preempted task of a candidate continue: it waits as others do,
// but before them and for its own engine alone. Where that is not free now, it
// will not be in this run.
func (r *run) unsuspend(c *candidate, p phase) bool {
	if c.stopped > 0 && c.still == nil {
		c.still = r.m.Cluster.PreemptedOf(c.id)
	}
	for len(c.still) > 0 {
		t := c.still[0]
		c.still = c.still[1:]
		if r.Unsuspend(t) {
			c.back++
			r.assigned = append(r.assigned, assignment{c, t.ID, r.m.Cluster.InstanceOf(t.Grants[0]), p})
			return true
		}
	}
	return false
}

// left is how many more tasks it could start.
func (c *candidate) left() int {
	n := c.pending - c.got
	if c.most > 0 {
		n = min(n, c.most-c.running-c.stopped-c.got)
	}
	return max(n, 0)
}

// engines is how many it has.
func (c *candidate) engines() int { return c.running + c.back + c.got }

// headTask is the task that is started next: those that were rescheduled go
// first.
func (r *run) headTask(c *candidate) (id uint32, again bool) {
	if c.last == 0 && c.requeued == nil {
		if c.requeued = r.m.Requeued(c.id); c.requeued == nil {
			c.requeued = []uint32{}
		}
	}
	if len(c.requeued) > 0 {
		return c.requeued[0], true
	}
	return sched.NextTask(c.job, c.last), false
}

func (r *run) nextTask(c *candidate) uint32 {
	id, again := r.headTask(c)
	if again {
		c.requeued = c.requeued[1:]
	} else {
		c.last = id
	}
	return id
}

// queuedSince is when the head task began to wait.
func (r *run) queuedSince(c *candidate) grid.Time {
	since := max(c.job.Submit, c.job.ExecTime)
	if id, again := r.headTask(c); again {
		if t := r.m.State.Task(c.id, id); t != nil && t.Start > 0 {
			since = max(since, t.Start.Add(t.Previous.WallSeconds))
		}
	}
	return since
}

// engine chooses one for a candidate: those where it has run before first,
// the others by name.
func (r *run) engine(c *candidate, n *sched.Need) (instance int, p sched.Placement, ok bool) {
	if !r.sla() && !r.SerialService {
		if c.affine == nil {
			c.affine = r.affineTo(c, n)
		}
		for a := c.affine; a.at < len(a.instances); a.at++ {
			if p, ok = r.m.Cluster.FindPlacementAt(n, a.instances[a.at]); ok {
				return a.instances[a.at], p, true
			}
		}
		if r.waits(c) {
			return 0, p, false
		}
	}
	k := r.seekers[c.group]
	if k == nil {
		k = &seeker{}
		r.seekers[c.group] = k
	}
	for ; k.at >= 0 && k.at < len(r.open); k.at++ {
		if p, ok = r.m.Cluster.FindPlacementAt(n, r.open[k.at]); ok {
			return r.open[k.at], p, true
		}
	}
	k.at = -1
	return 0, p, false
}

// affine is where tasks of a session have run.
type affine struct {
	instances []int // that could take one when the run began, the highest score first
	at        int
	anywhere  bool // some instance that is allowed, busy or not
}

// scores are the affinities of a session by host.
func (m *Model) scores(s *session) (scores grid.Values) {
	if o := m.stored(affinityName(s)); o != nil {
		scores = o.Values
	}
	m.eachBeganOf(s, func(b beginning) { scores = withScore(scores, b.host) })
	return scores
}

func affinityName(s *session) string {
	if s.key != "" {
		return ofKey + s.key
	}
	return ofJob + strconv.FormatUint(uint64(s.id), 10)
}

func (r *run) affineTo(c *candidate, n *sched.Need) *affine {
	a := &affine{}
	score := map[int]int{}
	for _, v := range r.m.scores(c.session) {
		worth, err := strconv.Atoi(v.Text)
		if err != nil || worth <= 0 || v.Name == lastUse {
			continue
		}
		if !a.anywhere {
			a.anywhere = slices.ContainsFunc(r.m.Cluster.InstancesOn(v.Name),
				func(i int) bool { return r.m.Cluster.Allows(n, i) })
		}
		for _, i := range r.openOn(v.Name) {
			a.instances = append(a.instances, i)
			score[i] = worth
		}
	}
	slices.SortFunc(a.instances, func(i, k int) int {
		return cmp.Or(cmp.Compare(score[k], score[i]), cmp.Compare(i, k))
	})
	return a
}

// openOn lists the instances of a host that could take a task.
func (r *run) openOn(host string) []int {
	if r.onHost == nil {
		r.onHost = map[string][]int{}
		for _, i := range r.open {
			_, h := r.m.Cluster.InstanceAt(i)
			r.onHost[h] = append(r.onHost[h], i)
		}
	}
	return r.onHost[host]
}

// waits reports whether a candidate rather waits for an engine where it has run:
// affinity_wait_ms in its context.
func (r *run) waits(c *candidate) bool {
	if !c.affine.anywhere {
		return false
	}
	wait, ok := affinityWait(c.job)
	if !ok {
		return false
	}
	until := r.queuedSince(c) + wait
	if r.Now >= until {
		return false
	}
	r.wake(until)
	return true
}

// affinityWait is affinity_wait_ms in the context of a job; false: there is none, or it is no time.
func affinityWait(j *grid.Job) (grid.Time, bool) {
	text := algorithm.ContextOf(j, "affinity_wait_ms")
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return grid.Time(n), err == nil && n >= 0
}
