package ledger

import (
	"cmp"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// Booking is what a started task was counted as.
type Booking struct {
	Job  *grid.Job
	Task *grid.JATask
	End  grid.Time // when it is assumed to give back what it holds
}

// Number is a task in the order of jobs and their tasks.
func Number(job, task uint32) uint64 { return uint64(job)<<32 | uint64(task) }

// Change is what an event has changed: on the hosts of the tasks' grants, in the job's advance reservation as well.
type Change struct {
	Ended     Booking // gives back what it held; without a task: none does
	Anywhere  bool    // what it gives back may help jobs on any host, not on those of its grants alone
	Began     Booking // holds what it was granted; without a task: none does
	Suspended Booking // was suspended or resumed on a host where that counts; without a task: none was
}

// Follow brings the ledger in line with what a task is now; nil: gone.
func (l *Ledger) Follow(job, task uint32, now *grid.JATask) (c Change) {
	number := Number(job, task)
	old, was := l.booked.Rows.Get(number)
	is := now != nil && now.Started()
	if was && is && sameUse(old.Task, now) {
		fresh := Booking{old.Job, now, old.End}
		if now.Preempted() { // whether it is to resume depends on the rest of it, too
			l.booked.Own().Set(number, fresh)
			l.preempted.Own().Set(number, fresh)
		}
		if (old.Task.State^now.State)&grid.StateSuspendedAny != 0 && l.site.Subordinating(now.Grants) {
			l.booked.Own().Set(number, fresh)
			c.Suspended = fresh
		}
		return c
	}
	if was {
		c = l.remove(old)
	}
	if is {
		c.Began = l.Count(now)
	}
	return c
}

// FollowJob brings the ledger in line with a job: gone, or with other requests than its started tasks were counted
// with.
func (l *Ledger) FollowJob(id uint32) (changes []Change) {
	held := l.booked.Rows.Range(Number(id, 0), Number(id, math.MaxUint32))
	if len(held) == 0 {
		return nil
	}
	j := l.tasks.Job(id)
	for _, b := range held {
		var now *grid.JATask
		if j != nil {
			now = l.tasks.Task(id, b.Task.ID)
		}
		if now == nil || !now.Started() || !sameDemand(b, now, j) {
			c := l.remove(b)
			c.Began = l.Follow(id, b.Task.ID, now).Began
			changes = append(changes, c)
		}
	}
	return changes
}

// Replace counts a started task anew that has other limits now.
func (l *Ledger) Replace(now *grid.JATask) (c Change) {
	old, _ := l.booked.Rows.Get(Number(now.Job, now.ID))
	c = l.remove(old)
	c.Began = l.Count(now)
	return c
}

// Count counts a started task. The counterpart is remove.
func (l *Ledger) Count(t *grid.JATask) (b Booking) {
	j := l.tasks.Job(t.Job)
	if j == nil {
		return b
	}
	b = Booking{j, t, l.site.GrossEnd(j, t)}
	l.booked.Own().Set(Number(t.Job, t.ID), b)
	if t.Preempted() {
		l.preempted.Own().Set(Number(t.Job, t.ID), b)
	}
	l.debit(l.held(b), j, t.Grants, t.PE, b.use(+1))
	l.bind(t)
	l.noteInstances(t, +1)
	return b
}

func (l *Ledger) remove(b Booking) Change {
	t := b.Task
	l.booked.Own().Delete(Number(t.Job, t.ID))
	if t.Preempted() {
		l.preempted.Own().Delete(Number(t.Job, t.ID))
	}
	l.debit(l.held(b), b.Job, t.Grants, t.PE, b.use(-1))
	l.unbind(t)
	l.noteInstances(t, -1)
	return Change{Ended: b, Anywhere: l.helpsAnywhere(b)}
}

// helpsAnywhere reports whether what a task gives back, which is in the buffer, is not its hosts' alone.
func (l *Ledger) helpsAnywhere(b Booking) bool {
	return slices.ContainsFunc(b.Task.Maps, func(m grid.MapGrant) bool { return m.Global }) ||
		l.site.SharesQuota(b.Job, b.Task.Grants, b.Task.PE) ||
		slices.ContainsFunc(l.buffer, func(d complex.Demand) bool {
			return l.site.Global.Capacity[d.Column] < complex.Unlimited
		})
}

// use is that of a started task.
func (b *Booking) use(sign float64) use {
	u := running(b.End, sign)
	u.task = b.Task
	return u
}

// held is what a started task takes: one that was preempted has no slots. Of resource maps it has the instances that it
// was granted, whatever its job asks for now.
func (l *Ledger) held(b Booking) []complex.Demand {
	l.buffer = l.Granted(l.site.Complex.Demands(l.buffer, b.Task.Held(b.Job), b.Job.JobRequest), b.Task)
	if b.Task.Preempted() {
		return l.buffer[1:]
	}
	return l.buffer
}

// Granted adds to demands of a started task the resource maps of which it holds instances that its job does not ask
// for, as after qalter, and the threads that it has.
func (l *Ledger) Granted(demands []complex.Demand, t *grid.JATask) []complex.Demand {
	add := func(column int) {
		if !slices.ContainsFunc(demands, func(d complex.Demand) bool { return d.Column == column }) {
			demands = append(demands, complex.Demand{Column: column})
		}
	}
	for i := range t.Maps {
		if column := l.site.ColumnOf(t.Maps[i].Resource); column > 0 {
			add(column)
		}
	}
	if isBound(t) {
		add(l.site.Complex.Threads)
	}
	return demands
}

// sameUse reports whether two versions of a started task hold the same.
func sameUse(a, b *grid.JATask) bool {
	return a == b || a.Preempted() == b.Preempted() && sameGrants(a, b) && sameInstances(a.Maps, b.Maps) &&
		sameCores(a, b) && sameLimits(a.Limits, b.Limits) && slices.Equal(a.Takes, b.Takes)
}

// sameLimits reports whether tasks of one job hold the same for their limits.
func sameLimits(a, b *grid.Limits) bool {
	return a == b || a != nil && b != nil && a.Changing == b.Changing && slices.Equal(a.Requests, b.Requests) &&
		slices.Equal(a.Before, b.Before)
}

func sameInstances(a, b []grid.MapGrant) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] ||
		slices.EqualFunc(a, b, func(a, b grid.MapGrant) bool {
			return a.Resource == b.Resource && a.Host == b.Host && a.Global == b.Global && slices.Equal(a.IDs, b.IDs)
		}))
}

