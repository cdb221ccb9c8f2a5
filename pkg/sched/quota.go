package sched

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/state"
)

// Resource quotas, sge_resource_quota(5). In each enabled set the first rule applies
// whose filters match a job in an instance. The use of its jobs is counted in buckets:
// one for the whole rule, or one for each user, project, PE, queue or host where the
// filter stands in braces. A bucket is a level like a host: the same test asks it what it
// can give, the same count fills it, and it has diagrams where diagrams are kept.

// quotas are the rules of the enabled sets.
type quotas struct {
	rules []*quotaRule
	sets  []int // where each set's rules begin, and the end of the last
	idle  []float64
	reads attrSet // from which dynamic limits follow
}

// quotaRule is a rule made ready to be matched.
type quotaRule struct {
	grid.QuotaRule
	set, called string
	index       int
	source      complex.Supply // static limits
	dynamic     []dynamicLimit // those that follow from values of the host
	hosts       []bool         // by host index
	queues      map[string]bool
	shared      bool // no rule but a resource map, see shareMaps
}

type dynamicLimit struct {
	attr  int
	terms []dynamicTerm
}

type dynamicTerm struct {
	attr   int // -1: the factor alone
	factor float64
}

// bucketKey identifies a bucket; by is empty where the rule has one limit for all.
type bucketKey struct {
	rule int
	by   [grid.QuotaFilters]string
}

func (k bucketKey) compare(o bucketKey) int {
	if k.rule != o.rule {
		return cmp.Compare(k.rule, o.rule)
	}
	return slices.Compare(k.by[:], o.by[:])
}

// String is how messages name a bucket: user/project/pe/queue/host/.
func (k bucketKey) String() string { return strings.Join(k.by[:], "/") + "/" }

// bucket is what jobs take under a rule. Like a hostNow it is cloned before
// the first write after a copy.
type bucket struct {
	key    bucketKey
	token  *byte
	used   []float64
	plans  []*diagram
	guests []float64 // of a shared map: what tasks of advance reservations take of it; nil: nothing
}

func newBuckets() ordered.Set[*bucket] {
	return ordered.NewSet(func(a, b *bucket) bool { return a.key.compare(b.key) < 0 })
}

// resolveQuotas makes the rules ready. It comes after hosts, queues and sets.
func (l *layout) resolveQuotas(st *state.State) {
	l.quotas.idle = make([]float64, len(l.complex.Consumables))
	st.Each(grid.KindRQS, func(o grid.Object) bool {
		set := o.(*grid.RQS)
		if !set.Enabled {
			return true
		}
		l.quotas.sets = append(l.quotas.sets, len(l.quotas.rules))
		for place, text := range set.Limits {
			if r, err := grid.ParseQuotaRule(text); err == nil {
				l.addQuota(st, set.Name, place, r)
			}
		}
		return true
	})
	l.shareMaps()
	l.quotas.sets = append(l.quotas.sets, len(l.quotas.rules))
}

func (l *layout) addQuota(st *state.State, set string, place int, r grid.QuotaRule) {
	q := &quotaRule{QuotaRule: r, set: set, called: r.Called(place), index: len(l.quotas.rules), queues: map[string]bool{}}
	var static grid.Values
	for _, v := range r.Limits {
		attr := l.complex.Find(v.Name)
		if attr < 0 {
			continue
		}
		terms, formula, _ := grid.ParseQuotaFormula(v.Text)
		if !formula {
			static = append(static, v)
			continue
		}
		d := dynamicLimit{attr: attr}
		for _, t := range terms {
			x := dynamicTerm{-1, t.Factor}
			if t.Attribute != "" {
				if x.attr = l.complex.Find(t.Attribute); x.attr >= 0 {
					l.quotas.reads.add(x.attr)
				}
			}
			d.terms = append(d.terms, x)
		}
		q.dynamic = append(q.dynamic, d)
	}
	q.source = l.complex.Supply(static)
	q.source.Forced = nil
	for _, h := range l.hosts {
		q.hosts = append(q.hosts, passes(r.Filters[grid.QuotaHosts].List, h.name, func(group string) bool {
			return InGroup(st, pattern.Compile(group, false), h.name)
		}))
	}
	for _, in := range l.instances {
		if _, seen := q.queues[in.queue.Name]; !seen {
			q.queues[in.queue.Name] = passes(r.Filters[grid.QuotaQueues].List, in.queue.Name, nil)
		}
	}
	for _, n := range r.Filters[grid.QuotaUsers].List {
		if set, ok := strings.CutPrefix(strings.TrimPrefix(n, "!"), "@"); ok {
			l.referred = append(l.referred, set)
		}
	}
	l.quotas.rules = append(l.quotas.rules, q)
}

