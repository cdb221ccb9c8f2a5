package sched

import (
	"maps"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Resource quotas, sge_resource_quota(5). In each enabled set the first rule applies
// whose filters match a job in an instance. The use of its jobs is counted in buckets:
// one for the whole rule, or one for each user, project, PE, queue or host where the
// filter stands in braces. A bucket is a level like a host: the same test asks it what it
// can give.

// atQuota is a bucket as a level.
func (c *search) atQuota(r *site.QuotaRule, key site.BucketKey, in *site.Instance) level {
	limits := &r.Source
	if len(r.Dynamic) > 0 {
		limits = c.dynamicSource(r, in.Host)
	}
	return level{Level: c.ledger.Bucket(r, key, limits)}
}

// dynamicSource is a rule's limits where some follow from a host's values. A
// value that is not known limits nothing.
func (c *Cluster) dynamicSource(r *site.QuotaRule, h *site.Host) *complex.Supply {
	s := complex.Supply{Capacity: slices.Clone(r.Source.Capacity), Fixed: map[int]complex.Value{}}
	for i, v := range r.Source.Fixed {
		s.Fixed[i] = v
	}
	for _, d := range r.Dynamic {
		sum := 0.0
		for _, t := range d.Terms {
			v := 1.0
			if t.Attr >= 0 {
				v = c.hostValue(h, t.Attr)
			}
			sum += t.Factor * v
		}
		a := &c.site.Complex.List[d.Attr]
		if a.Column >= 0 {
			s.Capacity[a.Column] = sum
		} else {
			s.Fixed[d.Attr] = complex.Value{Number: sum, Text: a.Format(sum)}
		}
	}
	return &s
}

// hostValue is a configured or reported value of a host.
func (c *Cluster) hostValue(h *site.Host, attr int) float64 {
	if b := c.site.Complex.List[attr].Column; b >= 0 && h.Supply.Capacity[b] < complex.Unlimited {
		return h.Supply.Capacity[b]
	}
	for _, s := range [...]*complex.Supply{&h.Supply, &c.site.Global} {
		if v, ok := s.Fixed[attr]; ok {
			return v.Number
		}
	}
	if v, ok := c.loadOf(c.nows.At(h.Index).load, 0, attr); ok {
		return v
	}
	return complex.Unlimited
}

// quotaSlots is the room that the quotas leave in an instance to a need. hit is the bucket that leaves none.
// given is what a parallel job is to get under the same buckets already.
func (c *search) quotaSlots(
	n *Need, pe string, in *site.Instance, given map[site.BucketKey]offered,
) (left room, hit reason.Reason) {
	left = room{unlimitedSlots, unlimitedSlots}
	c.site.EachQuota(c.passing(n, pe), n.Job, pe, in, func(r *site.QuotaRule, key site.BucketKey) bool {
		l := c.atQuota(r, key, in)
		s, narrow := c.slots(l, n)
		s = given[key].leaves(s)
		if !s.any(n) || !c.hostsFit(&l, n, given[key].with(in.Host)) || !c.underFixed(l.Supply, n) {
			left = room{}
			hit = reason.Reason{Code: reason.OverQuota, Object: r.Set + "/" + r.Called, What: key.String()}
			if r.Shared {
				hit = c.offersOnly(reason.NotAtHost, in.Host.Name, "g", l, n, narrow)
			}
			return false
		}
		left = left.within(s)
		return true
	})
	return left, hit
}

const unlimitedSlots = 1 << 30

// passing returns quotasFor a need in a PE, cached.
func (c *search) passing(n *Need, pe string) []bool {
	if len(c.site.Quotas.Rules) == 0 {
		return nil
	}
	if n.passing == nil {
		n.passing = map[string][]bool{}
	}
	p, seen := n.passing[pe]
	if !seen {
		p = c.site.QuotasFor(n.Job, pe)
		n.passing[pe] = p
	}
	return p
}

// underFixed compares the requests with limits that are not booked. A resource that a job
// does not request is not limited.
func (c *search) underFixed(s *complex.Supply, n *Need) bool {
	for i := range n.conditions {
		k := &n.conditions[i]
		if v, ok := s.Fixed[k.Attr]; ok && !k.Satisfied(&c.site.Complex.List[k.Attr], v) {
			return false
		}
	}
	return true
}

// underQuotas cuts what a host offers to a parallel job to what the quotas
// leave beside what other hosts offer already. leads: it offers it with the master task, else without. Its queues are
// cut to what it gives in all, so that whichever of them are taken, the quotas hold. Under $round_robin they are cut
// one by one: see dealQuotas.
func (c *search) underQuotas(n *Need, pe string, rule rule, leads bool, o *offer) {
	if c.passing(n, pe) == nil || !rule.admitsOffer(o) {
		return
	}
	if rule.kind == roundRobin {
		for i := range o.queues {
			left, _ := c.quotaSlots(n, pe, o.queues[i].in, nil)
			o.queues[i].room = o.queues[i].within(left)
		}
		o.sum(o.room)
		return
	}
	if leads {
		o.leading()
	}
	here := map[site.BucketKey]offered{}
	if rule.kind != peSlots { // else one host has it all
		maps.Copy(here, c.scratch().offered)
	}
	most := rule.gives(o.slots)
	o.room = room{}
	for i := range o.queues {
		q, first := &o.queues[i], leads && i == 0
		left, _ := c.quotaSlots(n, pe, q.in, here)
		if first {
			left.slots = left.lead
		}
		q.slots, q.lead = min(q.slots, left.slots, most-o.slots), 0
		o.slots += q.slots
		c.offerQuota(n, pe, q.in, q.slots, first, here)
	}
	if leads && o.queues[0].slots > 0 {
		o.lead, o.queues[0].lead = o.slots, o.queues[0].slots
	}
}

// takeQuotas counts what a host that takes part offers.
func (c *search) takeQuotas(n *Need, pe string, rule rule, o *offer) {
	if c.passing(n, pe) == nil || rule.kind == peSlots {
		return
	}
	if c.scratch().offered == nil {
		c.scratch().offered = map[site.BucketKey]offered{}
	}
	for i, q := range o.queues {
		c.offerQuota(n, pe, q.in, q.slots, i == 0 && o.lead > 0, c.scratch().offered)
	}
}

// dealQuotas cuts what hosts offer under $round_robin to what the quotas leave
// to all of them together: slots are dealt as the rule gives them, one per host
// and pass, the master's first.
func (c *search) dealQuotas(n *Need, pe string, want int) {
	s := c.scratch()
	given := map[site.BucketKey]offered{}
	dealt := make([][]int, len(s.hosts))
	for i := range s.hosts {
		dealt[i] = make([]int, len(s.hosts[i].queues))
	}
	s.total = 0
	for more := true; more; {
		more = false
		for i := range s.hosts {
			if s.total < want && c.dealTo(n, pe, &s.hosts[i], dealt[i], s.total == 0, given) {
				s.total, more = s.total+1, true
			}
		}
	}
	for i := range s.hosts {
		o := &s.hosts[i]
		o.slots = 0
		for k := range o.queues {
			o.queues[k].room = room{dealt[i][k], dealt[i][k]}
			o.slots += dealt[i][k]
		}
		o.lead = o.slots
	}
}

// dealTo deals one slot to a host, if its instances and the quotas leave one. The first of all is that of the master
// task, whose host and queue instance lead has moved to the front.
func (c *search) dealTo(n *Need, pe string, o *offer, dealt []int, first bool, given map[site.BucketKey]offered) bool {
	sum := 0
	for _, slots := range dealt {
		sum += slots
	}
	if sum == o.slots {
		return false
	}
	for k := range o.queues {
		q := &o.queues[k]
		if dealt[k] == q.slots {
			continue
		}
		if left, _ := c.quotaSlots(n, pe, q.in, given); left.holds(1, first) {
			dealt[k]++
			c.offerQuota(n, pe, q.in, 1, first, given)
			return true
		}
	}
	return false
}

// offerQuota counts slots of an instance as offered to a need, the master's among them or not.
func (c *search) offerQuota(
	n *Need, pe string, in *site.Instance, slots int, master bool, given map[site.BucketKey]offered,
) {
	c.site.EachQuota(c.passing(n, pe), n.Job, pe, in, func(_ *site.QuotaRule, key site.BucketKey) bool {
		given[key] = given[key].more(n, in.Host, slots, master)
		return true
	})
}

// fitsQuotas checks the grants of a task together.
func (c *search) fitsQuotas(n *Need, grants []grid.Grant, pe string) (why reason.Reason) {
	if len(c.site.Quotas.Rules) == 0 {
		return reason.Reason{}
	}
	given := map[site.BucketKey]offered{}
	for k, g := range grants {
		in := c.site.Granted(g)
		if in == nil {
			continue
		}
		left, hit := c.quotaSlots(n, pe, in, given)
		if !left.holds(int(g.Slots), k == 0) {
			if hit.Fits() {
				hit = reason.Reason{Code: reason.GrantSlots, Object: in.Name, Slots: left.slots}
			}
			return hit
		}
		c.offerQuota(n, pe, in, int(g.Slots), k == 0, given)
	}
	return why
}

// sharedAt returns the levels of the maps of the cluster that some hosts share, for a host that does: each
// is a part of the next.
func (c *search) sharedAt(h *site.Host) (all *level) {
	for _, r := range c.site.Quotas.Rules {
		if r.Shared && r.Hosts[h.Index] {
			l := c.atQuota(r, site.BucketKey{Rule: r.Index}, nil).around()
			l.whole, all = all, l
		}
	}
	return all
}

// appendQuotas adds to a category what the quotas see of a job: who it belongs
// to where each user has a limit, else which rules let the user pass. The same
// of projects.
func appendQuotas(cfg *site.Layout, b []byte, j *grid.Job) []byte {
	for i, name := range [...]string{grid.QuotaUsers: j.Owner, grid.QuotaProjects: j.Project} {
		bits := make([]byte, 0, 16)
		each, any := false, false
		for _, r := range cfg.Quotas.Rules {
			f := &r.Filters[i]
			if len(f.List) == 0 {
				continue
			}
			pass := site.Passes(f.List, name, func(set string) bool { return cfg.Sets[set[1:]].Contains(j.Owner, j.Group) })
			each, any = each || pass && f.Each, true
			bits = strconv.AppendBool(bits, pass)
		}
		switch {
		case each:
			b = append(append(append(b, " -quota "...), grid.QuotaWords[i]...), "="+name...)
		case any:
			b = append(append(append(b, " -quota "...), grid.QuotaWords[i]...), bits...)
		}
	}
	return b
}
