package sched

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Subordinate queues, subordinate_list of queue_conf(5); they rule on one host
// each. Queue-wise (low.q=4): when so many slots of the superior instance are
// in use, the whole subordinate one is suspended. Slot-wise
// (slots=2(low.q:1:sr,...)): when more slots than that are running in the
// tree below, single tasks are.

// overruled reports whether a superior has taken so many slots that an instance
// is suspended.
func overruled(in *site.Instance, use *ledger.Host) bool {
	for _, s := range in.Superiors {
		if use.Used(s.Inst.Place, 0) >= s.Slots && s.Slots > 0 {
			return true
		}
	}
	return false
}

// Subordinating reports whether some queues of a host are subordinate to others.
func (c *Cluster) Subordinating(host string) bool {
	c.settle()
	i, ok := c.site.HostAt[host]
	return ok && c.site.Hosts[i].Subordinating
}

// Subordinates returns for the instances of a host, by cluster queue, whether they
// are to be suspended queue-wise.
func (c *Cluster) Subordinates(name string) map[string]bool {
	c.settle()
	i, ok := c.site.HostAt[name]
	if !ok {
		return nil
	}
	out := map[string]bool{}
	for _, in := range c.site.Hosts[i].Instances {
		out[in.Queue.Name] = overruled(in, c.ledger.At(i))
	}
	return out
}

// slotwise is the count of a tree: how many slots are running below an
// instance and in it.
func slotwise(root *site.Instance, use *ledger.Host, stopped map[*site.Instance]uint32) int {
	sum := int(use.Used(root.Place, 0)) - int(stopped[root])
	for _, sub := range root.Tree {
		sum += slotwise(sub, use, stopped)
	}
	return sum
}

// stopped are the slots of suspended tasks by instance of a host; of those
// that were preempted none are counted anyway.
func stopped(st *state.State, h *site.Host) map[*site.Instance]uint32 {
	out := map[*site.Instance]uint32{}
	for _, t := range st.OnHost(h.Name) {
		if t.State&grid.StateSuspendedAny == 0 || !t.HoldsSlots() {
			continue
		}
		for _, g := range t.Grants {
			if in := h.InstanceOf(g.Queue); g.Host == h.Name && in != nil {
				out[in] += g.Slots
			}
		}
	}
	return out
}

// Preempt is the next task of a host to be suspended slot-wise, or resumed;
// nil when all trees are as they should be. The trees are visited from the
// leaves to the root.
func (c *Cluster) Preempt(name string) (task *grid.JATask, suspend bool) {
	c.settle()
	i, ok := c.site.HostAt[name]
	if !ok {
		return nil, false
	}
	h, use := c.site.Hosts[i], c.ledger.At(i)
	for _, t := range c.st.OnHost(name) { // what no tree has any more
		in := h.InstanceOf(t.Grants[0].Queue)
		if t.State&grid.StateSuspendedSlotwise != 0 && t.Grants[0].Host == name && (in == nil || in.Above == nil) {
			return t, false
		}
	}
	stopped := stopped(c.st, h)
	for _, root := range h.Trees() {
		if slotwise(root, use, stopped) > root.Threshold {
			if t := victim(c.st, root.Descendants(), true); t != nil {
				return t, true
			}
		}
	}
	for _, in := range h.Instances {
		if in.Above == nil && len(in.Tree) > 0 {
			for _, sub := range in.Resumable() {
				if t := victim(c.st, []*site.Instance{sub}, false); t != nil && slotwiseRoom(sub, use, stopped) >= int(t.Slots()) {
					return t, false
				}
			}
		}
	}
	return nil, false
}

// slotwiseRoom is how many slots more may run in an instance, by every threshold above
// it.
func slotwiseRoom(in *site.Instance, use *ledger.Host, stopped map[*site.Instance]uint32) int {
	room := unlimitedSlots
	for root := in; root != nil; root = root.Above {
		if len(root.Tree) > 0 {
			room = min(room, root.Threshold-slotwise(root, use, stopped))
		}
	}
	return room
}

// victim is the task to suspend, of the first instance that has one, or to let
// continue: the one that was to be suspended last.
func victim(st *state.State, instances []*site.Instance, suspend bool) (best *grid.JATask) {
	for _, in := range instances {
		for _, t := range st.OnHost(in.Host.Name) {
			master := t.Grants[0]
			if master.Queue != in.Queue.Name || master.Host != in.Host.Name || t.State&grid.StateDeleted != 0 ||
				suspend && t.State&grid.StateSuspendedAny != 0 || !suspend && t.State&grid.StateSuspendedSlotwise == 0 {
				continue
			}
			newer := best == nil || t.Start > best.Start
			if best == nil || newer == (in.Preempted.Longest != suspend) {
				best = t
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// preemptedSlots is how many slots may start in an instance before a task that
// starts there would be suspended at once slot-wise: what every threshold
// above leaves, and what it takes from queues that go before it.
func (c *Cluster) preemptedSlots(in *site.Instance) int {
	if in.Above == nil {
		return unlimitedSlots
	}
	stopped, use := stopped(c.st, in.Host), c.ledger.At(in.Host.Index)
	room := unlimitedSlots
	for root := in.Above; root != nil; root = root.Above {
		left := root.Threshold - slotwise(root, use, stopped)
		for _, sub := range root.Descendants() {
			if sub == in {
				break
			}
			left += int(use.Used(sub.Place, 0)) - int(stopped[sub])
		}
		room = min(room, left)
	}
	return max(room, 0)
}
