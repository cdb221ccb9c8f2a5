package core

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/authorize"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// plannedChange is one object of a request after its checks.
type plannedChange struct {
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

// part is one object of a change.
type part struct {
	kind grid.Kind
	key  grid.Key
	new  grid.Object // nil: the object is removed
	add  bool        // new must not exist yet
}

// partsOf returns the parts of a change in their order: removed, added, modified.
func partsOf(b *gdi.Change) (parts []part) {
	for _, key := range b.Delete.Keys {
		parts = append(parts, part{kind: b.Delete.Kind, key: key})
	}
	for _, o := range b.Add {
		parts = append(parts, part{o.Kind(), o.Key(), o, true})
	}
	for _, o := range b.Modify {
		parts = append(parts, part{o.Kind(), o.Key(), o, false})
	}
	return parts
}

// change is one transaction: each part is checked against what the parts before it leave. When one is refused nothing
// is changed, and the answers are the refusals.
func (c *Core) change(r gdi.Request, b *gdi.Change) (out []gdi.Answer) {
	parts := partsOf(b)
	for _, p := range parts {
		if a := authorize.Configuration(c.cell, r, p.kind); a != nil {
			return []gdi.Answer{*a}
		}
	}
	if refused := repeated(parts); len(refused) > 0 {
		return refused
	}
	if len(parts) > 1 {
		var refused []gdi.Answer
		if parts, refused = c.fork().arrange(r, parts); len(refused) > 0 {
			return refused
		}
	}
	for _, p := range parts {
		planned, a := c.plan(r, p)
		if a == nil && len(parts) == 1 {
			a = c.refuseClash(p.new)
		}
		if a != nil { // of a change with one part: it was not tried
			return []gdi.Answer{*a}
		}
		out = append(out, c.carryOut(r, &planned)...)
	}
	return out
}

// repeated refuses objects that a change adds or modifies twice.
func repeated(parts []part) (out []gdi.Answer) {
	type name struct {
		kind grid.Kind
		key  grid.Key
	}
	seen := map[name]bool{}
	for _, p := range parts {
		if p.new == nil {
			continue
		}
		n := name{p.kind, p.key}
		if seen[n] {
			out = append(out, *refused(p.kind, p.key, gdi.StatusInvalid, "%s %q appears more than once",
				grid.SpecOf(p.kind).Noun, p.key))
		}
		seen[n] = true
	}
	return out
}

// arrange carries out the parts of a change, on a fork. It returns the order in which they can be carried out: what is
// still in use is removed after the other parts.
func (c *Core) arrange(r gdi.Request, parts []part) (order []part, refused []gdi.Answer) {
	one := func(p part) *gdi.Answer {
		planned, a := c.plan(r, p)
		if a != nil {
			return a
		}
		order = append(order, p)
		if p.new == nil {
			c.carryOut(r, &planned)
			return nil
		}
		version := grid.Version(p.new) // the object is that of the request
		c.carryOut(r, &planned)
		grid.SetVersion(p.new, version)
		return nil
	}
	var again []part
	for _, p := range parts {
		if a := one(p); a != nil && p.new == nil {
			again = append(again, p)
		} else if a != nil {
			refused = append(refused, *a)
		}
	}
	var kept []gdi.Answer
	for _, p := range again {
		if a := one(p); a != nil {
			kept = append(kept, *a)
		}
	}
	refused = append(kept, refused...)
	if len(refused) > 0 {
		return nil, refused
	}
	for _, p := range order {
		if a := c.refuseClash(p.new); a != nil {
			refused = append(refused, *a)
		}
	}
	return order, refused
}

// remove deletes objects one by one, qconf -dX: a refusal of one does not keep
// the others.
func (c *Core) remove(r gdi.Request, b *gdi.Delete) []gdi.Answer {
	if a := authorize.Configuration(c.cell, r, b.Kind); a != nil {
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

// plan checks a part.
func (c *Core) plan(r gdi.Request, p part) (plannedChange, *gdi.Answer) {
	switch {
	case p.new == nil:
		return c.planRemove(r, p.kind, p.key)
	case p.add:
		return c.planAdd(p.new)
	}
	return c.planModify(p.new)
}

func (c *Core) planAdd(o grid.Object) (plannedChange, *gdi.Answer) {
	p, q := plannedChange{new: o}, consequencesOf(o.Kind())
	if c.state.Get(o.Kind(), o.Key()) != nil {
		if q.twice == "" {
			return p, refused(o.Kind(), o.Key(), gdi.StatusExists, "%s %q already exists", grid.SpecOf(o.Kind()).Noun, o.Key())
		}
		done := gdi.Done(fmt.Sprintf(q.twice, o.Key())).On(onObject(o.Kind(), o.Key(), gdi.DidNothing))
		p.done = &done
		return p, nil
	}
	return p, refusedObject(o, validate.Object(c.cell, o))
}

// refusedObject is a refusal of an object; nil: there is none.
func refusedObject(o grid.Object, refusal *gdi.Answer) *gdi.Answer {
	if refusal == nil {
		return nil
	}
	a := refusal.On(onObject(o.Kind(), o.Key(), ""))
	return &a
}

func (s *step) planModify(o grid.Object) (plannedChange, *gdi.Answer) {
	p := plannedChange{old: s.state.Get(o.Kind(), o.Key()), new: o}
	if p.old == nil {
		return p, refused(o.Kind(), o.Key(), gdi.StatusUnknown, "denied: %s %q does not exist",
			grid.SpecOf(o.Kind()).Noun, o.Key())
	}
	if v := grid.Version(o); v != 0 && v != grid.Version(p.old) {
		return p, refused(o.Kind(), o.Key(), gdi.StatusStale, "denied: %s %q was changed by another request meanwhile",
			grid.SpecOf(o.Kind()).Noun, o.Key())
	}
	return p, refusedObject(o, cmp.Or(validate.Object(s.cell, o), gdi.Invalid("", validate.BreaksAR(s.cell, o))))
}

func (s *step) planRemove(r gdi.Request, kind grid.Kind, key grid.Key) (plannedChange, *gdi.Answer) {
	p := plannedChange{old: s.state.Get(kind, key)}
	if p.old == nil {
		return p, refused(kind, key, gdi.StatusUnknown, "denied: %s %q does not exist", grid.SpecOf(kind).Noun, key)
	}
	if text := validate.WhyInUse(s.cell, p.old); text != "" {
		return p, refused(kind, key, gdi.StatusInUse, "%s", text)
	}
	return p, nil
}

// refuseClash refuses an object that cannot exist together with the others of its kind; nil: none.
func (s *step) refuseClash(o grid.Object) *gdi.Answer {
	if o == nil {
		return nil
	}
	if text := validate.WhyClash(s.cell, o); text != "" {
		return refused(o.Kind(), o.Key(), gdi.StatusInvalid, "%s", text)
	}
	return nil
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
	q := consequencesOf(p.kind())
	if q.then != nil {
		q.then(c, p.old, p.new)
	}
	shown := p.new
	if shown == nil {
		shown = p.old
	}
	var answers []gdi.Answer
	if p.new != nil {
		for _, text := range validate.WithoutEffect(p.old, p.new) {
			answers = append(answers, gdi.Warn("warning: "+text))
		}
	}
	return append(answers, gdi.Done(q.changedText(r, verb, shown)).On(onObject(p.kind(), shown.Key(), did)))
}
