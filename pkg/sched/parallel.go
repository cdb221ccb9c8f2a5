package sched

import (
	"math"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
)

// search is the scratch space of looking for a parallel placement: the hosts
// that can take part, best first, each with what its instances offer.
type search struct {
	walk ordered.Cursor[rank] // see findFirst

	hosts   []offer
	placed  []int        // by host index: place in hosts plus one
	queues  []queueOffer // of all hosts
	line    []rank       // see lineUp
	full    []rank
	offered map[bucketKey]offered // what the hosts take under quotas
	total   int
	most    int // the most slots on one host
	master  int // the first host that can hold the master, -1: none yet

	shares   []int   // of the hosts, see allocate
	partners []*host // see earliestIn
	parts    []part
	times    []grid.Time
}

// offer is what one host can give.
type offer struct {
	host   *host
	slots  int
	master bool
	queues []queueOffer
}

type queueOffer struct {
	in     *instance
	slots  int
	master bool
}

// findParallel tries the matching PEs: the most slots win, then the fewest
// violations, then the first.
func (c *Cluster) findParallel(n *Need, global int) (best Placement, why Reason) {
	why = Reason{Code: PENoMatch, Object: n.Job.PE}
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
		return best, Reason{}
	}
	return best, why
}

// findInPE looks for the largest fitting amount of slots in one PE.
func (c *Cluster) findInPE(n *Need, i, global int) (Placement, Reason) {
	pe, j := c.pes[i], n.Job
	if !c.permits(j.Owner, j.Group, pe.UserLists, pe.XUserLists) {
		return Placement{}, Reason{Code: NoAccessPE, Object: pe.Name}
	}
	if j.PERange.First() > pe.Slots {
		return Placement{}, Reason{Code: PETotal, Object: pe.Name}
	}
	rule, ok := parseRule(pe.AllocationRule)
	if !ok {
		return Placement{}, Reason{Code: PERule, Object: pe.Name}
	}
	limit := min(global, c.peFree(i))
	want := largest(j.PERange, limit, rule.unit())
	if want == 0 {
		if largest(j.PERange, limit, 1) > 0 {
			return Placement{}, Reason{Code: PERule, Object: pe.Name}
		}
		return Placement{}, Reason{Code: PEOffersOnly, Object: pe.Name, Slots: limit}
	}
	c.gather(n, pe.Name, rule, want)
	s := &c.scratch
	possible := min(rule.possible(s), limit)
	slots := largest(j.PERange, possible, rule.unit())
	if slots == 0 || s.master < 0 {
		if s.master < 0 {
			possible = 0
		}
		return Placement{}, Reason{Code: PEOffersOnly, Object: pe.Name, Slots: possible}
	}
	p, ok := rule.allocate(s, n, slots)
	if !ok {
		return Placement{}, Reason{Code: PEOffersOnly, Object: pe.Name, Slots: possible}
	}
	p.PE = pe.Name
	if len(n.Job.Soft)+len(n.softQueue) > 0 {
		for _, g := range p.Grants {
			p.Violations += c.violations(n, c.granted(g))
		}
	}
	return p, Reason{}
}

// gather collects what hosts offer to a PE, in order, until the rule has
// enough for `want` slots.
func (c *Cluster) gather(n *Need, pe string, rule rule, want int) {
	s := &c.scratch
	if len(s.placed) != len(c.hosts) {
		s.placed = make([]int, len(c.hosts))
	} else {
		for _, o := range s.hosts {
			s.placed[o.host.index] = 0
		}
	}
	s.hosts, s.queues, s.total, s.most, s.master = s.hosts[:0], s.queues[:0], 0, 0, -1
	clear(s.offered)
	quotas := c.passing(n, pe) != nil
	dealt := quotas && rule.kind == roundRobin
	masterFirst := quotas && !dealt && rule.kind != peSlots // lest the quotas leave nothing for the master
	hosts := math.MaxInt
	if l := c.atGlobal(); n.perHost && rule.kind != peSlots {
		hosts = c.hostsLeft(&l, n)
	}
	visit := func(k rank) bool {
		in := c.instances[k.inst]
		if s.placed[in.host.index] != 0 {
			return true // its instances were all seen with the first
		}
		if !in.pes.Has(pe) || !c.suits(n, in) {
			return true // a host stands where its first instance does that takes part
		}
		o := c.hostOffer(n, in.host, pe)
		if len(o.queues) == 0 || o.queues[0].in != in {
			return true
		}
		c.underQuotas(n, pe, rule, &o)
		if o.slots < rule.least() || masterFirst && !o.master {
			return true
		}
		if !dealt {
			c.takeQuotas(n, pe, rule, &o)
		}
		s.hosts = append(s.hosts, o)
		s.placed[in.host.index] = len(s.hosts)
		if o.master && s.master < 0 && !(rule.kind == peSlots && o.slots < want) {
			s.master = len(s.hosts) - 1
		}
		s.total += o.slots
		s.most = max(s.most, o.slots)
		return dealt || hosts < len(c.hosts) || s.master < 0 || !rule.enough(s, want)
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
			if o := &s.hosts[i]; o.master && (s.master < 0 || o.slots > s.hosts[s.master].slots) {
				s.master = i
			}
		}
	}
}

