package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// For algorithms that choose the queue instance themselves: instances are
// numbered in the order of cluster queue and host names.

// Open lists the instances that can take a task now, by number.
func (c *Cluster) Open() []int {
	c.settle()
	out := make([]int, 0, c.order.Rows.Len())
	c.order.Rows.Scan(func(r rank) bool {
		out = append(out, int(r.inst))
		return true
	})
	slices.Sort(out)
	return out
}

// InstanceAt names the queue instance of a number.
func (c *Cluster) InstanceAt(number int) (queue, host string) {
	in := c.site.Instances[number]
	return in.Queue.Name, in.Host.Name
}

// InstanceOf is the number of the instance that a grant is of, -1 when it does
// not exist any more.
func (c *Cluster) InstanceOf(g grid.Grant) int {
	c.settle()
	if i, ok := c.site.InstAt[g.Instance()]; ok {
		return i
	}
	return -1
}

// InstancesOn lists the instances on a host, by number.
func (c *Cluster) InstancesOn(host string) (out []int) {
	c.settle()
	if i, ok := c.site.HostAt[host]; ok {
		for _, in := range c.site.Hosts[i].Instances {
			out = append(out, in.Index)
		}
	}
	return out
}

// Usable counts the slots of the instances that take jobs, and those of them
// that are free. A host that limits slots has no more than that.
func (c *Cluster) Usable() (slots, free int) {
	c.settle()
	for _, h := range c.site.Hosts {
		use := c.ledger.At(h.Index)
		all, used := 0.0, 0.0
		for _, in := range h.Instances {
			if c.stateReason(in).Fits() {
				all += in.Supply.Capacity[0]
				used += min(use.Used(in.Place, 0), in.Supply.Capacity[0])
			}
		}
		all = min(all, h.Supply.Capacity[0])
		slots += int(all)
		free += int(max(all-used, 0))
	}
	return slots, free
}

// Allows reports whether an instance takes jobs, and this one's by what is
// configured; it may be busy.
func (c *Cluster) Allows(n *Need, number int) bool {
	in := c.site.Instances[number]
	return c.stateReason(in).Fits() && c.find.suits(n, in)
}

// FindPlacementAt is FindPlacement for one instance, without soft requests.
func (c *Cluster) FindPlacementAt(n *Need, number int) (p Placement, ok bool) {
	c.find.setWindow(c.find.span.Now, n)
	in := c.site.Instances[number]
	if r := *c.ranks.At(in.Index); r.inst < 0 || r.full || !c.find.suits(n, in) {
		return p, false
	}
	if g, _ := c.find.slots(c.find.atGlobal(), n); g.lead == 0 {
		return p, false
	}
	if c.find.instanceSlots(n, in) == 0 {
		return p, false
	}
	return Placement{Grants: []grid.Grant{{Queue: in.Queue.Name, Host: in.Host.Name, Slots: 1}}, Slots: 1}, true
}
