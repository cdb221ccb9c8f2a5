package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// book counts a started task. The counterpart is unbook.
func (c *Cluster) book(t *grid.JATask) {
	j := c.st.Job(t.Job)
	if j == nil {
		return
	}
	b := booking{j, t, c.grossEnd(j, t)}
	c.booked.Set(numberOf(t.Job, t.ID), b)
	if t.Preempted() {
		c.preempted.Set(numberOf(t.Job, t.ID), b)
	}
	c.debit(c.held(b), j, t.Grants, t.PE, b.use(+1))
	c.bind(t)
	c.noteInstances(t, +1)
	c.adjust(t.Grants, t.Start, +1)
}

func (c *Cluster) unbook(b booking) {
	c.booked.Delete(numberOf(b.run.Job, b.run.ID))
	if b.run.Preempted() {
		c.preempted.Delete(numberOf(b.run.Job, b.run.ID))
	}
	c.debit(c.held(b), b.spec, b.run.Grants, b.run.PE, b.use(-1))
	c.unbind(b.run)
	c.noteInstances(b.run, -1)
	c.adjust(b.run.Grants, b.run.Start, -1)
	c.noteReleased(b)
}

// rebook brings the utilization in line with what a task is now; nil: gone.
func (c *Cluster) rebook(job, task uint32, now *grid.JATask) {
	old, was := c.booked.Get(numberOf(job, task))
	is := now != nil && now.Started()
	if was && is && sameUse(old.run, now) {
		if now.Preempted() { // whether it is to resume depends on the rest of it, too
			fresh := booking{old.spec, now, old.end}
			c.booked.Set(numberOf(job, task), fresh)
			c.preempted.Set(numberOf(job, task), fresh)
		}
		if (old.run.State^now.State)&grid.StateSuspendedAny != 0 && c.preempts(now.Grants) {
			c.booked.Set(numberOf(job, task), booking{old.spec, now, old.end})
			c.reorderGrants(now.Grants)
			c.noteAllImproved()
		}
		return
	}
	if was {
		c.unbook(old)
		c.reorderGrants(old.run.Grants)
	}
	if is {
		c.book(now)
		c.reorderGrants(now.Grants)
	}
}

