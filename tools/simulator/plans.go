package simulator

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Where Parameters.Plans says so there are plans: all.q follows a calendar, which
// the administrator changes, and users reserve in advance and run jobs in what
// is reserved.

const (
	shift    = "shift" // the calendar
	reserver = "alice" // and managers
)

// addPlans are the objects of such a cell.
func (w *World) addPlans(l events.List) events.List {
	if !w.Plans {
		return l
	}
	l.Events = append(l.Events,
		events.Add(&grid.Calendar{Name: shift, Year: "NONE", Week: "NONE"}),
		events.Add(&grid.Userset{Name: "arusers", Type: "ACL", Entries: grid.Names{reserver}}))
	for i, e := range l.Events {
		if q, ok := e.Object.(*grid.CQueue); ok {
			n := *q
			n.Calendar.Value = shift
			l.Events[i] = events.Add(&n)
		}
	}
	return l
}

// planRequest is a request about plans.
func (c *clients) planRequest() gdi.Body {
	w := c.world
	switch p := w.rand.IntN(10); {
	case p < 3:
		return c.calendarRequest(w.rand.IntN(3))
	case p < 9:
		return &gdi.Reserve{AR: c.someAR()}
	case len(c.ars) > 0:
		return &gdi.DeleteARs{Refs: []string{fmt.Sprint(c.anyAR())}, Force: w.hasChance(0.3)}
	}
	return &gdi.DeleteARs{Users: grid.Names{"alice"}}
}

// calendarRequest closes the queue so many times within the next minute.
func (c *clients) calendarRequest(times int) gdi.Body {
	w := c.world
	week := []string{}
	clock := func(t grid.Time) string { return t.Std().UTC().Format("15:04:05") }
	for range times {
		from := w.now.Add(float64(w.rand.IntN(40)))
		state := [...]string{"off", "suspended"}[w.rand.IntN(2)]
		week = append(week, fmt.Sprintf("%s-%s=%s", clock(from), clock(from.Add(float64(1+w.rand.IntN(12)))), state))
	}
	if len(week) == 0 {
		week = []string{"NONE"}
	}
	return &gdi.Modify{Objects: []grid.Object{&grid.Calendar{Name: shift, Year: "NONE", Week: strings.Join(week, " ")}}}
}

func (c *clients) someAR() *grid.AR {
	w := c.world
	a := &grid.AR{Duration: uint32(2 + w.rand.IntN(40)), ErrorHandlingHard: w.hasChance(0.3),
		ACL: grid.Names{"alice", "bob", "root"}}
	if w.Instances && w.hasChance(0.5) {
		a.Hard, a.Binding = c.mapRequests(), c.coreRequest()
	}
	if w.hasChance(0.7) {
		a.Start = w.now - w.now%1000 + grid.Time(1000*(1+w.rand.IntN(30)))
	}
	if w.hasChance(0.5) {
		a.PE, a.PERange = "make", grid.Ranges{{First: 1, Last: uint32(1 + w.rand.IntN(w.Hosts*w.Slots)), Step: 1}}
	}
	return a
}

// anyAR is a reservation that was made, often one that is gone.
func (c *clients) anyAR() uint32 { return c.ars[len(c.ars)-1-c.world.rand.IntN(min(len(c.ars), 4))] }

// noteAR keeps the number of a reservation that was granted.
func (c *clients) noteAR(r *gdi.Reply) {
	for _, a := range r.Answers {
		var id uint32
		if n, _ := fmt.Sscanf(a.Text, "Your advance reservation %d has been granted", &id); n == 1 {
			c.ars = append(c.ars, id)
		}
	}
}

// endPlans lets everything that is planned end.
func (c *clients) endPlans(id string) {
	if c.world.Plans {
		c.sendRequest(c.calendarRequest(0), id+"p")
		c.sendRequest(&gdi.DeleteARs{Users: grid.Names{"*"}}, id+"q")
	}
}

// notOverReserved counts what reservations hold of the instances of a new one,
// at the times at which one of them begins.
func (w *World) notOverReserved(a *grid.AR) {
	all := w.master.sure.ARs()
	for _, g := range a.Grants {
		for _, begins := range all {
			at, held := max(begins.Start, a.Start), uint32(0)
			for _, o := range all {
				if o.Start <= at && at < o.End || o.Over() {
					held += slotsAt(o.Grants, g)
				}
			}
			if at < a.End && held > uint32(w.Slots) {
				w.fail("%s is over-reserved by advance reservation %d: %d of %d slots", g.Instance(), a.ID, held, w.Slots)
			}
		}
	}
}

// asPlanned holds a start against calendars and reservations.
func (w *World) asPlanned(t *grid.JATask) {
	s := w.master.sure
	j := s.Job(t.Job)
	if j == nil || !w.Plans {
		return
	}
	for _, g := range t.Grants {
		if q := s.QInstance(g.Queue, g.Host); q != nil && q.State&(grid.QueueCalDisabled|grid.QueueCalSuspended) != 0 {
			w.fail("%d.%d starts in %s, which its calendar closes", t.Job, t.ID, g.Instance())
		}
	}
	if j.AR == 0 {
		w.besideReservations(t)
		return
	}
	a := s.AR(j.AR)
	if a == nil || a.State != grid.ARRunning && (a.State != grid.ARError || a.ErrorHandlingHard) {
		w.fail("%d.%d starts in advance reservation %d, which does not run: %+v", t.Job, t.ID, j.AR, a)
		return
	}
	used := map[string]uint32{}
	for _, id := range s.JobsOf(a.ID) {
		for _, t := range s.Tasks(id) {
			if !t.HoldsSlots() {
				continue
			}
			for _, g := range t.Grants {
				used[g.Instance()] += g.Slots
			}
		}
	}
	for _, g := range a.Grants {
		if used[g.Instance()] > g.Slots {
			w.fail("advance reservation %d is over-booked at %s: %d of %d slots", a.ID, g.Instance(),
				used[g.Instance()], g.Slots)
		}
		delete(used, g.Instance())
	}
	if len(used) > 0 {
		w.fail("jobs of advance reservation %d are at %v, which it does not hold", a.ID, used)
	}
}

// besideReservations counts what is taken where a task outside of all advance
// reservations starts: what those hold whose time it is is not for it.
func (w *World) besideReservations(t *grid.JATask) {
	s := w.master.sure
	for _, g := range t.Grants {
		taken := uint32(0)
		for _, o := range s.OnHost(g.Host) {
			if j := s.Job(o.Job); o.HoldsSlots() && j != nil && j.AR == 0 {
				taken += slotsAt(o.Grants, g)
			}
		}
		for _, a := range s.ARs() {
			if a.Start <= t.Start && t.Start < a.End {
				taken += slotsAt(a.Grants, g)
			}
		}
		if taken > uint32(w.Slots) {
			w.fail("%d.%d starts at %s, where advance reservations hold the rest: %d of %d slots", t.Job, t.ID,
				g.Instance(), taken, w.Slots)
		}
	}
}

// slotsAt are the slots that grants give in the queue instance of one of them.
func slotsAt(grants []grid.Grant, at grid.Grant) (slots uint32) {
	for _, g := range grants {
		if g.Queue == at.Queue && g.Host == at.Host {
			slots += g.Slots
		}
	}
	return slots
}
