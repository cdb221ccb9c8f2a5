package sched

import (
	"math"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// gathering is the scratch space of looking for a parallel placement: the hosts
// that can take part, best first, each with what its instances offer.
type gathering struct {
	hosts   []offer
	placed  []int        // by host index: place in hosts plus one
	queues  []queueOffer // of all hosts
	line    []rank       // see lineUp
	full    []rank
	offered map[site.BucketKey]offered // what the hosts take under quotas
	total   int                        // slots of the hosts, none of which is the master's
	takers  int                        // hosts that have any
	most    int                        // the most slots on one host
	// the host for the master: the first with which the most slots can be had; -1: none yet
	master int

	shares   []int        // of the hosts, see allocate
	partners []*site.Host // see earliestIn
	parts    []part
	times    []grid.Time
}

// offer is what one host can give.
type offer struct {
	host *site.Host
	room
	queues []queueOffer
}

type queueOffer struct {
	in *site.Instance
	room
}

// findParallel tries the matching PEs: the most slots win, then the fewest
// violations, then the first.
func (c *search) findParallel(n *Need, global int) (best Placement, why reason.Reason) {
	why = reason.Reason{Code: reason.PENoMatch, Object: n.Job.PE}
	for _, i := range n.pes {
		p, r := c.findInPE(n, i, global)
		switch {
		case !r.Fits():
			why = r
		case best.Grants == nil || p.Slots > best.Slots || (p.Slots == best.Slots && p.Violations < best.Violations):
			best = p
		}
	}
	if best.Grants != nil {
		return best, reason.Reason{}
	}
	return best, why
}

// findInPE looks for the largest fitting amount of slots in one PE.
func (c *search) findInPE(n *Need, i, global int) (Placement, reason.Reason) {
	pe, j := c.site.PEs[i], n.Job
	if !c.site.Permits(j.Owner, j.Group, pe.UserLists, pe.XUserLists) {
		return Placement{}, reason.Reason{Code: reason.NoAccessPE, Object: pe.Name}
	}
	if j.PERange.First() > pe.Slots {
		return Placement{}, reason.Reason{Code: reason.PETotal, Object: pe.Name}
	}
	rule, ok := parseRule(pe.AllocationRule)
	if !ok {
		return Placement{}, reason.Reason{Code: reason.PERule, Object: pe.Name}
	}
	limit := min(global, c.peFree(i))
	want := largest(j.PERange, limit, rule.unit())
	if want == 0 {
		if largest(j.PERange, limit, 1) > 0 {
			return Placement{}, reason.Reason{Code: reason.PERule, Object: pe.Name}
		}
		return Placement{}, reason.Reason{Code: reason.PEOffersOnly, Object: pe.Name, Slots: limit}
	}
	c.gather(n, pe.Name, rule, want)
	s := c.scratch()
	possible := min(rule.possible(s), limit)
	if s.master < 0 {
		return Placement{}, reason.Reason{Code: reason.PEOffersOnly, Object: pe.Name}
	}
	p, why := Placement{}, reason.Reason{Code: reason.PEOffersOnly, Object: pe.Name, Slots: possible}
	s.lead()
	for slots := largest(j.PERange, possible, rule.unit()); slots > 0 &&
		!why.Fits(); slots = largest(j.PERange, slots-1, rule.unit()) {
		if p, ok = rule.allocate(s, slots); !ok {
			break
		}
		if why = (reason.Reason{}); n.scoped { // what the master takes under a quota is not known before its place is
			why = c.fitsQuotas(n, p.Grants, pe.Name)
		}
	}
	if !why.Fits() {
		return Placement{}, why
	}
	p.PE = pe.Name
	if len(n.Job.Soft)+len(n.softQueue) > 0 {
		for _, g := range p.Grants {
			p.Violations += c.violations(n, c.site.Granted(g))
		}
	}
	return p, reason.Reason{}
}

// gather collects what hosts offer to a PE, in order, until the rule has
// enough for `want` slots.
func (c *search) gather(n *Need, pe string, rule rule, want int) {
	s := c.scratch()
	if len(s.placed) != len(c.site.Hosts) {
		s.placed = make([]int, len(c.site.Hosts))
	} else {
		for _, o := range s.hosts {
			s.placed[o.host.Index] = 0
		}
	}
	s.clear()
	s.queues = s.queues[:0]
	clear(s.offered)
	quotas := c.passing(n, pe) != nil
	dealt := quotas && rule.kind == roundRobin
	masterFirst := quotas && !dealt && rule.kind != peSlots // lest the quotas leave nothing for the master
	hosts := math.MaxInt
	if l := c.atGlobal(); n.perHost && rule.kind != peSlots {
		hosts = c.hostsLeft(&l, n)
	}
	visit := func(k rank) bool {
		in := c.site.Instances[k.inst]
		if s.placed[in.Host.Index] != 0 {
			return true // its instances were all seen with the first
		}
		if !in.PEs.Has(pe) || !c.suits(n, in) {
			return true // a host stands where its first instance does that takes part
		}
		o := c.hostOffer(n, in.Host, pe)
		if len(o.queues) == 0 || o.queues[0].in != in {
			return true
		}
		c.underQuotas(n, pe, rule, o.lead > 0 && (masterFirst || rule.kind == peSlots), &o)
		if !rule.admitsOffer(&o) || masterFirst && o.lead == 0 {
			return true
		}
		if !dealt {
			c.takeQuotas(n, pe, rule, &o)
		}
		s.join(o, rule, want)
		return dealt || hosts < len(c.site.Hosts) || s.master < 0 || !rule.enough(s, want)
	}
	if masterFirst {
		c.scan(n, func(k rank) bool { return visit(k) && s.master < 0 })
		masterFirst = false
		if s.master < 0 {
			return
		}
	}
	c.scan(n, visit)
	s.limit(hosts, rule, want)
	if dealt && s.master >= 0 {
		s.lead()
		c.dealQuotas(n, pe, want)
	}
	if rule.kind == peSlots && s.master < 0 { // no host has all that is wanted: the largest
		for i := range s.hosts {
			if o := &s.hosts[i]; o.lead > 0 && (s.master < 0 || o.lead > s.hosts[s.master].lead) {
				s.master = i
			}
		}
	}
}

// clear forgets the gathered hosts.
func (s *gathering) clear() {
	s.hosts, s.total, s.takers, s.most, s.master = s.hosts[:0], 0, 0, 0, -1
}

// join adds a host that takes part.
func (s *gathering) join(o offer, rule rule, want int) {
	s.hosts = append(s.hosts, o)
	s.placed[o.host.Index] = len(s.hosts)
	if o.lead > 0 && !(rule.kind == peSlots && o.lead < want) &&
		(s.master < 0 || rule.gain(&o) > rule.gain(&s.hosts[s.master])) {
		s.master = len(s.hosts) - 1
	}
	s.total += rule.gives(o.slots)
	if o.slots > 0 {
		s.takers++
	}
	s.most = max(s.most, o.slots, o.lead)
}

// hostOffer is what a host can give to a need in a PE: its own resources, or
// the sum of its instances' if that is less.
func (c *search) hostOffer(n *Need, h *site.Host, pe string) (o offer) {
	now := c.nows.At(h.Index)
	onHost, _ := c.slots(c.atHost(h), n)
	if !onHost.any(n) {
		return o
	}
	o.host = h
	queues := c.scratch().queues
	for _, in := range h.Instances {
		if !c.usable(c.ranks.At(in.Index)) || c.closedByCalendar(in) || !in.PEs.Has(pe) || !c.suits(n, in) ||
			c.unknownAttr(n, grid.AllTasks, in, now) >= 0 {
			continue
		}
		r, _ := c.slots(c.atInstance(in), n)
		most := c.preemptedSlots(in)
		if !c.span.Ahead() && len(c.site.Policy.Adjustments) > 0 {
			most = min(most, c.alarmSlots(in, now, c.adjustment(h.Index)))
		}
		r = r.within(room{most, most})
		if onHost.lead == 0 {
			r.lead = 0
		}
		if r = c.inRoles(r, n, in, now); r.any(n) {
			queues = append(queues, queueOffer{in, r})
		}
	}
	o.queues = queues[len(c.scratch().queues):]
	c.scratch().queues = queues
	if len(o.queues) > 1 {
		slices.SortStableFunc(o.queues, func(a, b queueOffer) int {
			return c.ranks.At(a.in.Index).compare(*c.ranks.At(b.in.Index))
		})
	}
	o.sum(onHost)
	return o
}

// sum is what the queue instances give together within a room. That of the master task is the first that can have it.
func (o *offer) sum(most room) {
	all, more, leads := 0, 0, false
	for i := range o.queues {
		q := &o.queues[i]
		all += q.slots
		if !leads && q.lead > 0 {
			more, leads = q.lead-q.slots, true
		}
	}
	o.room = room{slots: all}.within(most)
	if o.lead = 0; leads {
		o.lead = min(all+more, most.lead)
	}
}

// rule is an allocation_rule, sge_pe(5).
type rule struct {
	kind  ruleKind
	fixed int
}

type ruleKind uint8

const (
	peSlots ruleKind = iota
	fillUp
	roundRobin
	fixedSlots
)

func parseRule(text string) (rule, bool) {
	switch text {
	case "$pe_slots":
		return rule{kind: peSlots}, true
	case "$fill_up":
		return rule{kind: fillUp}, true
	case "$round_robin":
		return rule{kind: roundRobin}, true
	}
	k, err := strconv.Atoi(text)
	return rule{fixedSlots, k}, err == nil && k > 0
}

// unit is what the amount of slots must be a multiple of, and what a host must offer to take part.
func (r rule) unit() int { return max(r.fixed, 1) }

// admitsOffer reports whether a host offers enough to take part. What it offers less than that, with the master or
// without, is nothing.
func (r rule) admitsOffer(o *offer) bool {
	for _, n := range [...]*int{&o.slots, &o.lead} {
		if *n < r.unit() {
			*n = 0
		}
	}
	return o.slots > 0 || o.lead > 0
}

// gives is how many of so many slots the rule takes of a host.
func (r rule) gives(slots int) int {
	if r.kind == fixedSlots {
		return min(slots, r.fixed)
	}
	return slots
}

// gain is how many slots more a host gives when the master is there.
func (r rule) gain(o *offer) int { return r.gives(o.lead) - r.gives(o.slots) }

// possible is the largest amount that the gathered hosts can give.
func (r rule) possible(s *gathering) int {
	switch {
	case r.kind == peSlots && s.master < 0:
		return s.most
	case r.kind == peSlots:
		return s.hosts[s.master].lead
	case s.master < 0:
		return s.total
	}
	return s.total + r.gain(&s.hosts[s.master])
}

// enough reports whether more hosts can change nothing.
func (r rule) enough(s *gathering, want int) bool {
	if r.kind == roundRobin {
		return s.takers >= want
	}
	return r.possible(s) >= want
}

// largest is the greatest amount in the ranges that is at most limit and a
// multiple of unit; 0 when there is none.
func largest(ranges grid.Ranges, limit, unit int) (best int) {
	for _, r := range ranges {
		first, last, step := int(r.First), limit, int(max(r.Step, 1))
		if r.Last != grid.Open {
			last = min(last, int(r.Last))
		}
		if last < first {
			continue
		}
		for n := first + (last-first)/step*step; n >= first && n > best; n -= step {
			if n%unit == 0 {
				best = n
				break
			}
		}
	}
	return best
}

// lead moves the master's host to the front; the others keep their order. What it gives is then with the master.
func (s *gathering) lead() {
	toFront(s.hosts, s.master)
	s.master = 0
	s.hosts[0].leading()
}

// leading has the host give its slots with the master, in the queue instance that can hold it, which comes to the
// front.
func (o *offer) leading() {
	toFront(o.queues, slices.IndexFunc(o.queues, func(q queueOffer) bool { return q.lead > 0 }))
	o.slots, o.queues[0].slots = o.lead, o.queues[0].lead
}

func toFront[T any](s []T, i int) {
	first := s[i]
	copy(s[1:i+1], s[:i])
	s[0] = first
}

// allocate distributes the slots over the gathered hosts, the master's first.
func (r rule) allocate(s *gathering, slots int) (Placement, bool) {
	hosts := s.hosts
	s.shares = append(s.shares[:0], make([]int, len(hosts))...)
	shares, left := s.shares, slots
	switch r.kind {
	case peSlots:
		shares[0], left = slots, 0
	case fixedSlots:
		for i := range hosts {
			if left > 0 && hosts[i].slots > 0 {
				shares[i], left = r.fixed, left-r.fixed
			}
		}
	case fillUp:
		for i := range hosts {
			shares[i] = min(left, hosts[i].slots)
			left -= shares[i]
		}
	case roundRobin:
		left = shareEvenly(hosts, shares, left)
	}
	if left > 0 || shares[0] == 0 || shares[0] > hosts[0].slots {
		return Placement{}, false
	}
	p := Placement{Slots: uint32(slots)}
	for i := range hosts {
		p.Grants = hosts[i].grant(p.Grants, shares[i])
	}
	return p, true
}

// shareEvenly gives one slot per host and pass; what it cannot give is left.
// Passes in which every host still has room are done at once.
func shareEvenly(hosts []offer, shares []int, left int) int {
	for left > 0 {
		open, room := 0, math.MaxInt
		for i := range hosts {
			if r := hosts[i].slots - shares[i]; r > 0 {
				open, room = open+1, min(room, r)
			}
		}
		if open == 0 {
			return left
		}
		passes := min(max(left/open, 1), room)
		for i := range hosts {
			if hosts[i].slots > shares[i] && left > 0 {
				give := min(passes, left)
				shares[i], left = shares[i]+give, left-give
			}
		}
	}
	return 0
}

// grant takes a host's share from its queue instances in order.
func (o *offer) grant(into []grid.Grant, share int) []grid.Grant {
	for i := range o.queues {
		q := &o.queues[i]
		if n := min(share, q.slots); n > 0 {
			into = append(into, grid.Grant{Queue: q.in.Queue.Name, Host: o.host.Name, Slots: uint32(n)})
			share -= n
		}
	}
	return into
}
