package core

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// What an advance reservation holds can't be taken from it by a change of the
// configuration.

// reservedIn is how many slots reservations hold in an instance, whenever.
func (c *Core) reservedIn(qi *grid.QInstance) (slots uint32) {
	for _, a := range c.state.ARs() {
		for _, g := range a.Grants {
			if g.Queue == qi.Queue && g.Host == qi.Host {
				slots += g.Slots
			}
		}
	}
	return slots
}

// breaksAR says which reservation a new version of an object would break.
func (c *Core) breaksAR(o grid.Object) string {
	if c.state.Len(grid.KindAR) == 0 {
		return ""
	}
	switch o := o.(type) {
	case *grid.CQueue:
		if text := c.dropsFromQueue(o); text != "" {
			return text
		}
	case *grid.PE, *grid.ExecHost, *grid.Centry:
	default:
		return ""
	}
	st := c.state.Copy()
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: []events.Event{events.Mod(o)}})
	switch less := sched.NewCluster(st).Overdrawn(); {
	case less.PE != "":
		return fmt.Sprintf("denied: lowering slots amount below %d would break advance reservations", int(less.Amount))
	case less.Attribute == "slots" && less.Object != "":
		return fmt.Sprintf("denied: %d slots are already reserved in %s by an advance reservation", int(less.Amount), less.Object)
	case less.Attribute != "":
		return fmt.Sprintf("denied: lowering %q of %s would break advance reservations", less.Attribute, less.Object)
	}
	return ""
}

// dropsFromQueue finds a PE, checkpointing environment or calendar that a
// reservation in the queue depends on.
func (c *Core) dropsFromQueue(q *grid.CQueue) string {
	for _, a := range c.state.ARs() {
		for _, g := range a.Grants {
			if g.Queue != q.Name {
				continue
			}
			member := c.memberOf(g.Host)
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

// heldByAR says which reservation still needs an object that is to be removed.
func (c *Core) heldByAR(o grid.Object) string {
	name := o.Key().Name
	for _, a := range c.state.ARs() {
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
