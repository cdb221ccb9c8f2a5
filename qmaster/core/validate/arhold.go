package validate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// A change of the configuration is denied if it would take away resources that an advance
// reservation has been granted.

// BreaksAR returns which reservation a new version of an object would break.
func BreaksAR(c *cell.Cell, o grid.Object) string {
	if c.State.Len(grid.KindAR) == 0 {
		return ""
	}
	switch o := o.(type) {
	case *grid.CQueue:
		if text := cmp.Or(dropsFromQueue(c, o), shutsQueue(c, o)); text != "" {
			return text
		}
	case *grid.Calendar:
		return shuts(c, o, func(g grid.Grant) bool { return calendarOf(c, c.State.CQueue(g.Queue), g.Host) == o.Name })
	case *grid.PE, *grid.ExecHost, *grid.Centry:
	default:
		return ""
	}
	st := c.State.Copy()
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: []events.Event{events.Mod(o)}})
	switch less := sched.NewCluster(st).Overdrawn(); {
	case less.PE != "":
		return fmt.Sprintf("denied: lowering slots amount below %d would break advance reservations", int(less.Amount))
	case less.Attribute == "slots" && less.Object != "":
		return fmt.Sprintf("denied: %d slots are already reserved in %s by an advance reservation",
			int(less.Amount), less.Object)
	case less.Attribute != "":
		return fmt.Sprintf("denied: lowering %q of %s would break advance reservations", less.Attribute, less.Object)
	}
	return ""
}

// shutsQueue finds a reservation in a queue at a time at which the queue's
// calendar, when it becomes another one, closes it.
func shutsQueue(c *cell.Cell, q *grid.CQueue) string {
	old := c.State.CQueue(q.Name)
	for _, name := range cell.AllValues(q.Calendar) {
		cal, ok := c.State.Get(grid.KindCalendar, grid.Key{Name: name}).(*grid.Calendar)
		if !ok {
			continue
		}
		text := shuts(c, cal, func(g grid.Grant) bool {
			return g.Queue == q.Name && calendarOf(c, q, g.Host) == name && (old == nil || calendarOf(c, old, g.Host) != name)
		})
		if text != "" {
			return text
		}
	}
	return ""
}

func calendarOf(c *cell.Cell, q *grid.CQueue, host string) string {
	if q == nil {
		return ""
	}
	return q.Calendar.For(host, c.MemberOf(host))
}

// shuts finds a reservation with a grant of which it is so, from now on at a
// time at which a calendar closes queues.
func shuts(c *cell.Cell, cal *grid.Calendar, so func(grid.Grant) bool) string {
	p, err := calendar.Parse(cal)
	if err != nil {
		return "" // its own check says so
	}
	for _, a := range c.State.ARs() {
		w := grid.Window{Start: max(a.Start, c.Now), End: a.End}
		if slices.ContainsFunc(a.Grants, so) && p.Closes(w, c.Zone) {
			return fmt.Sprintf("denied: changing %q to calendar would break advance reservation %d", cal.Name, a.ID)
		}
	}
	return ""
}

// dropsFromQueue finds a PE or a checkpointing environment that a reservation
// in the queue depends on.
func dropsFromQueue(c *cell.Cell, q *grid.CQueue) string {
	for _, a := range c.State.ARs() {
		for _, g := range a.Grants {
			if g.Queue != q.Name {
				continue
			}
			member := c.MemberOf(g.Host)
			if pe := a.GrantedPE; pe != "" && !q.PEList.For(g.Host, member).Has(pe) {
				return fmt.Sprintf("denied: removing %q from pe_list would break advance reservation %d", pe, a.ID)
			}
			if a.Ckpt != "" && !q.CkptList.For(g.Host, member).Has(a.Ckpt) {
				return fmt.Sprintf("denied: removing %q from ckpt_list would break advance reservation %d", a.Ckpt, a.ID)
			}
		}
	}
	return ""
}

// heldByAR returns which reservation still needs an object that is to be removed.
func heldByAR(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	for _, a := range c.State.ARs() {
		holds := false
		switch o.(type) {
		case *grid.CQueue:
			holds = slices.ContainsFunc(a.Grants, func(g grid.Grant) bool { return g.Queue == name })
		case *grid.PE:
			holds = a.GrantedPE == name
		case *grid.Ckpt:
			holds = a.Ckpt == name
		case *grid.Centry:
			_, holds = a.Hard.Get(name)
		case *grid.Userset:
			holds = a.ACL.Has("@"+name) || a.XACL.Has("@"+name)
		}
		if holds {
			return fmt.Sprintf("denied: %s %q is still needed by advance reservation %d", grid.SpecOf(o.Kind()).Noun, name, a.ID)
		}
	}
	return ""
}
