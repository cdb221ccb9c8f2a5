package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// tick does what time asks for: repeats unconfirmed commands, tells the loads
// that were reported, finds silent hosts, reschedules what ran on them, opens
// and closes queues by their calendars.
func (c *Core) tick() {
	c.resend()
	c.farewell()
	c.calendars()
	var loads []*grid.Load
	c.state.Each(grid.KindLoad, func(o grid.Object) bool {
		loads = append(loads, o.(*grid.Load))
		return true
	})
	for _, l := range loads {
		if t := c.sent[l.Host]; t != nil && t.load != nil {
			l, t.load = t.load, nil
			c.emit(events.Mod(l))
		}
		c.silence(l)
	}
}

// heardAt is when a host last gave a sign of life. Before this qmaster began nobody
// listened, which is no silence of the host's.
func (c *Core) heardAt(l *grid.Load) grid.Time {
	heard := max(l.Heard, c.began)
	if t := c.sent[l.Host]; t != nil {
		heard = max(heard, t.heard)
	}
	return heard
}

// silence marks a host from which nothing was heard for max_unheard, and
// reschedules its rerunnable tasks after reschedule_unknown more.
func (c *Core) silence(l *grid.Load) {
	quiet := c.now.Sub(c.heardAt(l))
	s := c.settingsOf(l.Host)
	if quiet <= s.silent || s.silent == 0 {
		return
	}
	if !l.Unheard {
		n := *l
		n.Unheard = true
		c.emit(events.Mod(&n))
		c.endPETasksOn(l.Host)
	}
	if s.again == 0 || quiet <= s.silent+s.again {
		return
	}
	for _, t := range c.state.OnHost(l.Host) {
		j := c.state.Job(t.Job)
		if t.State&grid.StateDeleted != 0 || !c.cluster.Rerunnable(j, t) {
			continue
		}
		if t.Grants[0].Host != l.Host {
			c.slaveLost(t)
			continue
		}
		c.account(j, t, report.Result{Start: t.Start, End: c.now, Failed: failedRescheduled, Text: "rescheduling"}, true)
		c.mailPushed(t)
		c.restart(t)
	}
}
