package scoot

import (
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// ordinary starts the tasks to which classes are entitled and those on loan. Suspended
// tasks resume first, and then the rest is planned anew. A task that fits on no worker
// does not count as waiting: its class's workers are divided among the others again.
func (r *run) ordinary() {
	for idle := r.idle; idle > 0 && !r.Stopped; {
		r.plan.ordinary(idle)
		if r.planned() > 0 {
			_, idle = r.m.Cluster.Usable() // a task may resume in a queue that takes no jobs, whose workers are not idle ones
			continue
		}
		short := false
		for i := range r.plan.shares {
			s := &r.plan.shares[i]
			got := 0
			if s.start > 0 {
				got = r.starts(uint32(i), s.start)
			}
			if got < s.start {
				short = true
				s.waiting = 0
			}
			s.running += got
			idle -= got
			s.start = 0
		}
		if !short || r.m.Cluster.Idle() {
			return
		}
	}
}

// rebalance stops tasks of the classes above their targets and starts others,
// as far as there are workers now: those of tasks that stand still are. The rest
// starts when the stopped have ended. The clock starts anew with any of the
// starts that stands, and at once when tasks are stopped or continue. false: there
// is nothing to be had by it, and the run is an ordinary one.
func (r *run) rebalance() bool {
	r.plan.rebalance()
	first := r.beneficiary()
	kept := false
	anew := func() {
		if !kept {
			kept = true
			r.Yield(&orders.StoreState{States: []grid.AlgorithmState{clock{}.state()}})
		}
	}
	for i, s := range r.plan.shares {
		if s.start >= 0 {
			continue
		}
		for _, t := range r.stops(uint32(i), -s.start) {
			anew()
			if r.suspend(t, first) {
				r.idle++
			} else if r.mayRunAgain(t) {
				r.Yield(&orders.Preempt{Job: t.job, Task: t.task, For: first})
			}
			if r.Stopped {
				return true
			}
		}
	}
	started := 0
	r.anew = !kept
	for i, s := range r.plan.shares {
		if n := min(s.start, r.idle); n > 0 {
			on := r.unsuspendClass(uint32(i), n)
			if on > 0 {
				anew()
				_, r.idle = r.m.Cluster.Usable()
			}
			got := r.starts(uint32(i), n-on)
			r.idle -= got
			started += on + got
		}
	}
	r.anew = false
	if kept || started > 0 {
		return true
	}
	anew()
	r.updateModel()
	return false
}

// suspend lets a task stand still, if that is how tasks are stopped and its
// worker is of use to another task then.
func (r *run) suspend(s started, first uint32) bool {
	if r.Preemption != algorithm.Suspend {
		return false
	}
	t := r.m.State.Task(s.job, s.task)
	in := r.m.Cluster.InstanceOf(t.Grants[0])
	return in >= 0 && r.Suspend(t, first, func() bool { return r.useful(in) })
}

// useful reports whether a class that is to start tasks has one for an instance:
// of any category, or one that stands still there.
func (r *run) useful(instance int) bool {
	for class, s := range r.plan.shares {
		if s.start <= 0 {
			continue
		}
		if slices.ContainsFunc(r.stillOf(uint32(class)),
			func(t *grid.JATask) bool { return r.m.Cluster.FitsAgain(t).Fits() }) {
			return true
		}
		for _, p := range newTurns(r.m.lines, uint32(class), r.out).heads {
			need := r.m.Group(p.group).Need
			if need.Job.AR != 0 { // it starts in what is reserved
				continue
			}
			if _, ok := r.m.Cluster.FindPlacementAt(need, instance); ok {
				return true
			}
		}
	}
	return false
}

// stillOf are the tasks of a class that stand still, oldest first.
func (r *run) stillOf(class uint32) []*grid.JATask {
	if r.still == nil {
		r.still = make([][]*grid.JATask, len(r.order))
		for _, t := range r.m.Cluster.Preempted() {
			if c, any := r.classOf(t); any && r.ours(t) {
				r.still[c] = append(r.still[c], t)
			}
		}
	}
	return r.still[class]
}

// planned lets tasks that stand still continue as it is planned for their classes;
// when any do, the rest of the plan is void.
func (r *run) planned() (total int) {
	got := make([]int, len(r.plan.shares))
	for i, s := range r.plan.shares {
		got[i] = r.unsuspendClass(uint32(i), s.start)
		total += got[i]
	}
	for i := range r.plan.shares {
		if s := &r.plan.shares[i]; total > 0 {
			s.running, s.waiting, s.start = s.running+got[i], s.waiting+s.start-got[i], 0
		}
	}
	return total
}

// unsuspendClass lets so many tasks of a class continue that stand still, as far as their
// workers are free.
func (r *run) unsuspendClass(class uint32, count int) (got int) {
	for _, t := range r.stillOf(class) {
		if got == count || r.Stopped {
			break
		}
		if r.Unsuspend(t) {
			got++
			b, _ := r.m.members.Get(t.Job)
			b.running, b.stopped = b.running+1, b.stopped-1
			r.m.replace(t.Job, b)
		}
	}
	return got
}

// beneficiary is the job that is the first to start when tasks are stopped.
func (r *run) beneficiary() uint32 {
	for i, s := range r.plan.shares {
		if s.start > 0 {
			if still := r.stillOf(uint32(i)); len(still) > 0 {
				return still[0].Job
			}
			p, _ := newTurns(r.m.lines, uint32(i), r.out).next()
			return p.job
		}
	}
	return 0
}

// stops are the tasks of a class that are stopped: the newest, none that has
// run too long already, is on its way out, or may not be run again where it would have to.
func (r *run) stops(class uint32, count int) (out []started) {
	r.eachNewest(class, func(s started) bool {
		if r.mayStop(s) {
			out = append(out, s)
		}
		return len(out) < count
	})
	return out
}

// eachNewest calls f with the tasks of a class that run, the newest first, until it has run too long to be stopped or f
// returns false.
func (r *run) eachNewest(class uint32, f func(started) bool) {
	from := started{class: class, start: maxTime, job: 1<<32 - 1, task: 1<<32 - 1}
	r.m.tasks.Ascend(from, func(s started) bool {
		if s.class != class || s.start.Add(float64(r.MaxTaskDuration)) <= r.Now {
			return false
		}
		t := r.m.State.Task(s.job, s.task)
		return t == nil || t.Kill != "" || t.State&grid.StateDeleted != 0 || f(s)
	})
}

func (r *run) mayStop(s started) bool { return r.Preemption == algorithm.Suspend || r.mayRunAgain(s) }

func (r *run) mayRunAgain(s started) bool {
	return r.m.Cluster.Rerunnable(r.m.State.Job(s.job), r.m.State.Task(s.job, s.task))
}

// countSpared returns how many of the tasks that a class has beyond its target are not stopped because they may not be
// run again, and because they have run too long.
func (r *run) countSpared(class int) (unfit, long int) {
	over := r.plan.shares[class].running - r.plan.shares[class].target
	if over <= 0 {
		return 0, 0
	}
	r.eachNewest(uint32(class), func(s started) bool {
		if !r.mayStop(s) {
			unfit++
		}
		over--
		return over > 0
	})
	return unfit, over
}

// maxTime is after all times.
const maxTime = grid.Time(1<<63 - 1)

// starts starts so many tasks of a class, as far as there are workers for
// them.
func (r *run) starts(class uint32, count int) (got int) {
	t := r.turns[class]
	if t == nil {
		t = newTurns(r.m.lines, class, r.out)
		r.turns[class] = t
	}
	for got < count && !r.Stopped && !r.m.Cluster.Idle() {
		p, ok := t.next()
		if !ok {
			break
		}
		j := r.m.State.Job(p.job)
		tasks := r.begun[j.ID]
		if tasks == nil {
			tasks = r.m.sequence(j)
			r.begun[j.ID] = tasks
		}
		if !r.MayStart(j) {
			continue
		}
		g := r.m.Group(p.group)
		where, ok := r.findPlacement(j, g)
		if !ok {
			r.out[p.group] = true
			continue
		}
		id := tasks.next()
		if id == 0 {
			continue
		}
		r.m.Cluster.Book(g.Need, j, where)
		if !r.start(j, id, where) {
			break
		}
		got++
		t.rejoin(p)
	}
	return got
}

// findPlacement is where a task of a job starts: on the host that the last one was
// started on, or the first that has a worker for it.
func (r *run) findPlacement(j *grid.Job, g *model.Group) (p sched.Placement, ok bool) {
	if h := r.lastHost(j); h != "" && j.AR == 0 {
		for _, i := range r.m.Cluster.InstancesOn(h) {
			if p, ok = r.m.Cluster.FindPlacementAt(g.Need, i); ok {
				return p, true
			}
		}
	}
	c := r.cursors[g.Number]
	if c == nil {
		c = &sched.Cursor{}
		r.cursors[g.Number] = c
	}
	p, why := r.m.Cluster.FindPlacement(g.Need, c)
	return p, why.Fits()
}

// home is where the last task of an array was started.
type home struct {
	host  string
	moved bool // in this run, if the start stands
}

// lastHost is where the last task of an array was started.
func (r *run) lastHost(j *grid.Job) string {
	if !j.Array {
		return ""
	}
	h, known := r.homes[j.ID]
	if !known {
		h.host, _ = r.m.stored(hostName(j.ID), "host")
		r.homes[j.ID] = h
	}
	return h.host
}

// start starts a task. The host is stored with each start of a run from the first on that
// changes it, because any of them may be refused.
func (r *run) start(j *grid.Job, id uint32, p sched.Placement) bool {
	o := r.StartJob(j, id, p)
	if host := p.Grants[0].Host; j.Array && (host != r.lastHost(j) || r.homes[j.ID].moved) {
		r.homes[j.ID] = home{host, true}
		o.States = []grid.AlgorithmState{keep(hostName(j.ID), grid.Value{Name: "host", Text: host})}
	}
	if r.anew {
		o.States = append(o.States, clock{}.state())
	}
	return r.YieldStart(j, o)
}
