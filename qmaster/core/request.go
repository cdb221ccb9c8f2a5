package core

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// request decides on a user's wish.
func (c *Core) request(in Request) {
	if err := in.Complete(); err != nil {
		c.reply(in.Ref, gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: invalid request: %v", err)))
		return
	}
	switch b := in.Body.(type) {
	case *gdi.Submit:
		c.submit(in, b.Job)
	case *gdi.Resubmit:
		c.resubmit(in, b)
	case *gdi.Alter:
		c.reply(in.Ref, c.alter(in.Request, b)...)
	case *gdi.DeleteJobs:
		c.reply(in.Ref, c.deleteJobs(in.Request, b)...)
	case *gdi.Control:
		c.reply(in.Ref, c.control(in.Request, b)...)
	case *gdi.StartTask:
		c.startTask(in, b)
	case *gdi.Wait:
		c.wait(in.Ref, b)
	case *gdi.Reserve:
		c.reply(in.Ref, c.reserve(in.Request, b.AR)...)
	case *gdi.DeleteARs:
		c.reply(in.Ref, c.deleteARs(in.Request, b)...)
	case *gdi.Verify:
		c.reply(in.Ref, c.verify(in, b)...)
	case *gdi.Trigger:
		c.reply(in.Ref, c.trigger(in.Request, b)...)
	case *gdi.Quotas:
		c.quotas(in.Ref)
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

// mayConfigure denies configuration to everybody but managers (operators may
// change user sets, qconf(1)).
func (c *Core) mayConfigure(r gdi.Request, k grid.Kind) *gdi.Answer {
	switch {
	case rulesOf(k) == nil:
		return denied(fmt.Sprintf("denied: %s objects can't be configured", k))
	case k == grid.KindUserset && !c.state.IsOperator(r.User):
		return denied(fmt.Sprintf("denied: %q must be operator for this operation", r.User))
	case k != grid.KindUserset && !c.state.IsManager(r.User):
		return denied(fmt.Sprintf("denied: %q must be manager for this operation", r.User))
	case c.state.Get(grid.KindAdminHost, grid.Key{Name: r.Host}) == nil:
		return denied(fmt.Sprintf("denied: host %q is no admin host", r.Host))
	}
	return nil
}

func denied(text string) *gdi.Answer {
	a := gdi.Deny(gdi.StatusDenied, text)
	return &a
}
