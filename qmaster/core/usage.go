package core

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Usage is booked when execution daemons report it: the difference between a task's usage
// and JATask.Usage, its usage at the last booking. Each task is booked for itself. (Grid
// Engine stores debited usage by job number, so that the running tasks of an array
// overwrite each other's.) Users and projects are booked when they are objects;
// enforce_user auto creates users.

// ledger are the bookings of one step: many tasks of a user that end together
// make one event.
type ledger []entry

// bookings book usage. Between steps the ledger is empty: Step emits it, Abandon drops it.
type bookings struct {
	*step
	ledger ledger
}

// entry is a booking and the operation of its event.
type entry struct {
	key grid.Key
	op  events.Op
	grid.Booking
}

// debitTask books what a task has used besides what the state says of it already.
func (b *bookings) debitTask(j *grid.Job, t *grid.JATask, used grid.Usage, ended, again bool) {
	known := b.state.Task(t.Job, t.ID)
	if known == nil {
		return
	}
	total := b.cell.Charged(j, t, used)
	more := total.Over(b.cell.Charged(j, t, known.Usage))
	var back grid.Amounts
	if ended {
		back = total
		if !again {
			more[grid.UsageFinishedJobs], back[grid.UsageFinishedJobs] = 1, 1
		}
	}
	b.debitFor(j, more, back)
}

// debitPETask books what a PE task has used besides what the state says of it
// already. Reserved usage is its task's.
func (b *bookings) debitPETask(j *grid.Job, p *grid.PETask, used grid.Usage, ended bool) {
	if b.cell.HostSettings(b.state.Task(p.Job, p.Task).Grants[0].Host).ReservedShare {
		return
	}
	s := b.cell.HostSettings(p.Host)
	total := s.Scaled(used)
	more := total.Over(s.Scaled(p.Usage))
	var back grid.Amounts
	if ended {
		back = total
	}
	b.debitFor(j, more, back)
}

// debitFor books for the user and the project of a job.
func (b *bookings) debitFor(j *grid.Job, more, back grid.Amounts) {
	if more == (grid.Amounts{}) && back == (grid.Amounts{}) {
		return
	}
	b.book(j.Owner, j.Project, more, back)
	if j.Project != "" {
		b.book("", j.Project, more, back)
	}
}

// book adds to a booking of this step. A stored booking belongs to a user or project that
// still exists: see userChanged.
func (books *bookings) book(user, project string, more, ended grid.Amounts) {
	i := slices.IndexFunc(books.ledger, func(e entry) bool { return e.User == user && e.Project == project })
	if i < 0 {
		e := entry{key: grid.BookingKey(user, project), op: events.OpMod}
		if old, ok := books.state.Get(grid.KindBooking, e.key).(*grid.Booking); ok {
			e.Booking = *old
		} else if books.cell.BooksFor(user, project) {
			e.op, e.Booking = events.OpAdd, grid.Booking{User: user, Project: project, At: books.cell.Now}
		} else {
			return
		}
		i = len(books.ledger)
		books.ledger = append(books.ledger, e)
	}
	b := &books.ledger[i].Booking
	*b = books.cell.Settings().Usage.Book(*b, books.cell.Now, more, ended)
}

// emitBookings emits the bookings of this step.
func (books *bookings) emitBookings() {
	for _, e := range books.ledger {
		b := e.Booking
		books.emit(events.Event{Op: e.op, Kind: grid.KindBooking, Key: e.key, Object: &b})
	}
	books.ledger = books.ledger[:0]
}

// clearUsage forgets the usage of users, or of all users and projects, qconf
// -clearusage.
func (books *bookings) clearUsage(r gdi.Request, users grid.Names) (answers []gdi.Answer) {
	modified := func(o grid.Object) {
		answers = append(answers,
			gdi.Done(fmt.Sprintf("%s@%s modified %q in %s list", r.User, r.Host, o.Key(), grid.SpecOf(o.Kind()).Noun)).On(
				onObject(o.Kind(), o.Key(), gdi.DidModify)))
	}
	if len(users) == 0 {
		books.forgetUsage(func(*grid.Booking) bool { return true })
		for _, o := range append(books.cell.All(grid.KindUser), books.cell.All(grid.KindProject)...) {
			modified(o)
		}
	}
	for _, name := range users {
		u := books.state.User(name)
		if u == nil {
			answers = append(answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: user %q does not exist", name)).On(
				onObject(grid.KindUser, grid.Key{Name: name}, "")))
			continue
		}
		books.forgetUsage(func(b *grid.Booking) bool { return b.User == name })
		modified(u)
	}
	return answers
}

func (b *bookings) forgetUsage(of func(*grid.Booking) bool) {
	for _, o := range b.cell.All(grid.KindBooking) {
		if of(o.(*grid.Booking)) {
			b.emit(events.Del(grid.KindBooking, o.Key()))
		}
	}
}
