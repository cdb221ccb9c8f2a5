package core

import (
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/qmaster/core/authorize"
)

// request decides on a user's request, once: a repeated one gets the answer of the first.
func (c *Core) request(in UserRequest) {
	refused := c.refuseRequest(&in)
	if c.setCauseOf(in); refused != nil {
		c.reply(in.Ref, *refused)
		return
	}
	if c.rejoins(in) || c.repeated(in) {
		return
	}
	c.dispatch(in)
	c.store(in, false)
}

// refuseRequest completes a request, and returns why it is not decided on, whatever it wants; nil when it is.
func (s *step) refuseRequest(in *UserRequest) *gdi.Answer {
	if err := in.Complete(); err != nil {
		return gdi.Denyf(gdi.StatusInvalid, "denied: invalid request: %v", err)
	}
	return authorize.Request(s.state, s.cell.Now, in.Request)
}

// dispatch does what a request wants.
func (c *Core) dispatch(in UserRequest) {
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
		c.waiters.wait(in.Ref, b)
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
		c.lastReply().Ways = waysOf(c.cell.Settings().Logins)
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
