package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// The earliest start of a parallel job: bounds that are easily had (cluster,
// PE, hosts) say which times need not be tried; a time that passes them is
// tried with the search that places jobs now. So the search alone says what
// fits, and the bounds only spare it.

// earliestParallel tries the matching PEs: the earliest start wins, then the
// most slots, then the fewest violations, then the first.
func (c *search) earliestParallel(n *Need, from grid.Time) (best Placement, at grid.Time, why reason.Reason) {
	at, why = grid.Never, reason.Reason{Code: reason.PENoMatch, Object: n.Job.PE}
	for _, i := range n.pes {
		p, t, r := c.earliestIn(n, i, from, at)
		switch {
		case !r.Fits():
			if at == grid.Never {
				why = r
			}
		case t < at || p.Slots > best.Slots || (p.Slots == best.Slots && p.Violations < best.Violations):
			best, at, why = p, t, r
		}
	}
	return best, at, why
}

// earliestIn looks in one PE, for a time that is no later than another.
func (c *search) earliestIn(n *Need, i int, from, latest grid.Time) (Placement, grid.Time, reason.Reason) {
	pe := c.site.PEs[i]
	why := reason.Reason{Code: reason.PEOffersOnly, Object: pe.Name}
	rule, ok := parseRule(pe.AllocationRule)
	if !ok {
		return Placement{}, grid.Never, reason.Reason{Code: reason.PERule, Object: pe.Name}
	}
	least := smallest(n.Job.PERange, rule.unit())
	if least == 0 {
		return Placement{}, grid.Never, why
	}
	for t := from; ; t = c.ledger.NextRelease(t, c.span.Clock()) {
		t = c.bound(n, i, rule, least, t)
		if t == grid.Never || t > latest {
			return Placement{}, grid.Never, why
		}
		c.setWindow(t, n)
		global, _ := c.slots(c.atGlobal(), n)
		if global.lead == 0 {
			continue
		}
		p, r := c.findInPE(n, i, global.lead)
		if r.Fits() {
			return p, t, r
		}
		why = r
	}
}

// smallest is the least amount in the ranges that is a multiple of unit; 0
// when there is none.
func smallest(ranges grid.Ranges, unit int) (best int) {
	for _, r := range ranges {
		first, step := int(r.First), int(max(r.Step, 1))
		for n := first; n < first+unit*step && (r.Last == grid.Open || n <= int(r.Last)); n += step {
			if n > 0 && n%unit == 0 && (best == 0 || n < best) {
				best = n
			}
		}
	}
	return best
}

// bound is a time before which so many slots cannot be had, the first from a
// time on that the cluster, the PE and the hosts allow.
func (c *search) bound(n *Need, i int, rule rule, least int, t grid.Time) grid.Time {
	for tried := false; ; tried = true {
		later := c.gives(c.atGlobal(), n, least, true, t)
		later = c.ledger.PEWait(i, n.gross, later, least, c.span.Clock())
		later = c.ledger.RoughWait(n.gross, later, least, c.span.Now)
		if later == grid.Never || tried && later == t { // it is what the hosts have said
			return later
		}
		if t = c.hostsBound(n, c.partners(n, c.site.PEs[i].Name), c.site.PEs[i].Name, rule, least, later); t == grid.Never {
			return grid.Never
		}
	}
}

// partners are the hosts that can take part in a PE at any time.
func (c *search) partners(n *Need, pe string) []*site.Host {
	s := c.scratch()
	s.partners = s.partners[:0]
	for _, h := range c.site.Hosts {
		for _, in := range h.Instances {
			if c.ranks.At(in.Index).inst >= 0 && in.PEs.Has(pe) && c.suits(n, in) {
				s.partners = append(s.partners, h)
				break
			}
		}
	}
	return s.partners
}

// hostsBound is bound as far as hosts decide.
func (c *search) hostsBound(n *Need, hosts []*site.Host, pe string, rule rule, least int, t grid.Time) grid.Time {
	count := 1 // of hosts that must give their part at once
	switch {
	case len(hosts) == 0:
		return grid.Never
	case len(hosts) == 1 && rule.kind != fixedSlots:
	case rule.kind == fixedSlots:
		count, least = least/rule.fixed, rule.fixed
	case rule.kind != peSlots:
		return c.sumBound(n, hosts, pe, least, t)
	}
	if count > len(hosts) {
		return grid.Never
	}
	times := c.scratch().times[:0]
	for _, h := range hosts {
		times = append(times, c.hostGives(n, h, pe, least, count == 1, t))
	}
	c.scratch().times = times
	if count == 1 {
		return slices.Min(times)
	}
	slices.Sort(times)
	return times[count-1]
}

// hostGives is a time before which a host cannot give so many slots, with the master task among them or as it may be.
func (c *search) hostGives(n *Need, h *site.Host, pe string, slots int, master bool, t grid.Time) grid.Time {
	var only *site.Instance // that can give them, if there is just one
	for _, in := range h.Instances {
		if c.ranks.At(in.Index).inst < 0 || !in.PEs.Has(pe) || !c.suits(n, in) {
			continue
		}
		if only != nil {
			return c.gives(c.atHost(h), n, slots, master, t)
		}
		only = in
	}
	if only == nil {
		return grid.Never
	}
	for {
		onHost := c.gives(c.atHost(h), n, slots, master, t)
		if t = c.gives(c.atInstance(only), n, slots, master, onHost); t == onHost || t == grid.Never {
			return t
		}
	}
}

// part is a host in sumBound: what it gives, and until when that stays so.
type part struct {
	host  *site.Host
	slots int
	until grid.Time
}

// sumBound is the first time, from a time on, at which hosts can give so many
// slots together: it follows the changes, host by host, in their order.
func (c *search) sumBound(n *Need, hosts []*site.Host, pe string, least int, t grid.Time) grid.Time {
	s := c.scratch()
	s.parts, s.queues = s.parts[:0], s.queues[:0]
	c.setWindow(t, n)
	sum := 0
	for _, h := range hosts {
		o := c.hostOffer(n, h, pe)
		sum += max(o.slots, o.lead)
		s.parts = append(s.parts, part{h, max(o.slots, o.lead), c.ledger.Changes(h, n.gross, t, c.span.Clock())})
		s.queues = s.queues[:0]
	}
	parts := s.parts
	for i := len(parts)/2 - 1; i >= 0; i-- {
		sink(parts, i)
	}
	for sum < least {
		if t = parts[0].until; t == grid.Never {
			return grid.Never
		}
		c.setWindow(t, n)
		for parts[0].until == t {
			p := &parts[0]
			o := c.hostOffer(n, p.host, pe)
			s.queues = s.queues[:0]
			sum += max(o.slots, o.lead) - p.slots
			p.slots, p.until = max(o.slots, o.lead), c.ledger.Changes(p.host, n.gross, t, c.span.Clock())
			sink(parts, 0)
		}
	}
	return t
}

// sink moves a part down to where the earliest change stays in front.
func sink(parts []part, i int) {
	for {
		k := 2*i + 1
		if k >= len(parts) {
			return
		}
		if k+1 < len(parts) && parts[k+1].until < parts[k].until {
			k++
		}
		if parts[i].until <= parts[k].until {
			return
		}
		parts[i], parts[k] = parts[k], parts[i]
		i = k
	}
}