// hostOffer is what a host can give to a need in a PE: its own resources, or
// the sum of its instances' if that is less.
func (c *Cluster) hostOffer(n *Need, h *host, pe string) (o offer) {
	now := c.nows.get(h.index)
	onHost, hostMaster, _ := c.slots(c.atHost(h, now), n)
	if onHost == 0 {
		return o
	}
	o.host = h
	sum, queues := 0, c.scratch.queues
	for k, in := range h.instances {
		if !c.usable(now.ranks[k]) || c.closedByCalendar(in) || !in.pes.Has(pe) || !c.suits(n, in) || c.unknownAttr(n, in, now) >= 0 {
			continue
		}
		slots, master, _ := c.slots(c.atInstance(in, now), n)
		slots = min(slots, c.preemptedSlots(in, now))
		if !c.ahead() && (len(now.starts) > 0 || len(c.policy.adjustments) > 0) {
			slots = min(slots, c.alarmSlots(in, now, c.factor(now)))
		}
		if slots == 0 {
			continue
		}
		master = master && hostMaster && (len(n.masters) == 0 || anyMatches(n.masters, in, c.st))
		queues = append(queues, queueOffer{in, slots, master})
		o.master = o.master || master
		sum += slots
	}
	o.queues = queues[len(c.scratch.queues):]
	c.scratch.queues = queues
	if len(o.queues) > 1 {
		slices.SortStableFunc(o.queues, func(a, b queueOffer) int {
			return now.ranks[a.in.place-1].compare(now.ranks[b.in.place-1])
		})
	}
	o.slots = min(sum, onHost)
	return o
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

// unit is what the amount of slots must be a multiple of; least is what a
// host must offer to take part.
func (r rule) unit() int { return max(r.fixed, 1) }

func (r rule) least() int { return max(r.fixed, 1) }

// possible is the largest amount that the gathered hosts can give.
func (r rule) possible(s *search) int {
	switch r.kind {
	case peSlots:
		if s.master < 0 {
			return s.most
		}
		return s.hosts[s.master].slots
	case fixedSlots:
		return len(s.hosts) * r.fixed
	}
	return s.total
}

// enough reports whether more hosts can change nothing.
func (r rule) enough(s *search, want int) bool {
	if r.kind == roundRobin {
		return len(s.hosts) >= want
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

// lead moves the master's host to the front, and on it the queue instance that
// can hold the master; the others keep their order.
func (s *search) lead() {
	toFront(s.hosts, s.master)
	s.master = 0
	s.hosts[0].lead()
}

// lead moves the queue instance that can hold the master to the front.
func (o *offer) lead() {
	toFront(o.queues, slices.IndexFunc(o.queues, func(q queueOffer) bool { return q.master }))
}

func toFront[T any](s []T, i int) {
	first := s[i]
	copy(s[1:i+1], s[:i])
	s[0] = first
}

// allocate distributes the slots over the gathered hosts, the master's first.
func (r rule) allocate(s *search, n *Need, slots int) (Placement, bool) {
	s.lead()
	hosts := s.hosts
	s.shares = append(s.shares[:0], make([]int, len(hosts))...)
	shares, left := s.shares, slots
	switch r.kind {
	case peSlots:
		shares[0], left = slots, 0
	case fixedSlots:
		for i := range hosts {
			if left > 0 {
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
			into = append(into, grid.Grant{Queue: q.in.queue.Name, Host: o.host.name, Slots: uint32(n)})
			share -= n
		}
	}
	return into
}