// passes reports whether a filter lets a name pass: one of the list has it, or
// the list only excludes, and none that excludes has it. has answers for
// @sets. The name "" is no project, no PE: only a list that excludes lets it
// pass.
func passes(list grid.Names, name string, has func(set string) bool) bool {
	matches := func(word string) bool {
		if strings.HasPrefix(word, "@") && has != nil {
			return has(word)
		}
		return name != "" && pattern.Match(word, name)
	}
	found, named := false, false
	for _, n := range list {
		if x, not := strings.CutPrefix(n, "!"); not {
			if matches(x) {
				return false
			}
			continue
		}
		named = true
		found = found || matches(n)
	}
	return found || !named
}

// quotasFor returns for each rule whether its filters for users, projects and PEs
// let a job pass. A job of an advance reservation passes none.
func (l *layout) quotasFor(j *grid.Job, pe string) []bool {
	if len(l.quotas.rules) == 0 || j.AR != 0 {
		return nil
	}
	out := make([]bool, len(l.quotas.rules))
	for i, r := range l.quotas.rules {
		out[i] = passes(r.Filters[grid.QuotaUsers].List, j.Owner, func(set string) bool { return l.sets[set[1:]].contains(j.Owner, j.Group) }) &&
			passes(r.Filters[grid.QuotaProjects].List, j.Project, nil) && passes(r.Filters[grid.QuotaPEs].List, pe, nil)
	}
	return out
}

// eachQuota calls f with the bucket of each set that holds for a job in an
// instance, until f returns false. passing is quotasFor.
func (l *layout) eachQuota(passing []bool, j *grid.Job, pe string, in *instance, f func(r *quotaRule, key bucketKey) bool) {
	if passing == nil {
		return
	}
	for s := 1; s < len(l.quotas.sets); s++ {
		for _, r := range l.quotas.rules[l.quotas.sets[s-1]:l.quotas.sets[s]] {
			if !passing[r.index] || !r.hosts[in.host.index] || !r.queues[in.queue.Name] {
				continue
			}
			key := bucketKey{rule: r.index}
			for i, name := range [grid.QuotaFilters]string{j.Owner, j.Project, pe, in.queue.Name, in.host.name} {
				if r.Filters[i].Each {
					key.by[i] = name
				}
			}
			if !f(r, key) {
				return
			}
			break // the first that matches holds for its set
		}
	}
}

// atQuota is a bucket as a level.
func (c *Cluster) atQuota(r *quotaRule, key bucketKey, in *instance) level {
	l := level{supply: &r.source, used: c.quotas.idle}
	if b, ok := c.buckets.rows.Get(&bucket{key: key}); ok {
		l.used, l.plans, l.guests = b.used, b.plans, b.guests
	}
	if len(r.dynamic) > 0 {
		l.supply = c.dynamicSource(r, in.host)
	}
	if r.shared {
		l.sick, l.place = c.layout.sick, grid.GlobalHost
	}
	return l
}

// dynamicSource is a rule's limits where some follow from a host's values. A
// value that is not known limits nothing.
func (c *Cluster) dynamicSource(r *quotaRule, h *host) *complex.Supply {
	s := complex.Supply{Capacity: slices.Clone(r.source.Capacity), Fixed: map[int]complex.Value{}}
	for i, v := range r.source.Fixed {
		s.Fixed[i] = v
	}
	for _, d := range r.dynamic {
		sum := 0.0
		for _, t := range d.terms {
			v := 1.0
			if t.attr >= 0 {
				v = c.hostValue(h, t.attr)
			}
			sum += t.factor * v
		}
		a := &c.complex.List[d.attr]
		if a.Column >= 0 {
			s.Capacity[a.Column] = sum
		} else {
			s.Fixed[d.attr] = complex.Value{Number: sum, Text: a.Format(sum)}
		}
	}
	return &s
}

