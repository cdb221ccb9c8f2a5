package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Calendars open and close queues by the clock of the cell, calendar_conf(5). The current
// state of a calendar is stored in the object: schedulers and new queue instances read it
// there.

func calendarChanged(c *Core, _, new grid.Object) {
	if new != nil {
		c.followCalendar(new.(*grid.Calendar))
	}
}

// calendars follows those whose state lasts no longer.
func (c *Core) calendars() {
	var due []*grid.Calendar
	c.state.Each(grid.KindCalendar, func(o grid.Object) bool {
		if cal := o.(*grid.Calendar); cal.Until <= c.cell.Now {
			due = append(due, cal)
		}
		return true
	})
	for _, cal := range due {
		c.followCalendar(cal)
	}
}

// followCalendar brings a calendar, and the queues that it opens and closes, in
// line with the time.
func (c *Core) followCalendar(cal *grid.Calendar) {
	p, err := calendar.Parse(cal)
	if err != nil {
		return // kept from before it was checked: it says nothing
	}
	c.emit(events.Mod(p.Evaluate(cal, c.cell.Now, c.cell.Zone)))
	for _, q := range c.state.CQueues() {
		for _, name := range cell.AllValues(q.Calendar) {
			if name == cal.Name {
				c.applyCalendars(q)
				break
			}
		}
	}
}

// applyCalendars sets the calendar states of the instances of a cluster queue.
func (c *Core) applyCalendars(q *grid.CQueue) {
	for _, qi := range c.cell.Instances(q.Name) {
		state := qi.State &^ (grid.QueueCalDisabled | grid.QueueCalSuspended)
		name := q.Calendar.For(qi.Host, c.cell.MemberOf(qi.Host))
		if cal, ok := c.state.Get(grid.KindCalendar, grid.Key{Name: name}).(*grid.Calendar); ok {
			state |= cal.State
		}
		c.setQueueState(qi, state, qi.Message)
	}
}
