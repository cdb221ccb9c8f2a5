package core

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// request decides on a user's request, once: a repeated one gets the answer of the first.
func (c *Core) request(in Request) {
	refused := c.unacceptable(&in)
	if c.causedBy(in); refused != nil {
		c.reply(in.Ref, *refused)
		return
	}
	if c.rejoins(in) || c.repeated(in) {
		return
	}
	c.dispatch(in)
	c.store(in, false)
}

// unacceptable completes a request, and returns why it is not decided on, whatever it wants; nil when it is.
func (c *Core) unacceptable(in *Request) *gdi.Answer {
	if err := in.Complete(); err != nil {
		return refusal(gdi.StatusInvalid, "denied: invalid request: %v", err)
	}
	return Refuse(c.state, c.now, in.Request)
}

// dispatch does what a request wants.
func (c *Core) dispatch(in Request) {
	switch b := in.Body.(type) {
	case *gdi.Submit:
		c.submit(in, b.Job)
	case *gdi.Resubmit:
		c.resubmit(in, b)
	case *gdi.Alter:
		c.alter(in, b)
	case *gdi.DeleteJobs:
		c.deleteJobs(in, b)
	case *gdi.Control:
		c.reply(in.Ref, c.control(in.Request, b)...)
	case *gdi.StartTask:
		c.startTask(in, b)
	case *gdi.Wait:
		c.wait(in.Ref, b)
	case *gdi.Output:
		c.output(in, b)
	case *gdi.Reserve:
		c.reply(in.Ref, c.reserve(in.Request, b.AR)...)
	case *gdi.DeleteARs:
		c.reply(in.Ref, c.deleteARs(in.Request, b)...)
	case *gdi.Verify:
		c.reply(in.Ref, c.verify(in, b)...)
	case *gdi.CreateToken:
		c.createToken(in, b)
	case *gdi.LogIn:
		c.logIn(in, b)
	case *gdi.Propose:
		c.propose(in, b)
	case *gdi.Decide:
		c.decide(in, b)
	case *gdi.WaysToLogIn:
		c.reply(in.Ref)
		c.lastReply().Ways = waysOf(c.settings().logins)
	case *gdi.RevokeTokens:
		c.reply(in.Ref, c.revokeTokens(in.Request, b)...)
	case *gdi.Trigger:
		c.reply(in.Ref, c.trigger(in.Request, b)...)
		if b.Action == "show-event-clients" {
			c.lastReply().Clients = c.eventClients()
		}
	case *gdi.Add:
		c.reply(in.Ref, c.change(in.Request, &gdi.Change{Add: b.Objects})...)
	case *gdi.Modify:
		c.reply(in.Ref, c.change(in.Request, &gdi.Change{Modify: b.Objects})...)
	case *gdi.Change:
		c.reply(in.Ref, c.change(in.Request, b)...)
	case *gdi.Delete:
		c.reply(in.Ref, c.remove(in.Request, b)...)
	default:
		c.reply(in.Ref, gdi.Deny(gdi.StatusInvalid, "unknown request"))
	}
}

// Refuse returns why a request is not decided on, whatever it wants: for the host that it comes from, or for the
// token of its connection; nil when it is.
func Refuse(s *state.State, now grid.Time, r gdi.Request) *gdi.Answer {
	if refusal := refuseToken(s, now, r); refusal != nil {
		return refusal
	}
	return denied(fromWrongHost(s, r))
}

// fromWrongHost returns why a request is not served for the host that it comes from;
// "" when it is. Jobs and reservations are changed from submit hosts, the rest of
// the cell from administrative hosts, and both may ask for listings. Tasks of
// parallel jobs are started from the hosts of their jobs.
func fromWrongHost(s *state.State, r gdi.Request) string {
	key := grid.Key{Name: r.Host}
	submit, admin := s.Get(grid.KindSubmitHost, key) != nil, s.Get(grid.KindAdminHost, key) != nil
	switch r.Body.(type) {
	case *gdi.Submit, *gdi.Resubmit, *gdi.Alter, *gdi.DeleteJobs, *gdi.Reserve, *gdi.DeleteARs:
		if !submit {
			return fmt.Sprintf("denied: host %q is not a submit host", r.Host)
		}
	case *gdi.Control, *gdi.Trigger, *gdi.Add, *gdi.Modify, *gdi.Change, *gdi.Delete:
		if !admin {
			return fmt.Sprintf("denied: host %q is not an admin host", r.Host)
		}
	case *gdi.Get, *gdi.Output, *gdi.Verify, *gdi.History, *gdi.CreateToken, *gdi.RevokeTokens, *gdi.LogIn, *gdi.WaysToLogIn, *gdi.Propose, *gdi.Decide, *gdi.Streams:
		if !submit && !admin {
			return fmt.Sprintf("denied: host %q is neither submit nor admin host", r.Host)
		}
	}
	return ""
}

// mayConfigure denies configuration to everybody but managers (operators may
// change user sets, qconf(1)).
func (c *Core) mayConfigure(r gdi.Request, k grid.Kind) *gdi.Answer {
	switch {
	case !isConfigurable(k):
		return denied(fmt.Sprintf("denied: %s objects can't be configured", k))
	case k == grid.KindUserset && !c.isOperator(r):
		return denied(fmt.Sprintf("denied: %q must be operator for this operation", r.User))
	case k != grid.KindUserset && !c.isManager(r):
		return denied(fmt.Sprintf("denied: %q must be manager for this operation", r.User))
	}
	return nil
}

// isConfigurable reports whether users configure objects of a kind.
func isConfigurable(k grid.Kind) bool {
	s := grid.SpecOf(k)
	return s != nil && s.Configured()
}

// denied is the refusal of a request that its user has no right to; wrong is the refusal of one that is invalid for every user: field is the option
// or attribute that is invalid, "" when it is not known. Both are nil when text is empty.
func denied(text string) *gdi.Answer { return deny(gdi.StatusDenied, "", text) }

func wrong(field, text string) *gdi.Answer { return deny(gdi.StatusInvalid, field, text) }

func deny(status gdi.Status, field, text string) *gdi.Answer {
	if text == "" {
		return nil
	}
	a := gdi.Deny(status, text)
	a.Field = field
	return &a
}
