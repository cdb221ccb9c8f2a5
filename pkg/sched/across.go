package sched

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// For algorithms that distribute processes over hosts themselves.

// Part is what one of the hosts that have room gives.
type Part struct{ Host, Slots int }

// OpenHosts lists the hosts that can take a task now, by number, in the order
// of their names.
func (c *Cluster) OpenHosts() (out []int) {
	c.settle()
	c.order.Rows.Scan(func(r rank) bool {
		out = append(out, c.site.Instances[r.inst].Host.Index)
		return true
	})
	slices.Sort(out)
	out = slices.Compact(out)
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(c.site.Hosts[a].Name, c.site.Hosts[b].Name) })
	return out
}

// Across places so many slots of a need on hosts, which are asked in the order
// of the list what room they have. share divides the slots: it sees the rooms
// of the hosts that have any, no more than `most`, and says which give how many,
// in the order of the grants, nil when they are not enough. first is the place in
// the list of the first host that has room, its length when none has.
func (c *Cluster) Across(
	n *Need, slots int, hosts []int, most int, share func(rooms []int) []Part,
) (p Placement, first int, why reason.Reason) {
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return p, 0, why
		}
		p, _, why = r.Across(n, slots, r.OpenHosts(), most, share)
		return p, 0, why
	}
	c.find.setWindow(c.find.span.Now, n)
	first = len(hosts)
	if why := c.find.impossible(n); !why.Fits() {
		return p, 0, why
	}
	global, narrow := c.find.slots(c.find.atGlobal(), n)
	if global.lead < slots {
		return p, 0, c.find.offersOnly(reason.NotGlobally, "", "g", c.find.atGlobal(), n, narrow)
	}
	pes := n.pes
	if n.Job.PE == "" {
		pes = []int{-1}
	}
	why = reason.Reason{Code: reason.PENoMatch, Object: n.Job.PE}
	for _, i := range pes {
		pe := ""
		if i >= 0 {
			pe = c.site.PEs[i].Name
			if r := c.find.fitsPE(n, pe, uint32(slots)); !r.Fits() {
				why = r
				continue
			}
		}
		q, at, r := c.find.acrossIn(n, pe, slots, hosts, most, share)
		if first = min(first, at); r.Fits() {
			return q, first, r
		}
		why = r
	}
	return p, first, why
}

func (c *search) acrossIn(
	n *Need, pe string, slots int, hosts []int, most int, share func([]int) []Part,
) (p Placement, first int, why reason.Reason) {
	s := c.scratch()
	s.queues = s.queues[:0]
	if l := c.atGlobal(); n.perHost {
		most = min(most, c.hostsLeft(&l, n))
	}
	var offers []offer
	var rooms []int
	first = len(hosts)
	for at, h := range hosts {
		if most == 0 {
			break
		}
		o := c.roomOn(n, c.site.Hosts[h], pe)
		if o.slots == 0 { // a host for the master task alone is not offered
			continue
		}
		first = min(first, at)
		offers, rooms = append(offers, o), append(rooms, o.slots)
		if len(offers) == most {
			break
		}
	}
	why = reason.Reason{Code: reason.QueueUnavailable}
	if pe != "" {
		total := 0
		for _, r := range rooms {
			total += r
		}
		why = reason.Reason{Code: reason.PEOffersOnly, Object: pe, Slots: total}
	}
	parts := share(rooms)
	chief := slices.IndexFunc(parts, func(a Part) bool { return offers[a.Host].lead >= a.Slots })
	if chief < 0 {
		return p, first, why
	}
	p = Placement{PE: pe, Slots: uint32(slots)}
	offers[parts[chief].Host].leading()
	p.Grants = offers[parts[chief].Host].grant(p.Grants, parts[chief].Slots)
	for i, a := range parts {
		if i != chief {
			p.Grants = offers[a.Host].grant(p.Grants, a.Slots)
		}
	}
	if r := c.fitsQuotas(n, p.Grants, pe); !r.Fits() {
		return Placement{}, first, r
	}
	return p, first, reason.Reason{}
}

// roomOn is what a host can give to a need, in a PE or to a plain job.
func (c *search) roomOn(n *Need, h *site.Host, pe string) (o offer) {
	if pe != "" {
		return c.hostOffer(n, h, pe)
	}
	for _, in := range h.Instances {
		if !c.usable(c.ranks.At(in.Index)) || !c.suits(n, in) {
			continue
		}
		if slots := c.instanceSlots(n, in); slots > 0 {
			one := room{slots, slots}
			return offer{host: h, room: one, queues: []queueOffer{{in, one}}}
		}
	}
	return o
}
