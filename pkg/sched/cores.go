package sched

import (
	"fmt"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Processor cores that the scheduler binds jobs to, -bamount of submit(1). At other times than now they
// are a consumable of the host, counted in threads: reservations and diagrams know no more. For a
// start it counts as well which units are free as wholes: ledger.Host.Bound are the threads that started
// tasks have. What a run has booked and no task has yet is counted as if it were in units of
// their own. Which units a task gets is chosen by Cores when it starts, near its instances.

// freeUnits is how many units of a demand a level can give throughout the window.
func (c *search) freeUnits(l *level, n *Need, d *complex.Demand) float64 {
	u := site.UnitOf(d.Binding)
	size := float64(l.Tree.Size(u))
	if size == 0 {
		return 0
	}
	column := c.site.Complex.Threads
	left := math.Floor((l.Supply.Capacity[column]-l.InUse(column, &c.span))/size + complex.Tiny)
	bound, booked, known := l.Bound(column)
	if !known || c.span.Ahead() {
		return left
	}
	units := float64(l.Tree.Count(u, n.allowed(l.Tree).Minus(bound))) - math.Ceil(max(booked, 0)/size-complex.Tiny)
	return min(left, units)
}

// unitSlots is how many slots a level can give as far as the units of a demand decide.
func (c *search) unitSlots(l *level, n *Need, d *complex.Demand) float64 {
	units := c.freeUnits(l, n, d)
	switch {
	case d.Binding.Type == grid.BindSlot:
		return math.Floor(units/d.Amount + complex.Tiny)
	case units+complex.Tiny < d.Amount:
		return 0
	}
	return complex.Unlimited
}

// allowed returns the threads of a host that the filter of a need's binding does not exclude. The answer is
// stored.
func (n *Need) allowed(tree *topology.Machine) topology.Set {
	s, known := n.threads[tree]
	if !known {
		if n.threads == nil {
			n.threads = map[*topology.Machine]topology.Set{}
		}
		s = tree.All()
		if f := n.Job.Binding.Filter; f != "" {
			if not, ok := tree.Mask(f); ok {
				s = s.Minus(not)
			} else {
				s = nil
			}
		}
		n.threads[tree] = s
	}
	return s
}

// unbindable is why a host can never bind a job, whatever is in use there.
func (n *Need) unbindable(h *site.Host) reason.Reason {
	b := n.Job.Binding
	if !b.Decided() {
		return reason.Reason{}
	}
	why := reason.Reason{Code: reason.NotBindable, Object: h.Name, What: b.Options()}
	switch {
	case h.Tree == nil:
		why.Offer = "it reports no topology"
	case n.allowed(h.Tree) == nil:
		why.Offer = fmt.Sprintf("bfilter is not of its topology %s", h.Topology)
	default:
		units := h.Tree.Count(site.UnitOf(b), n.allowed(h.Tree))
		if units >= int(b.Amount) {
			return reason.Reason{}
		}
		why.Offer = fmt.Sprintf("it has only %d units %s, and %d are asked for", units, b.Unit, b.Amount)
	}
	return why
}

// unitsOffered is what a level has to say of a binding that does not fit.
func (c *search) unitsOffered(l *level, n *Need) string {
	i := slices.IndexFunc(n.demands, func(d complex.Demand) bool { return d.Binding != nil })
	d := &n.demands[i]
	free := max(c.freeUnits(l, n, d), 0)
	return fmt.Sprintf("it offers only %.0f free units %s, and %.0f are asked for", free, d.Binding.Unit, d.Amount)
}

// Cores chooses the processor cores of a task that starts with these grants and instances: units that
// no started task has, those nearest to the instances. A job that asks for none is bound to the
// cores that the masks of its instances have. The Reason says on which host too few are free.
func (c *Cluster) Cores(
	j *grid.Job, grants []grid.Grant, maps []grid.MapGrant,
) (out []grid.CoreGrant, why reason.Reason) {
	c.settle()
	for i, g := range grants {
		h, known := c.site.HostAt[g.Host]
		if !known || c.site.Hosts[h].Tree == nil || !grid.FirstOnHost(grants, i) {
			continue
		}
		s, shared := topology.Set(nil), false
		if j.Binding.Decided() {
			p := c.placing(j, grid.SlotsOnHost(grants, g.Host), h)
			p.devices = devicesOn(c.site, h, maps)
			ok := false
			if s, _, ok = p.choose(nil); !ok {
				return nil, reason.Reason{Code: reason.NotBindable, Object: g.Host, What: j.Binding.Options(),
					Offer: "too few units " +
						j.Binding.Unit + " are free"}
			}
		} else if j.Binding == nil {
			s, shared = c.masked(h, maps), true
		}
		if s != nil {
			out = append(out, grid.CoreGrant{Host: g.Host, Text: c.site.Hosts[h].Tree.Text(s), Shared: shared})
		}
	}
	return out, reason.Reason{}
}

// eachDevice calls f with the instances that grants have on a host.
func eachDevice(cfg *site.Layout, h int, maps []grid.MapGrant, f func(resource string, in *complex.Instance)) {
	host := cfg.Hosts[h]
	for i := range maps {
		g := &maps[i]
		column := cfg.ColumnOf(g.Resource)
		if g.Host != host.Name || g.Global || column < 0 {
			continue
		}
		m := host.Supply.Maps[column]
		for k := range m {
			if slices.Contains(g.IDs, m[k].ID) {
				f(g.Resource, &m[k])
			}
		}
	}
}

func devicesOn(cfg *site.Layout, h int, maps []grid.MapGrant) (out []topology.Device) {
	eachDevice(cfg, h, maps, func(resource string, in *complex.Instance) {
		out = append(out, deviceOf(cfg.Hosts[h].Tree, resource, in))
	})
	return out
}

// masked returns the cores that the masks of instances have, without those that others have for
// themselves, if there are any left; nil: there are no masks of this host.
func (c *Cluster) masked(h int, maps []grid.MapGrant) (s topology.Set) {
	tree := c.site.Hosts[h].Tree
	eachDevice(c.site, h, maps, func(_ string, in *complex.Instance) {
		if in.Mask == "" {
			return
		}
		if not, ok := tree.Mask(in.Mask); ok {
			s = s.Plus(tree.All().Minus(not))
		}
	})
	if s.Len() == 0 {
		return nil
	}
	if own := s.Minus(c.ledger.At(h).Bound()); own.Len() > 0 {
		return own
	}
	return s
}