// hostValue is a configured or reported value of a host.
func (c *Cluster) hostValue(h *host, attr int) float64 {
	if b := c.complex.List[attr].Column; b >= 0 && h.supply.Capacity[b] < complex.Unlimited {
		return h.supply.Capacity[b]
	}
	for _, s := range [...]*complex.Supply{&h.supply, &c.layout.global} {
		if v, ok := s.Fixed[attr]; ok {
			return v.Number
		}
	}
	if v, ok := c.loadOf(c.nows.get(h.index), 0, attr); ok {
		return v
	}
	return complex.Unlimited
}

// quotaSlots is the room that the quotas leave in an instance to a need. hit is the bucket that leaves none.
// given is what a parallel job is to get under the same buckets already.
func (c *Cluster) quotaSlots(n *Need, pe string, in *instance, given map[bucketKey]offered) (left room, hit Reason) {
	left = room{unlimitedSlots, unlimitedSlots}
	c.eachQuota(c.passing(n, pe), n.Job, pe, in, func(r *quotaRule, key bucketKey) bool {
		l := c.atQuota(r, key, in)
		s, narrow := c.slots(l, n)
		s = given[key].leaves(s)
		if !s.any(n) || !c.hostsFit(&l, n, given[key].with(in.host)) || !c.underFixed(l.supply, n) {
			left = room{}
			hit = Reason{Code: OverQuota, Object: r.set + "/" + r.called, What: key.String()}
			if r.shared {
				hit = c.offersOnly(NotAtHost, in.host.name, "g", l, n, narrow)
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
func (c *Cluster) passing(n *Need, pe string) []bool {
	if len(c.quotas.rules) == 0 {
		return nil
	}
	if n.passing == nil {
		n.passing = map[string][]bool{}
	}
	p, seen := n.passing[pe]
	if !seen {
		p = c.quotasFor(n.Job, pe)
		n.passing[pe] = p
	}
	return p
}

// underFixed compares the requests with limits that are not booked. A resource that a job
// does not request is not limited.
func (c *Cluster) underFixed(s *complex.Supply, n *Need) bool {
	for i := range n.conditions {
		k := &n.conditions[i]
		if v, ok := s.Fixed[k.Attr]; ok && !k.Satisfied(&c.complex.List[k.Attr], v) {
			return false
		}
	}
	return true
}

// underQuotas cuts what a host offers to a parallel job to what the quotas
// leave beside what other hosts offer already. leads: it offers it with the master task, else without. Its queues are cut to what it
// gives in all, so that whichever of them are taken, the quotas hold. Under $round_robin they are cut one by one: see dealQuotas.
func (c *Cluster) underQuotas(n *Need, pe string, rule rule, leads bool, o *offer) {
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
	here := map[bucketKey]offered{}
	if rule.kind != peSlots { // else one host has it all
		maps.Copy(here, c.scratch.offered)
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
func (c *Cluster) takeQuotas(n *Need, pe string, rule rule, o *offer) {
	if c.passing(n, pe) == nil || rule.kind == peSlots {
		return
	}
	if c.scratch.offered == nil {
		c.scratch.offered = map[bucketKey]offered{}
	}
	for i, q := range o.queues {
		c.offerQuota(n, pe, q.in, q.slots, i == 0 && o.lead > 0, c.scratch.offered)
	}
}

// dealQuotas cuts what hosts offer under $round_robin to what the quotas leave
// to all of them together: slots are dealt as the rule gives them, one per host
// and pass, the master's first.
func (c *Cluster) dealQuotas(n *Need, pe string, want int) {
	s := &c.scratch
	given := map[bucketKey]offered{}
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

// dealTo deals one slot to a host, if its instances and the quotas leave one. The first of all is that of the master task, whose
// host and queue instance lead has moved to the front.
func (c *Cluster) dealTo(n *Need, pe string, o *offer, dealt []int, first bool, given map[bucketKey]offered) bool {
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
func (c *Cluster) offerQuota(n *Need, pe string, in *instance, slots int, master bool, given map[bucketKey]offered) {
	c.eachQuota(c.passing(n, pe), n.Job, pe, in, func(_ *quotaRule, key bucketKey) bool {
		given[key] = given[key].more(n, in.host, slots, master)
		return true
	})
}

// fitsQuotas checks the grants of a task together.
func (c *Cluster) fitsQuotas(n *Need, grants []grid.Grant, pe string) (why Reason) {
	if len(c.quotas.rules) == 0 {
		return Reason{}
	}
	given := map[bucketKey]offered{}
	for k, g := range grants {
		in := c.granted(g)
		if in == nil {
			continue
		}
		left, hit := c.quotaSlots(n, pe, in, given)
		if !left.holds(int(g.Slots), k == 0) {
			if hit.Fits() {
				hit = Reason{Code: GrantSlots, Object: in.name, Slots: left.slots}
			}
			return hit
		}
		c.offerQuota(n, pe, in, int(g.Slots), k == 0, given)
	}
	return why
}

// useQuotas counts what grants take under the quotas.
func (c *Cluster) useQuotas(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	if u.task != nil {
		c.useShared(j, u)
	}
	passing := c.quotasFor(j, pe)
	if passing == nil {
		return
	}
	for k, g := range grants {
		in := c.granted(g)
		if in == nil {
			continue
		}
		c.eachQuota(passing, j, pe, in, func(r *quotaRule, key bucketKey) bool {
			if r.shared && u.task != nil {
				return true // counted by what it holds
			}
			b := c.ownBucket(key)
			l := level{supply: &r.source, used: b.used, plans: b.plans}
			if len(r.dynamic) > 0 {
				l.supply = c.dynamicSource(r, in.host)
			}
			c.add(&l, demands, grants, k, u)
			return true
		})
	}
}

// sharedAt returns the levels of the maps of the cluster that some hosts share, for a host that does: each
// is a part of the next.
func (c *Cluster) sharedAt(h *host) (all *level) {
	for _, r := range c.quotas.rules {
		if r.shared && r.hosts[h.index] {
			l := c.atQuota(r, bucketKey{rule: r.index}, nil).around()
			l.whole, all = all, l
		}
	}
	return all
}

// ownBucket returns a bucket for writing.
func (c *Cluster) ownBucket(key bucketKey) *bucket {
	b, ok := c.buckets.rows.Get(&bucket{key: key})
	switch {
	case !ok:
		b = &bucket{key: key, token: c.nows.token, used: make([]float64, len(c.quotas.idle))}
		if c.planning {
			b.plans = make([]*diagram, len(b.used))
		}
	case b.token == c.nows.token:
		return b
	default:
		b = &bucket{key, c.nows.token, slices.Clone(b.used), slices.Clone(b.plans), slices.Clone(b.guests)}
	}
	c.buckets.own().Set(b)
	return b
}

// sharesQuota reports whether what a task gives back may help jobs on other
// hosts: some quota that it falls under is not a host's own.
func (c *Cluster) sharesQuota(j *grid.Job, grants []grid.Grant, pe string) (shared bool) {
	passing := c.quotasFor(j, pe)
	if passing == nil {
		return false
	}
	for _, g := range grants {
		if in := c.granted(g); in != nil {
			c.eachQuota(passing, j, pe, in, func(r *quotaRule, _ bucketKey) bool {
				shared = !r.Filters[grid.QuotaHosts].Each
				return !shared
			})
		}
		if shared {
			return true
		}
	}
	return false
}

// appendQuotas adds to a category what the quotas see of a job: who it belongs
// to where each user has a limit, else which rules let the user pass. The same
// of projects.
func (c *Cluster) appendQuotas(b []byte, j *grid.Job) []byte {
	for i, name := range [...]string{grid.QuotaUsers: j.Owner, grid.QuotaProjects: j.Project} {
		bits := make([]byte, 0, 16)
		each, any := false, false
		for _, r := range c.quotas.rules {
			f := &r.Filters[i]
			if len(f.List) == 0 {
				continue
			}
			pass := passes(f.List, name, func(set string) bool { return c.sets[set[1:]].contains(j.Owner, j.Group) })
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

// basis writes down what categories depend on.
func (q *quotas) basis(b []byte) []byte {
	for _, r := range q.rules {
		b = append(append(append(b, r.set...), ' '), r.String()...)
		b = append(b, '\n')
	}
	return b
}
