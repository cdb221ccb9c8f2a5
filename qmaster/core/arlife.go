package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// The life of an advance reservation, qrstat(1):
//
//	w ⇄ W    waiting; W: something that it holds could not be used now
//	↓   ↓    its start
//	r ⇄ E    running; E: something that it holds can't be used
//	↓   ↓    its end (x), or qrdel (d): its jobs are deleted
//	gone     when the last of them is

// arTimes lets reservations begin and end, and reviews them when something
// happened to what they hold.
func (c *Core) arTimes(tick bool) {
	if c.state.Len(grid.KindAR) == 0 || !tick && !c.reviewARs {
		c.reviewARs = false
		return
	}
	for _, a := range c.state.ARs() {
		due := c.cell.Now >= a.End || c.cell.Now >= a.Start && (a.State == grid.ARWaiting || a.State == grid.ARWarning)
		if !a.Over() && (due || c.reviewARs) {
			c.advanceAR(a)
		}
	}
	c.reviewARs = false
}

// advanceAR brings a reservation into the state that is due.
func (c *Core) advanceAR(a *grid.AR) {
	if c.cell.Now >= a.End {
		c.mailAR(a, 'e', "has ended")
		c.endAR(a, grid.ARExited, arName(a.ID), false)
		return
	}
	n := *a
	c.reviewAR(&n)
	if n.State == a.State && slices.Equal(n.Message, a.Message) {
		return
	}
	c.emit(events.Mod(&n))
	c.reportAR(&n, a.State)
}

// reviewAR sets the state that is due, and why it is not a better one.
func (s *step) reviewAR(a *grid.AR) {
	a.Message = s.whyUnusable(a)
	switch started, broken := s.cell.Now >= a.Start, len(a.Message) > 0; {
	case started && broken:
		a.State = grid.ARError
	case started:
		a.State = grid.ARRunning
	case broken:
		a.State = grid.ARWarning
	default:
		a.State = grid.ARWaiting
	}
}

// reportAR mails that a reservation has started, or come into error, since it
// was in another state.
func (s *step) reportAR(a *grid.AR, was grid.ARState) {
	waited := was == grid.ARWaiting || was == grid.ARWarning
	if waited && (a.State == grid.ARRunning || a.State == grid.ARError) {
		s.mailAR(a, 'b', "has started")
	}
	if a.State == grid.ARError && was != grid.ARError {
		s.mailAR(a, 'a', "is in error state")
	}
}

// whyUnusable returns what is wrong with the queue instances that a reservation
// holds, a sentence each.
func (st *step) whyUnusable(a *grid.AR) (out grid.Names) {
	for _, g := range a.Grants {
		qi, l := st.state.QInstance(g.Queue, g.Host), st.state.Load(g.Host)
		if qi == nil || l == nil || l.Unheard {
			out = append(out, fmt.Sprintf("reserved queue %s is unknown", g.Instance()))
		}
		if qi == nil {
			continue
		}
		state := st.state.QueueState(qi)
		for _, s := range []struct {
			state grid.QueueState
			text  string
		}{
			{grid.QueueError, "reserved queue %s has errors"},
			{grid.QueueAmbiguous, "reserved queue %s is configuration ambiguous"},
			{grid.QueueSuspended | grid.QueueSuspendedSubordinate | grid.QueueCalSuspended, "reserved queue %s is suspended"},
			{grid.QueueDisabled | grid.QueueCalDisabled, "reserved queue %s is disabled"},
		} {
			if state&s.state != 0 {
				out = append(out, fmt.Sprintf(s.text, g.Instance()))
			}
		}
	}
	return out
}

// endAR takes a reservation's jobs away, and the reservation with the last of
// them. By is who is reported to have deleted them.
func (c *Core) endAR(a *grid.AR, state grid.ARState, by string, force bool) {
	n := *a
	n.State, n.Message = state, nil
	c.emit(events.Mod(&n))
	for _, id := range c.state.JobsOf(a.ID) {
		c.deleteWhole(id, by, force)
	}
	c.dropAR(a.ID)
}

// deleteWhole deletes a job with all its tasks.
func (c *Core) deleteWhole(id uint32, by string, force bool) {
	tasks := c.state.Tasks(id)
	if j := c.state.Job(id); len(j.Pending) > 0 {
		c.dropPending(id, j.Pending)
	}
	for _, t := range tasks {
		switch {
		case !t.Started():
			c.removeEndedTask(id, t.ID)
		case force:
			c.forceEnd(t, by)
		case t.State&grid.StateDeleted == 0:
			c.kill(t, by)
		}
	}
}

