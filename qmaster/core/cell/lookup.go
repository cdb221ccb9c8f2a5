package cell

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"

	"github.com/quill-grid/quill/pkg/grid"
)

// ReservedIn is how many slots reservations hold in an instance, whenever.
func (c *Cell) ReservedIn(qi *grid.QInstance) (slots uint32) {
	for _, a := range c.State.ARs() {
		for _, g := range a.Grants {
			if g.Queue == qi.Queue && g.Host == qi.Host {
				slots += g.Slots
			}
		}
	}
	return slots
}

// Instances are the queue instances of a cluster queue.
func (c *Cell) Instances(queue string) []*grid.QInstance {
	var out []*grid.QInstance
	c.State.From(grid.KindQInstance, grid.Key{Name: queue + "@"}, func(o grid.Object) bool {
		qi := o.(*grid.QInstance)
		if qi.Queue != queue {
			return strings.HasPrefix(qi.Name(), queue+"@")
		}
		out = append(out, qi)
		return true
	})
	return out
}

// InstanceInUse reports whether tasks or reservations hold slots of a queue instance.
func (c *Cell) InstanceInUse(qi *grid.QInstance) bool {
	for _, t := range c.State.OnHost(qi.Host) {
		for _, g := range t.Grants {
			if g.Queue == qi.Queue && g.Host == qi.Host {
				return true
			}
		}
	}
	return c.ReservedIn(qi) > 0
}

// MemberOf answers group membership of one host, for PerHost.For.
func (c *Cell) MemberOf(host string) func(string) bool {
	return func(group string) bool { return c.State.Member(group, host) }
}

// HasInstance reports whether the map of a host, or of "global", lists an instance.
func (c *Cell) HasInstance(i *grid.Instance) bool {
	h := c.State.ExecHost(i.Host)
	return h != nil && slices.ContainsFunc(c.mapAt(h, i.Resource), func(o complex.Instance) bool { return o.ID == i.ID })
}

// mapAt returns the resource map of a host.
func (c *Cell) mapAt(h *grid.ExecHost, resource string) complex.Map {
	for _, v := range h.ComplexValues {
		if e := c.Centry(v.Name); e != nil && e.Name == resource && e.Type == grid.TypeMap {
			m, _ := c.Cluster.Complex().ParseMap(resource, v.Text)
			return m
		}
	}
	return nil
}

// HealthOf returns what is known of an instance: nothing is wrong with most.
func (c *Cell) HealthOf(of grid.Instance) grid.Instance {
	if i, known := c.State.Get(grid.KindInstance, of.Key()).(*grid.Instance); known {
		return *i
	}
	return grid.Instance{Resource: of.Resource, ID: of.ID, Host: of.Host}
}

// AllValues are an attribute's values: the general one and every exception's.
func AllValues[T any](p grid.PerHost[T]) []T {
	out := []T{p.Value}
	for _, a := range p.At {
		out = append(out, a.Value)
	}
	return out
}

// Centry finds a complex attribute by name or shortcut.
func (c *Cell) Centry(name string) *grid.Centry {
	if e := c.State.Centry(name); e != nil {
		return e
	}
	for _, e := range c.State.Centries() {
		if e.Shortcut == name {
			return e
		}
	}
	return nil
}

// EachCQueue calls f for the cluster queues until it returns text.
func (c *Cell) EachCQueue(f func(*grid.CQueue) string) string {
	for _, q := range c.State.CQueues() {
		if t := f(q); t != "" {
			return t
		}
	}
	return ""
}

// EachJob calls f for all jobs until it returns text.
func (c *Cell) EachJob(f func(*grid.Job) string) (text string) {
	c.State.Each(grid.KindJob, func(o grid.Object) bool {
		text = f(o.(*grid.Job))
		return text == ""
	})
	return text
}

// All are the objects of a kind.
func (c *Cell) All(k grid.Kind) []grid.Object {
	var out []grid.Object
	c.State.Each(k, func(o grid.Object) bool {
		out = append(out, o)
		return true
	})
	return out
}

// IsUnheard reports whether a host is unknown: it has sent nothing for max_unheard.
func (c *Cell) IsUnheard(host string) bool {
	l := c.State.Load(host)
	return l == nil || l.Unheard
}
