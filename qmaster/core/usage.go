package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Usage is booked when execution daemons report it: by how much a task's usage
// exceeds what the task was known to have used, which JATask.Usage says. Each
// task is booked for itself. (Grid Engine remembers what it has debited by job
// number, so that the running tasks of an array take each other's place.)
// Users and projects are booked when they are objects; enforce_user auto sees
// to that.

// usagePolicy is the policy of the scheduler configuration conf.
type usagePolicy struct {
	conf   *grid.SchedConf
	policy sched.UsagePolicy
}

// ledger are the bookings of one step: many tasks of a user that end together
// make one event.
type ledger []grid.Booking

// usagePolicy is the policy of the newest scheduler configuration.
func (c *Core) usagePolicy() *sched.UsagePolicy {
	if conf := c.state.SchedConf(); c.usage.conf != conf {
		c.usage.conf = conf
		c.usage.policy, _ = sched.NewUsagePolicy(conf) // it was checked when it was set
	}
	return &c.usage.policy
}

// debit books what a task has used besides what the state says of it already.
func (c *Core) debit(j *grid.Job, t *grid.JATask, used grid.Usage, ended, again bool) {
	known := c.state.Task(t.Job, t.ID)
	if known == nil {
		return
	}
	total := c.charged(j, t, used)
	more := total.Over(c.charged(j, t, known.Usage))
	var back grid.Amounts
	if ended {
		back = total
		if !again {
			more[grid.UsageFinishedJobs], back[grid.UsageFinishedJobs] = 1, 1
		}
	}
	c.debitFor(j, more, back)
}

// debitPETask books what a PE task has used besides what the state says of it
// already. Reserved usage is its task's.
func (c *Core) debitPETask(j *grid.Job, p *grid.PETask, used grid.Usage, ended bool) {
	if c.execdParam(c.state.Task(p.Job, p.Task).Grants[0].Host, "SHARETREE_RESERVED_USAGE") {
		return
	}
	total := c.scaled(p.Host, used)
	more := total.Over(c.scaled(p.Host, p.Usage))
	var back grid.Amounts
	if ended {
		back = total
	}
	c.debitFor(j, more, back)
}

// debitFor books for the user and the project of a job.
func (c *Core) debitFor(j *grid.Job, more, back grid.Amounts) {
	if more == (grid.Amounts{}) && back == (grid.Amounts{}) {
		return
	}
	if c.state.User(j.Owner) != nil {
		c.book(j.Owner, j.Project, more, back)
	}
	if j.Project != "" && c.state.Project(j.Project) != nil {
		c.book("", j.Project, more, back)
	}
}

// book adds to a booking of this step.
func (c *Core) book(user, project string, more, ended grid.Amounts) {
	i := slices.IndexFunc(c.ledger, func(b grid.Booking) bool { return b.User == user && b.Project == project })
	if i < 0 {
		b := grid.Booking{User: user, Project: project, At: c.now}
		if old := c.state.Booking(user, project); old != nil {
			b = *old
		}
		i = len(c.ledger)
		c.ledger = append(c.ledger, b)
	}
	c.ledger[i] = c.usagePolicy().Book(c.ledger[i], c.now, more, ended)
}

// closeLedger tells the bookings of this step.
func (c *Core) closeLedger() {
	for i := range c.ledger {
		b := c.ledger[i]
		if c.state.Get(grid.KindBooking, b.Key()) == nil {
			c.emit(events.Add(&b))
		} else {
			c.emit(events.Mod(&b))
		}
	}
	c.ledger = c.ledger[:0]
}

// charged is what counts of a task's usage for its owner: scaled as its host
// says or, with SHARETREE_RESERVED_USAGE, what it has kept from others.
func (c *Core) charged(j *grid.Job, t *grid.JATask, u grid.Usage) grid.Amounts {
	host := t.Grants[0].Host
	if c.execdParam(host, "SHARETREE_RESERVED_USAGE") {
		u = c.reserved(j, t, u)
	}
	return c.scaled(host, u)
}

// scaled is usage as a host counts it, host_conf(5) usage_scaling.
func (c *Core) scaled(host string, u grid.Usage) grid.Amounts {
	a := u.Amounts()
	if h := c.state.ExecHost(host); h != nil {
		for _, v := range h.UsageScaling {
			if i := slices.Index(grid.UsageNames[:], v.Name); i >= 0 {
				factor, _ := strconv.ParseFloat(v.Text, 64)
				a[i] *= factor
			}
		}
	}
	return a
}

