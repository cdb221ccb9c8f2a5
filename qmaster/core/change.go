package core

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// plannedChange is one object of a request after its checks.
type plannedChange struct {
	rules    *rules
	old, new grid.Object // old is nil for a new object, new is nil for one that is removed
	// done is the answer when nothing has to be changed.
	done *gdi.Answer
}

func (p *plannedChange) kind() grid.Kind {
	if p.new != nil {
		return p.new.Kind()
	}
	return p.old.Kind()
}

// change is one transaction: all objects are checked before the first one is
// changed. When any is refused, the answers are the refusals.
func (c *Core) change(r gdi.Request, b *gdi.Change) []gdi.Answer {
	for _, list := range [][]grid.Object{b.Add, b.Modify} {
		for _, o := range list {
			if a := c.mayConfigure(r, o.Kind()); a != nil {
				return []gdi.Answer{*a}
			}
		}
	}
	if b.Delete.Kind != 0 {
		if a := c.mayConfigure(r, b.Delete.Kind); a != nil {
			return []gdi.Answer{*a}
		}
	}
	var plan []plannedChange
	var refused []gdi.Answer
	collect := func(p plannedChange, a *gdi.Answer) {
		plan = append(plan, p)
		if a != nil {
			refused = append(refused, *a)
		}
	}
	for _, key := range b.Delete.Keys {
		collect(c.planRemove(r, b.Delete.Kind, key))
	}
	for _, o := range b.Add {
		collect(c.planAdd(o))
	}
	for _, o := range b.Modify {
		collect(c.planModify(o))
	}
	if len(refused) == 0 {
		refused = c.conflicts(plan)
	}
	if len(refused) > 0 {
		return refused
	}
	var out []gdi.Answer
	for i := range plan {
		out = append(out, c.carryOut(r, &plan[i])...)
	}
	return out
}

// remove deletes objects one by one, qconf -dX: a refusal of one does not keep
// the others.
func (c *Core) remove(r gdi.Request, b *gdi.Delete) []gdi.Answer {
	if a := c.mayConfigure(r, b.Kind); a != nil {
		return []gdi.Answer{*a}
	}
	var out []gdi.Answer
	for _, key := range b.Keys {
		p, refused := c.planRemove(r, b.Kind, key)
		if refused != nil {
			out = append(out, *refused)
			continue
		}
		out = append(out, c.carryOut(r, &p)...)
	}
	return out
}

// refused is the refusal of a change of a configuration object.
func refused(k grid.Kind, key grid.Key, status gdi.Status, format string, args ...any) *gdi.Answer {
	a := gdi.Deny(status, fmt.Sprintf(format, args...)).On(onObject(k, key, ""))
	return &a
}

func (c *Core) planAdd(o grid.Object) (plannedChange, *gdi.Answer) {
	p := plannedChange{rules: rulesOf(o.Kind()), new: o}
	if c.state.Get(o.Kind(), o.Key()) != nil {
		if p.rules.twice == "" {
			return p, refused(o.Kind(), o.Key(), gdi.StatusExists, "%s %q already exists", p.rules.noun, o.Key())
		}
		done := gdi.Done(fmt.Sprintf(p.rules.twice, o.Key())).On(onObject(o.Kind(), o.Key(), gdi.DidNothing))
		p.done = &done
		return p, nil
	}
	if text := p.rules.check(c, o); text != "" {
		return p, refused(o.Kind(), o.Key(), gdi.StatusInvalid, "%s", text)
	}
	return p, nil
}

func (c *Core) planModify(o grid.Object) (plannedChange, *gdi.Answer) {
	p := plannedChange{rules: rulesOf(o.Kind()), old: c.state.Get(o.Kind(), o.Key()), new: o}
	if p.old == nil {
		return p, refused(o.Kind(), o.Key(), gdi.StatusUnknown, "denied: %s %q does not exist", p.rules.noun, o.Key())
	}
	if v := grid.Version(o); v != 0 && v != grid.Version(p.old) {
		return p, refused(o.Kind(), o.Key(), gdi.StatusStale, "denied: %s %q was changed by another request meanwhile", p.rules.noun, o.Key())
	}
	if text := firstNonEmpty(p.rules.check(c, o), c.breaksAR(o)); text != "" {
		return p, refused(o.Kind(), o.Key(), gdi.StatusInvalid, "%s", text)
	}
	return p, nil
}

func (c *Core) planRemove(r gdi.Request, kind grid.Kind, key grid.Key) (plannedChange, *gdi.Answer) {
	p := plannedChange{rules: rulesOf(kind), old: c.state.Get(kind, key)}
	if p.old == nil {
		return p, refused(kind, key, gdi.StatusUnknown, "denied: %s %q does not exist", p.rules.noun, key)
	}
	if text := firstNonEmpty(p.rules.used(c, r, p.old), c.heldByAR(p.old)); text != "" {
		return p, refused(kind, key, gdi.StatusDenied, "%s", text)
	}
	return p, nil
}

// conflicts finds objects that stand in the request twice, and new objects that
// cannot exist together with the others of their kind after the request.
func (c *Core) conflicts(plan []plannedChange) (out []gdi.Answer) {
	type name struct {
		kind grid.Kind
		key  grid.Key
	}
	seen := map[name]bool{}
	after := map[grid.Kind][]grid.Object{}
	for i := range plan {
		p := &plan[i]
		if p.new == nil {
			continue
		}
		n := name{p.kind(), p.new.Key()}
		if seen[n] {
			out = append(out, *refused(p.kind(), p.new.Key(), gdi.StatusInvalid, "%s %q appears more than once", p.rules.noun, n.key))
		}
		seen[n] = true
		if p.rules.together == nil {
			continue
		}
		if after[p.kind()] == nil {
			after[p.kind()] = c.after(p.kind(), plan)
		}
		if text := p.rules.together(p.new, after[p.kind()]); text != "" {
			out = append(out, *refused(p.kind(), p.new.Key(), gdi.StatusInvalid, "%s", text))
		}
	}
	return out
}

// after returns the objects of a kind as they are after a plan.
func (c *Core) after(kind grid.Kind, plan []plannedChange) (all []grid.Object) {
	replaced := map[grid.Key]bool{}
	for i := range plan {
		p := &plan[i]
		if p.kind() != kind {
			continue
		}
		if p.old != nil {
			replaced[p.old.Key()] = true
		}
		if p.new != nil {
			all = append(all, p.new)
		}
	}
	c.state.Each(kind, func(o grid.Object) bool {
		if !replaced[o.Key()] {
			all = append(all, o)
		}
		return true
	})
	return all
}

// carryOut emits a change that was checked, and what follows from it.
func (c *Core) carryOut(r gdi.Request, p *plannedChange) []gdi.Answer {
	verb, did := "modified", gdi.DidModify
	switch {
	case p.done != nil:
		return []gdi.Answer{*p.done}
	case p.new == nil:
		verb, did = "removed", gdi.DidDelete
		c.emit(events.Del(p.kind(), p.old.Key()))
	case p.old == nil:
		verb, did = "added", gdi.DidAdd
		grid.SetVersion(p.new, 1)
		c.emit(events.Add(p.new))
	default:
		grid.SetVersion(p.new, grid.Version(p.old)+1)
		c.emit(events.Mod(p.new))
	}
	p.rules.follow(c, p.old, p.new)
	shown := p.new
	if shown == nil {
		shown = p.old
	}
	return append(p.rules.warned(p.old, p.new), p.rules.changed(r, verb, shown).On(onObject(p.kind(), shown.Key(), did)))
}
