package core

import (
	"fmt"
	"slices"

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
	total := c.cell.Charged(j, t, used)
	more := total.Over(c.cell.Charged(j, t, known.Usage))
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
	if c.cell.HostSettings(c.state.Task(p.Job, p.Task).Grants[0].Host).ReservedShare {
		return
	}
	s := c.cell.HostSettings(p.Host)
	total := s.Scaled(used)
	more := total.Over(s.Scaled(p.Usage))
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
		} else if c.cell.BooksFor(user, project) {
			e.op, e.Booking = events.OpAdd, grid.Booking{User: user, Project: project, At: c.cell.Now}
		} else {
			return
		}
		i = len(c.ledger)
		c.ledger = append(c.ledger, e)
	}
	b := &c.ledger[i].Booking
	*b = c.cell.Settings().Usage.Book(*b, c.cell.Now, more, ended)
}

// closeLedger emits the bookings of this step.
func (c *Core) closeLedger() {
	for _, e := range c.ledger {
		b := e.Booking
		c.emit(events.Event{Op: e.op, Kind: grid.KindBooking, Key: e.key, Object: &b})
	}
	c.ledger = c.ledger[:0]
}

// decayChanged settles all usage as the old half-lives left it; the new ones
// hold from now on.
func decayChanged(c *Core, old, _ grid.Object) {
	conf, ok := old.(*grid.SchedConf)
	if !ok {
		return
	}
	was, err := shares.NewUsagePolicy(conf)
	if err != nil || was.SameDecay(&c.cell.Settings().Usage) {
		return
	}
	for _, o := range c.cell.All(grid.KindBooking) {
		n := *o.(*grid.Booking)
		n.Decayed, n.At = was.At(&n, c.cell.Now), c.cell.Now
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
		for _, o := range append(c.cell.All(grid.KindUser), c.cell.All(grid.KindProject)...) {
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
	for _, o := range c.cell.All(grid.KindBooking) {
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
