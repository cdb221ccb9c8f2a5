package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Consumables that are taken once per host, complex(5) consumable HOST. A host or queue instance has
// the amount or not, however many slots a job gets there (level.slots). What is limited for several hosts
// together, in the cluster or by a resource quota, limits on how many hosts a job can be.

// hostsLeft returns on how many hosts a level allows a need to be.
func (c *search) hostsLeft(l *level, n *Need) int {
	hosts := math.MaxInt
	if !n.perHost {
		return hosts
	}
	for i := range n.demands {
		d := &n.demands[i]
		if !d.PerHost || d.Amount <= 0 || l.Supply.Capacity[d.Column] == complex.Unlimited {
			continue
		}
		left := c.corrected(l, d.Column, c.span.Ahead()) - l.InUse(d.Column, &c.span)
		if c.selects(l, n) {
			left = min(left, c.selected(l, n, i, c.span.Window))
		}
		hosts = min(hosts, int(max(math.Floor(left/d.Amount+complex.Tiny), 0)))
	}
	if l.whole != nil && !c.span.Ahead() {
		hosts = min(hosts, c.hostsLeft(l.whole, n))
	}
	return hosts
}

// hostsFit reports whether a level allows a need to be on so many hosts.
func (c *search) hostsFit(l *level, n *Need, hosts int) bool {
	return !n.perHost || hosts <= c.hostsLeft(l, n)
}

// perHostAttr returns the first attribute that a need takes per host.
func (c *search) perHostAttr(n *Need) int {
	i := slices.IndexFunc(n.demands, func(d complex.Demand) bool { return d.PerHost && d.Amount > 0 })
	return c.site.Complex.Consumables[n.demands[i].Column]
}

// hostsOf returns on how many hosts grants are.
func hostsOf(grants []grid.Grant) (hosts int) {
	for k := range grants {
		if grid.FirstOnHost(grants, k) {
			hosts++
		}
	}
	return hosts
}

// limit leaves so many of the gathered hosts: the first ones if they have what is wanted, else those with
// the most slots; one of them for the master if any can have it.
func (s *gathering) limit(hosts int, rule rule, want int) {
	if len(s.hosts) <= hosts {
		return
	}
	sum, leads := 0, false
	for _, o := range s.hosts[:hosts] {
		sum, leads = sum+rule.gives(o.slots), leads || o.lead > 0
	}
	if sum < want || !leads {
		byRank := slices.Clone(s.hosts)
		slices.SortStableFunc(byRank, func(a, b offer) int { return cmp.Compare(b.slots, a.slots) })
		if chief := slices.IndexFunc(byRank, func(o offer) bool { return o.lead > 0 }); chief >= hosts && hosts > 0 {
			byRank[hosts-1], byRank[chief] = byRank[chief], byRank[hosts-1]
		}
		keep := byRank[:hosts]
		s.hosts = slices.DeleteFunc(s.hosts, func(o offer) bool {
			kept := slices.ContainsFunc(keep, func(k offer) bool { return k.host == o.host })
			if !kept {
				s.placed[o.host.Index] = 0
			}
			return !kept
		})
	}
	for _, o := range s.hosts[hosts:] {
		s.placed[o.host.Index] = 0
	}
	kept := s.hosts[:hosts]
	s.clear()
	for i := range kept {
		s.join(kept[i], rule, want)
	}
}

// offered is what a parallel job is to get under a quota already.
type offered struct {
	slots  int
	master bool         // the slot of the master task is one of them
	hosts  []*site.Host // where; only for needs that take something per host
}

// leaves is what is left of a room.
func (o offered) leaves(r room) room {
	if o.master {
		return room{slots: r.lead - o.slots}
	}
	return room{r.slots - o.slots, r.lead - o.slots}
}

// more returns it with slots on a host, the master's among them or not.
func (o offered) more(n *Need, h *site.Host, slots int, master bool) offered {
	o.slots += slots
	o.master = o.master || master
	if n.perHost && slots > 0 && !slices.Contains(o.hosts, h) {
		o.hosts = append(slices.Clone(o.hosts), h)
	}
	return o
}

// with returns on how many hosts it is with one of them.
func (o offered) with(h *site.Host) int {
	if slices.Contains(o.hosts, h) {
		return len(o.hosts)
	}
	return len(o.hosts) + 1
}