// badScaling refuses usage_scaling of anything but cpu, mem and io.
func badScaling(scaling grid.Values) string {
	for _, v := range scaling {
		if i := slices.Index(grid.UsageNames[:], v.Name); i < 0 || i == grid.UsageFinishedJobs {
			return fmt.Sprintf("denied: unknown usage type %q in usage_scaling", v.Name)
		}
		if f, err := strconv.ParseFloat(v.Text, 64); err != nil || !(f >= 0) || f >= grid.Infinity {
			return fmt.Sprintf("denied: invalid value %q of %s in usage_scaling", v.Text, v.Name)
		}
	}
	return ""
}

// reserved puts reserved for measured usage: each slot's processor for the
// whole time, and the memory that the limits grant; sge_conf(5).
func (c *Core) reserved(j *grid.Job, t *grid.JATask, u grid.Usage) grid.Usage {
	const gigabyte = 1 << 30
	u.CPU, u.Mem, u.IO, u.IOWait, u.MaxVMem = u.WallSeconds*float64(t.Slots()), 0, 0, 0, 0
	for _, g := range t.Grants {
		q := c.state.CQueue(g.Queue)
		if q == nil {
			continue
		}
		member := c.memberOf(g.Host)
		soft, _ := q.SVMem.For(g.Host, member).Bytes()
		hard, _ := q.HVMem.For(g.Host, member).Bytes()
		if limit := min(lowered(soft, j, "s_vmem"), lowered(hard, j, "h_vmem")); limit < grid.Infinity {
			u.MaxVMem += limit * float64(g.Slots)
		}
	}
	u.Mem = u.MaxVMem / gigabyte * u.WallSeconds
	return u
}

// execdParam says whether execd_params has a word for a host.
func (c *Core) execdParam(host, word string) bool {
	list := c.param("execd_params")
	if l := c.state.Conf(host); l != nil && l.Get("execd_params") != "" {
		list = l.Get("execd_params")
	}
	text, given := grid.ParamIn(list, word)
	return given && (text == "1" || strings.EqualFold(text, "true") || strings.EqualFold(text, "yes"))
}

// decayChanged settles all usage as the old half-lives left it; the new ones
// hold from now on.
func decayChanged(c *Core, old, _ grid.Object) {
	conf, ok := old.(*grid.SchedConf)
	if !ok {
		return
	}
	was, err := sched.NewUsagePolicy(conf)
	if err != nil || was.SameDecay(c.usagePolicy()) {
		return
	}
	for _, o := range c.all(grid.KindBooking) {
		n := *o.(*grid.Booking)
		n.Decayed, n.At = was.At(&n, c.now), c.now
		c.emit(events.Mod(&n))
	}
}

// clearUsage forgets the usage of users, or of all users and projects, qconf
// -clearusage.
func (c *Core) clearUsage(r gdi.Request, users grid.Names) (answers []gdi.Answer) {
	told := func(o grid.Object) {
		answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s modified %q in %s list", r.User, r.Host, o.Key(), grid.SpecOf(o.Kind()).Noun)))
	}
	if len(users) == 0 {
		c.forgetUsage(func(*grid.Booking) bool { return true })
		for _, o := range append(c.all(grid.KindUser), c.all(grid.KindProject)...) {
			told(o)
		}
	}
	for _, name := range users {
		u := c.state.User(name)
		if u == nil {
			answers = append(answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: user %q does not exist", name)))
			continue
		}
		c.forgetUsage(func(b *grid.Booking) bool { return b.User == name })
		told(u)
	}
	return answers
}

func (c *Core) forgetUsage(of func(*grid.Booking) bool) {
	for _, o := range c.all(grid.KindBooking) {
		if of(o.(*grid.Booking)) {
			c.emit(events.Del(grid.KindBooking, o.Key()))
		}
	}
}

// userChanged and projectChanged take what was booked away with its object.
func userChanged(c *Core, old, new grid.Object) {
	if new == nil {
		name := old.Key().Name
		c.forgetUsage(func(b *grid.Booking) bool { return b.User == name })
	}
}

func projectChanged(c *Core, old, new grid.Object) {
	if new == nil {
		name := old.Key().Name
		c.forgetUsage(func(b *grid.Booking) bool { return b.Project == name })
	}
}