// dropAR removes a reservation that is over and has no jobs any more.
func (s *step) dropAR(id uint32) {
	a := s.state.AR(id)
	if a == nil || !a.Over() || len(s.state.JobsOf(id)) > 0 {
		return
	}
	s.emit(events.Del(grid.KindAR, a.Key()))
	s.dropOrphans(a.Grants)
}

// deleteARs is qrdel(1).
func (c *Core) deleteARs(r gdi.Request, b *gdi.DeleteARs) (answers []gdi.Answer) {
	if refusal := validate.MayReserve(c.cell, r); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	if grid.Names(b.Users).Has("*") && !c.cell.IsManager(r) {
		return []gdi.Answer{
			*gdi.Denied(fmt.Sprintf("denied: %q must be manager to modify all advance reservations", r.User))}
	}
	owners := cell.NewNameSet(b.Users)
	all := slices.DeleteFunc(c.state.ARs(), func(a *grid.AR) bool { return !owners.Allows(a.Owner) })
	search := &cell.ByName[*grid.AR]{Read: func() []*grid.AR { return all },
		NameOf: func(a *grid.AR) string { return a.Name }}
	var chosen []*grid.AR
	for _, ref := range b.Refs {
		var found []*grid.AR
		id := cell.ParseJobID(ref)
		named := gdi.Subject{AR: id}
		if id == 0 {
			found, named = search.Find(ref), onObject(grid.KindAR, grid.Key{Name: ref}, "")
		} else if a := c.state.AR(id); a != nil && owners.Allows(a.Owner) {
			found = append(found, a)
		}
		if chosen = append(chosen, found...); len(found) == 0 {
			answers = append(
				answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: advance_reservation %q does not exist", ref)).On(named))
		}
	}
	if len(b.Refs) == 0 {
		if chosen = all; len(chosen) == 0 {
			return []gdi.Answer{gdi.Deny(gdi.StatusUnknown,
				"There is no advance_reservation registered for the following users: "+strings.Join(b.Users, ","))}
		}
	}
	for _, a := range chosen {
		answers = append(answers, c.deleteAR(r, a.ID, b.Force))
	}
	return answers
}

func (c *Core) deleteAR(r gdi.Request, id uint32, force bool) gdi.Answer {
	a := c.state.AR(id)
	switch {
	case a == nil: // named twice
		return gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: advance_reservation %q does not exist",
			strconv.Itoa(int(id)))).On(gdi.Subject{AR: id})
	case a.Owner != r.User && !c.cell.IsOperator(r):
		return gdi.Deny(gdi.StatusDenied,
			fmt.Sprintf("%s - you do not have the necessary privileges to delete the advance_reservation %q", r.User, a.Key())).
			On(gdi.Subject{AR: id})
	case a.Over() && !force:
		return gdi.Done(fmt.Sprintf("advance_reservation %d is already in deletion", id)).On(
			gdi.Subject{AR: id, Did: gdi.DidNothing})
	}
	c.endAR(a, grid.ARDeleted, r.User+"@"+r.Host, force)
	if c.state.AR(id) != nil {
		return gdi.Done(fmt.Sprintf("%s has registered the advance_reservation %d for deletion", r.User, id)).On(
			gdi.Subject{AR: id, Did: gdi.DidRegister})
	}
	return gdi.Done(fmt.Sprintf("%s has deleted advance_reservation %d", r.User, id)).On(
		gdi.Subject{AR: id, Did: gdi.DidDelete})
}

// arName is what is reported to have deleted the jobs of a reservation whose end
// has come.
func arName(id uint32) string { return "advance_reservation " + strconv.Itoa(int(id)) }

// mailAR writes to the recipients that -m and -M of qrsub name.
func (s *step) mailAR(a *grid.AR, option rune, what string) {
	if !strings.ContainsRune(a.MailOptions, option) || strings.ContainsRune(a.MailOptions, 'n') {
		return
	}
	subject := fmt.Sprintf("Advance reservation %d (%s) %s", a.ID, a.Name, what)
	text := fmt.Sprintf("Advance reservation %d %s\n Owner      = %s\n Start Time = %s\n End Time   = %s\n",
		a.ID, what, a.Owner, stamp(a.Start), stamp(a.End))
	for _, m := range a.Message {
		text += " " + m + "\n"
	}
	s.mail(a.Owner, a.MailTo, subject, text)
}
