package core

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
)

// consequences are what a kind adds to the generic add, modify and delete. A nil function means that there is nothing
// to add.
type consequences struct {
	from string // the list that objects are removed from, if not the kind's noun
	// twice is what is said of an object that is added a second time, when that is
	// no failure.
	twice string
	// then emits what follows from the change; old or new is nil.
	then func(c *Core, old, new grid.Object)
	// text replaces the usual answer.
	text func(r gdi.Request, verb string, o grid.Object) string
}

// consequencesOf returns the consequences of changes of a kind.
func consequencesOf(k grid.Kind) consequences {
	switch k {
	case grid.KindCQueue:
		return consequences{then: cqueueChanged}
	case grid.KindHGroup:
		return consequences{then: hgroupChanged, from: "host group entry"}
	case grid.KindExecHost:
		return consequences{then: execHostChanged, from: "execution host"}
	case grid.KindCkpt:
		return consequences{from: "checkpointing environment"}
	case grid.KindCalendar:
		return consequences{then: calendarChanged}
	case grid.KindCentry:
		return consequences{from: "complex"}
	case grid.KindProject:
		return consequences{then: projectChanged}
	case grid.KindUser:
		return consequences{then: userChanged}
	case grid.KindAdminHost:
		return consequences{text: hostListText, twice: "adminhost %q already exists"}
	case grid.KindSubmitHost:
		return consequences{text: hostListText, twice: "submithost %q already exists"}
	case grid.KindConf:
		return consequences{then: confChanged}
	case grid.KindSchedConf:
		return consequences{then: schedConfChanged, text: schedConfText}
	case grid.KindShareTree:
		return consequences{text: shareTreeText}
	}
	return consequences{}
}

// changedText answers a request that has changed an object.
func (q *consequences) changedText(req gdi.Request, verb string, o grid.Object) string {
	if q.text != nil {
		return q.text(req, verb, o)
	}
	noun := grid.SpecOf(o.Kind()).Noun
	where, list := "to", noun
	switch verb {
	case "modified":
		where = "in"
	case "removed":
		where, list = "from", cmp.Or(q.from, list)
	}
	return fmt.Sprintf("%s@%s %s %q %s %s list", req.User, req.Host, verb, o.Key(), where, list)
}

func hostListText(req gdi.Request, verb string, o grid.Object) string {
	list := grid.SpecOf(o.Kind()).Noun
	if verb == "removed" {
		return fmt.Sprintf("%s@%s removed %q from %s list", req.User, req.Host, o.Key(), list)
	}
	return fmt.Sprintf("%s added to %s list", o.Key(), list)
}

func schedConfChanged(c *Core, old, new grid.Object) {
	decayChanged(c, old, new)
	worthChanged(c, old, new)
}

func schedConfText(gdi.Request, string, grid.Object) string { return "changed scheduler configuration" }

func shareTreeText(r gdi.Request, verb string, _ grid.Object) string {
	if verb == "removed" {
		return fmt.Sprintf("%s@%s removed sharetree list", r.User, r.Host)
	}
	return "changed sharetree"
}

// addMissing makes objects of kinds that come into being when first named.
func (s *step) addMissing(o grid.Object) {
	if s.state.Get(o.Kind(), o.Key()) == nil {
		grid.SetVersion(o, 1)
		s.emit(events.Add(o))
	}
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

// userChanged and projectChanged take what was booked away with its object.
func userChanged(c *Core, old, new grid.Object) {
	if new == nil {
		name := old.Key().Name
		c.bookings.forgetUsage(func(b *grid.Booking) bool { return b.User == name })
	}
}

func projectChanged(c *Core, old, new grid.Object) {
	if new == nil {
		name := old.Key().Name
		c.bookings.forgetUsage(func(b *grid.Booking) bool { return b.Project == name })
	}
}

// worthChanged forgets what jobs were found worth under another configuration:
// within what they were weighed, since the weights may be others, and all of
// it under another algorithm or when nothing more is reported of pending jobs.
// Another algorithm keeps nothing free that the one before has reserved.
func worthChanged(c *Core, old, new grid.Object) {
	c.setPriorityRange(&grid.PriorityRange{})
	was, _ := old.(*grid.SchedConf)
	is, _ := new.(*grid.SchedConf)
	if was == nil || is == nil {
		return
	}
	if was.Algorithm != is.Algorithm {
		c.removeAll(grid.KindJobReservation)
	}
	if was.Algorithm != is.Algorithm || !is.ReportPJobTickets {
		c.removeAll(grid.KindPriority)
	}
}

// confChanged sends the changed configuration to the hosts that it applies to, including
// hosts that have registered but not yet reported a load.
func confChanged(c *Core, old, new grid.Object) {
	o := new
	if o == nil {
		o = old
	}
	for _, h := range c.state.ExecHosts() {
		if l := c.state.Load(h.Name); (l == nil || !l.Unheard) && h.Name != grid.GlobalHost &&
			(o.Key().Name == grid.GlobalConf || o.Key().Name == h.Name) {
			c.outbox.sendConfig(h.Name)
		}
	}
}