// held is what a started task takes: one that was preempted has no slots. Of resource maps
// it has the instances that it was granted, whatever its job asks for now.
func (c *Cluster) held(b booking) []complex.Demand {
	c.buffer = c.withThreads(c.withInstances(c.site.Complex.Demands(c.buffer, b.run.Held(b.spec), b.spec.JobRequest),
		b.run.Maps), b.run)
	if b.run.Preempted() {
		return c.buffer[1:]
	}
	return c.buffer
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

func sameGrants(a, b *grid.JATask) bool {
	return (len(a.Grants) > 0 && len(b.Grants) > 0 && &a.Grants[0] == &b.Grants[0] && a.Start == b.Start) ||
		(a.PE == b.PE && a.Start == b.Start && equalGrants(a.Grants, b.Grants))
}

func equalGrants(a, b []grid.Grant) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// rebookJob follows a job: gone, or with other requests than its started
// tasks were counted with.
func (c *Cluster) rebookJob(id uint32) {
	held := c.booked.Range(numberOf(id, 0), numberOf(id, math.MaxUint32))
	if len(held) == 0 {
		return
	}
	j := c.st.Job(id)
	for _, b := range held {
		var now *grid.JATask
		if j != nil {
			now = c.st.Task(id, b.run.ID)
		}
		if now == nil || !now.Started() || !sameDemand(b, now, j) {
			c.unbook(b)
			c.reorderGrants(b.run.Grants)
			c.rebook(id, b.run.ID, now)
		}
	}
}

// sameDemand reports whether a task holds the same in a version of its job as it was counted with.
func sameDemand(b booking, now *grid.JATask, j *grid.Job) bool {
	if b.spec.Owner != j.Owner || counted(b.spec) != counted(j) {
		return false
	}
	if b.spec.JobRequest == j.JobRequest && len(j.Former) == 0 {
		return true
	}
	if !slices.Equal(b.spec.MasterHard, j.MasterHard) || !slices.Equal(b.spec.SlaveHard, j.SlaveHard) {
		return false
	}
	was, is := b.run.Held(b.spec), now.Held(j)
	return len(was) == len(is) && !slices.ContainsFunc(was, func(r grid.Request) bool {
		o, has := is.Get(r.Name)
		return !has || o != r
	})
}

// debit counts what a task of a job uses at every level.
func (c *Cluster) debit(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	c.hold(demands, j, grants, pe, u)
	if counted(j) {
		count(c.jobs.own(), j.ID, int(u.sign))
	}
	if c.site.Policy.MaxUJobs > 0 {
		count(c.users.own(), j.Owner, int(u.sign))
	}
}

// hold counts what grants take at every level, in an advance reservation if
// the job is of one, and under the quotas.
func (c *Cluster) hold(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	r := c.clusterOf(j.AR)
	r.use(demands, grants, pe, u)
	c.useQuotas(demands, j, grants, pe, u)
	if r != c {
		c.useAsGuest(demands, grants, pe, u)
		r.reorderGrants(grants)
	}
}

// use is how a grant is counted: as in use now until the end of the window,
// or as planned for it; sign -1 takes it back.
type use struct {
	diagram grid.Window
	planned bool
	sign    float64
	task    *grid.JATask // which has started and so holds instances of resource maps; nil: what is asked counts
}

// running is the use of a task that is assumed to end at a time.
func running(end grid.Time, sign float64) use {
	return use{diagram: grid.Window{Start: 0, End: end}, sign: sign}
}

// use is that of a started task.
func (b *booking) use(sign float64) use {
	u := running(b.end, sign)
	u.task = b.run
	return u
}

// use counts what grants take at every level: instance, host, cluster, PE.
func (c *Cluster) use(demands []complex.Demand, grants []grid.Grant, pe string, u use) {
	total, known, before := uint32(0), uint32(0), c.usedGlobal[0]
	for k, g := range grants {
		total += slotsOf(demands, g)
		if h, ok := c.site.HostAt[g.Host]; ok {
			n, host := c.own(h), c.site.Hosts[h]
			if in := host.InstanceOf(g.Queue); in != nil {
				row := n.row(in.Place)
				c.planned.excess -= max(int(row[0])-in.Slots, 0)
				c.add(&level{supply: &in.Supply, used: row, plans: n.diagrams(in.Place)}, demands, grants, k, u)
				c.planned.excess += max(int(row[0])-in.Slots, 0)
				known += slotsOf(demands, g)
			}
			c.add(&level{supply: &host.Supply, used: n.row(0), plans: n.diagrams(0), place: host.Name, tree: host.Tree},
				demands, grants, k, u)
		}
		c.add(&level{supply: &c.site.Global, used: c.usedGlobal, plans: c.planned.global, place: grid.GlobalHost},
			demands, grants, k, u)
	}
	if total == 0 {
		return
	}
	if !u.planned {
		c.roughly(before, total, u)
		c.planned.excess += int(u.sign) * int(total-known)
	}
	if i := c.peNamed(pe); i >= 0 {
		c.usePE(i, total, u)
	}
}

// slotsOf is how many slots of a grant are counted: they are the first demand.
func slotsOf(demands []complex.Demand, g grid.Grant) uint32 {
	if len(demands) == 0 || demands[0].Column != 0 {
		return 0
	}
	return g.Slots
}

// add counts one of the grants at a level.
func (c *Cluster) add(l *level, demands []complex.Demand, grants []grid.Grant, k int, u use) {
	for i := range demands {
		d := &demands[i]
		c.addAmount(l, d.Column, c.amount(l, d, grants, k, u.task), u)
	}
}

// addAmount counts an amount of one consumable at a level.
func (c *Cluster) addAmount(l *level, column int, amount float64, u use) {
	if c.keeps(l, column) && amount != 0 {
		u.addTo(c.diagram(&l.plans[column]), l.used[column], amount)
	}
	if u.planned {
		return
	}
	l.used[column] += u.sign * amount
	if use := l.used[column]; u.sign < 0 && use < 1e-6 && use > -1e-6 {
		l.used[column] = 0 // sums of fractions do not always cancel out
	}
}

// count adds to a counter, +1 or -1; one that is 0 is not kept.
func count[K cmp.Ordered](of ordered.Map[K, uint32], key K, sign int) {
	if sign > 0 {
		if n, _ := of.Set(key, 1); n > 0 {
			of.Set(key, n+1)
		}
	} else if n, _ := of.Delete(key); n > 1 {
		of.Set(key, n-1)
	}
}

// granted is the instance of a grant, nil when there is none any more.
func (c *Cluster) granted(g grid.Grant) *site.Instance {
	if h, ok := c.site.HostAt[g.Host]; ok {
		return c.site.Hosts[h].InstanceOf(g.Queue)
	}
	return nil
}

func (c *Cluster) peNamed(name string) int {
	if name == "" {
		return -1
	}
	for i, p := range c.site.PEs {
		if p.Name == name {
			return i
		}
	}
	return -1
}