// sameCores reports whether two versions of a started task have the same threads.
func sameCores(a, b *grid.JATask) bool {
	if len(a.Cores) > 0 || len(b.Cores) > 0 {
		return slices.Equal(a.Cores, b.Cores)
	}
	return a.Binding == b.Binding
}

func sameGrants(a, b *grid.JATask) bool {
	return (len(a.Grants) > 0 && len(b.Grants) > 0 && &a.Grants[0] == &b.Grants[0] && a.Start == b.Start) ||
		(a.PE == b.PE && a.Start == b.Start && slices.Equal(a.Grants, b.Grants))
}

// sameDemand reports whether a task holds the same in a version of its job as it was counted with.
func sameDemand(b Booking, now *grid.JATask, j *grid.Job) bool {
	if b.Job.Owner != j.Owner || counted(b.Job) != counted(j) {
		return false
	}
	if b.Job.JobRequest == j.JobRequest && len(j.Former) == 0 {
		return true
	}
	if !slices.Equal(b.Job.MasterHard, j.MasterHard) || !slices.Equal(b.Job.SlaveHard, j.SlaveHard) {
		return false
	}
	was, is := b.Task.Held(b.Job), now.Held(j)
	return len(was) == len(is) && !slices.ContainsFunc(was, func(r grid.Request) bool {
		o, has := is.Get(r.Name)
		return !has || o != r
	})
}

// Booking returns what a task is counted as.
func (l *Ledger) Booking(number uint64) (b Booking, counted bool) { return l.booked.Rows.Get(number) }

// Preempted lists the tasks that have given back their slots, those that started first before the others.
func (l *Ledger) Preempted() []*grid.JATask {
	if l.preempted.Rows.Len() == 0 {
		return nil
	}
	out := make([]*grid.JATask, 0, l.preempted.Rows.Len())
	l.preempted.Rows.Scan(func(_ uint64, b Booking) bool {
		out = append(out, b.Task)
		return true
	})
	slices.SortStableFunc(out, func(a, b *grid.JATask) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// PreemptedOf lists those of a job, by number.
func (l *Ledger) PreemptedOf(job uint32) (out []*grid.JATask) {
	if l.preempted.Rows.Len() == 0 {
		return nil
	}
	for _, b := range l.preempted.Rows.Range(Number(job, 0), Number(job, math.MaxUint32)) {
		out = append(out, b.Task)
	}
	return out
}
