package core

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// request decides on a user's wish.
func (c *Core) request(in Request) {
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
		c.reply(in.Ref, c.configure(in.Request, b.Objects, c.add)...)
	case *gdi.Modify:
		c.reply(in.Ref, c.configure(in.Request, b.Objects, c.modify)...)
	case *gdi.Delete:
		c.reply(in.Ref, c.remove(in.Request, b)...)
	default:
		c.reply(in.Ref, gdi.Deny(gdi.StatusInvalid, "unknown request"))
	}
}

// configure adds or modifies objects one by one; each stands or falls alone.
func (c *Core) configure(r gdi.Request, objects []grid.Object, one func(gdi.Request, grid.Object) gdi.Answer) []gdi.Answer {
	var out []gdi.Answer
	for _, o := range objects {
		if a := c.mayConfigure(r, o.Kind()); a != nil {
			return []gdi.Answer{*a}
		}
		out = append(out, one(r, o))
	}
	return out
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

func (c *Core) add(r gdi.Request, o grid.Object) gdi.Answer {
	rules := rulesOf(o.Kind())
	if c.state.Get(o.Kind(), o.Key()) != nil {
		if rules.twice != "" {
			return gdi.Done(fmt.Sprintf(rules.twice, o.Key()))
		}
		return gdi.Deny(gdi.StatusExists, fmt.Sprintf("%s %q already exists", rules.noun, o.Key()))
	}
	if a := rules.check(c, o); a != "" {
		return gdi.Deny(gdi.StatusInvalid, a)
	}
	grid.SetVersion(o, 1)
	c.emit(events.Add(o))
	rules.follow(c, nil, o)
	return rules.told(r, "added", o)
}

func (c *Core) modify(r gdi.Request, o grid.Object) gdi.Answer {
	rules := rulesOf(o.Kind())
	old := c.state.Get(o.Kind(), o.Key())
	if old == nil {
		return gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: %s %q does not exist", rules.noun, o.Key()))
	}
	if v := grid.Version(o); v != 0 && v != grid.Version(old) {
		return gdi.Deny(gdi.StatusStale, fmt.Sprintf("denied: %s %q was changed by somebody else meanwhile", rules.noun, o.Key()))
	}
	if a := firstNonEmpty(rules.check(c, o), c.breaksAR(o)); a != "" {
		return gdi.Deny(gdi.StatusInvalid, a)
	}
	grid.SetVersion(o, grid.Version(old)+1)
	c.emit(events.Mod(o))
	rules.follow(c, old, o)
	return rules.told(r, "modified", o)
}

func (c *Core) remove(r gdi.Request, b *gdi.Delete) []gdi.Answer {
	if a := c.mayConfigure(r, b.Kind); a != nil {
		return []gdi.Answer{*a}
	}
	rules := rulesOf(b.Kind)
	var out []gdi.Answer
	for _, key := range b.Keys {
		old := c.state.Get(b.Kind, key)
		if old == nil {
			out = append(out, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: %s %q does not exist", rules.noun, key)))
			continue
		}
		if a := firstNonEmpty(rules.used(c, r, old), c.heldByAR(old)); a != "" {
			out = append(out, gdi.Deny(gdi.StatusDenied, a))
			continue
		}
		c.emit(events.Del(b.Kind, key))
		rules.follow(c, old, nil)
		out = append(out, rules.told(r, "removed", old))
	}
	return out
}
