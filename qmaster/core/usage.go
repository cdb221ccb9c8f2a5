package core

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
)

// Usage is booked when execution daemons report it: the difference between a task's usage
// and JATask.Usage, its usage at the last booking. Each task is booked for itself. (Grid
// Engine stores debited usage by job number, so that the running tasks of an array
// overwrite each other's.) Users and projects are booked when they are objects;
// enforce_user auto creates users.

// ledger are the bookings of one step: many tasks of a user that end together
// make one event.
type ledger []entry

// entry is a booking and the operation of its event.
type entry struct {
	key grid.Key
	op  events.Op
	grid.Booking
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
	if c.settingsOf(c.state.Task(p.Job, p.Task).Grants[0].Host).reservedShare {
		return
	}
	s := c.settingsOf(p.Host)
	total := s.scaled(used)
	more := total.Over(s.scaled(p.Usage))
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
	c.book(j.Owner, j.Project, more, back)
	if j.Project != "" {
		c.book("", j.Project, more, back)
	}
}

// book adds to a booking of this step. A stored booking belongs to a user or project that
// still exists: see userChanged.
func (c *Core) book(user, project string, more, ended grid.Amounts) {
	i := slices.IndexFunc(c.ledger, func(e entry) bool { return e.User == user && e.Project == project })
	if i < 0 {
		e := entry{key: grid.BookingKey(user, project), op: events.OpMod}
		if old, ok := c.state.Get(grid.KindBooking, e.key).(*grid.Booking); ok {
			e.Booking = *old
		} else if c.booksFor(user, project) {
			e.op, e.Booking = events.OpAdd, grid.Booking{User: user, Project: project, At: c.now}
		} else {
			return
		}
		i = len(c.ledger)
		c.ledger = append(c.ledger, e)
	}
	b := &c.ledger[i].Booking
	*b = c.settings().usage.Book(*b, c.now, more, ended)
}

// booksFor reports whether there is such a user, or with none such a project.
func (c *Core) booksFor(user, project string) bool {
	if user == "" {
		return c.state.Project(project) != nil
	}
	return c.state.User(user) != nil
}

// closeLedger emits the bookings of this step.
func (c *Core) closeLedger() {
	for _, e := range c.ledger {
		b := e.Booking
		c.emit(events.Event{Op: e.op, Kind: grid.KindBooking, Key: e.key, Object: &b})
	}
	c.ledger = c.ledger[:0]
}

// charged is what counts of a task's usage for its owner: scaled as its host
// says or, with SHARETREE_RESERVED_USAGE, what it has kept from others.
func (c *Core) charged(j *grid.Job, t *grid.JATask, u grid.Usage) grid.Amounts {
	s := c.settingsOf(t.Grants[0].Host)
	if s.reservedShare {
		u = c.reserved(j, t, u)
	}
	return s.scaled(u)
}

// scaled is usage as a host counts it, host_conf(5) usage_scaling.
func (s *hostSettings) scaled(u grid.Usage) grid.Amounts {
	a := u.Amounts()
	for i := range a {
		a[i] *= s.scaling[i]
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
		r := c.queueFor(q, g.Host, t.Wanted(j))
		if limit := min(r.SVMem, r.HVMem); limit < grid.Infinity {
			u.MaxVMem += limit * float64(g.Slots)
		}
	}
	u.Mem = u.MaxVMem / gigabyte * u.WallSeconds
	return u
}

// decayChanged settles all usage as the old half-lives left it; the new ones
// hold from now on.
func decayChanged(c *Core, old, _ grid.Object) {
	conf, ok := old.(*grid.SchedConf)
	if !ok {
		return
	}
	was, err := shares.NewUsagePolicy(conf)
	if err != nil || was.SameDecay(&c.settings().usage) {
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
	modified := func(o grid.Object) {
		answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s modified %q in %s list", r.User, r.Host, o.Key(), grid.SpecOf(o.Kind()).Noun)).On(onObject(o.Kind(), o.Key(), gdi.DidModify)))
	}
	if len(users) == 0 {
		c.forgetUsage(func(*grid.Booking) bool { return true })
		for _, o := range append(c.all(grid.KindUser), c.all(grid.KindProject)...) {
			modified(o)
		}
	}
	for _, name := range users {
		u := c.state.User(name)
		if u == nil {
			answers = append(answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: user %q does not exist", name)).On(onObject(grid.KindUser, grid.Key{Name: name}, "")))
			continue
		}
		c.forgetUsage(func(b *grid.Booking) bool { return b.User == name })
		modified(u)
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
