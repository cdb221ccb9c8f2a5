package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Resource maps. Whether there are enough instances is a question of their number, like
// that of every consumable, except that a started task is counted by the instances that it
// holds. Which of them a task gets is decided when it starts: the first ones in the order of the
// map that no started task has, or those nearest to each other (nearest.go). A host with a map of its own gives from
// that one, the others from that of the cluster.

// mapsLeft returns by bit of which resource maps a host may have instances left: what it has
// of its own is not all in use, or it gives from the map of the cluster.
func (c *Cluster) mapsLeft(h *site.Host, n *hostNow) (gives uint8) {
	for i, column := range c.site.MapColumns {
		if n.row(0)[column]+complex.Tiny < h.Supply.Capacity[column] {
			gives |= 1 << i
		}
	}
	return gives
}

// reorderMaps follows the change of an instance's rank.
func (c *Cluster) reorderMaps(old, now rank) {
	for i := range c.mapOrder {
		if bit := uint8(1) << i; (old.gives|now.gives)&bit != 0 {
			line := c.mapOrder[i].own()
			if old.gives&bit != 0 {
				line.Delete(old)
			}
			if now.gives&bit != 0 {
				line.Set(now)
			}
		}
	}
}

// orderFor returns the instances that can take a job now, best first, without those whose hosts
// surely have no instance left of a resource map that the need asks for. In a cell where
// every slot could be taken, and no GPU, a search would else visit all hosts.
func (c *Cluster) orderFor(n *Need) ordered.Set[rank] {
	for i, column := range c.site.MapColumns {
		if slices.ContainsFunc(n.demands, func(d complex.Demand) bool {
			return d.Column == column && d.Amount > 0 && d.Master > 0
		}) {
			return c.mapOrder[i].rows
		}
	}
	return c.order.rows
}

// mapOf returns the resource map from which a host gives, and whether it is the cluster's.
func (c *Cluster) mapOf(h *site.Host, column int) (m complex.Map, global bool) {
	supply, global := c.givesMap(h, column)
	return supply.Maps[column], global
}

// givesMap returns the level that has this map: the host, else the cluster.
func (c *Cluster) givesMap(h *site.Host, column int) (supply *complex.Supply, global bool) {
	if h.Supply.Capacity[column] < complex.Unlimited {
		return &h.Supply, false
	}
	return &c.site.Global, true
}

// Instances chooses the instances of resource maps for a task that starts with these grants.
// The Reason says of which map too few are free: then more were granted than there are,
// as after a change of the map or of a running job's requests.
func (c *Cluster) Instances(j *grid.Job, grants []grid.Grant) (out []grid.MapGrant, why Reason) {
	need := c.needOf(j)
	if !need.maps {
		return nil, Reason{}
	}
	g := giver{c: c, need: need, grants: grants, selective: need.selections != nil || c.claims.selective > 0}
	if g.selective {
		g.window = grid.Window{Start: c.now, End: c.clusterOf(j.AR).end(c.now, need)}
	}
	for i, d := range need.demands {
		a := &c.site.Complex.List[c.site.Complex.Consumables[d.Column]]
		if a.Type != grid.TypeMap {
			continue
		}
		g.demand, g.stock, g.taken = i, nil, nil
		for k, at := range grants {
			h, known := c.site.HostAt[at.Host]
			wanted := int(d.OnHost(grants, at.Host))
			if !known || !firstOn(grants, k) || wanted <= 0 {
				continue
			}
			n := grid.MapGrant{Resource: a.Name, Host: at.Host}
			m, global := c.mapOf(c.site.Hosts[h], d.Column)
			n.Global = global
			chosen := g.choose(&n, m, stockKey{d.Column, h}, wanted, out)
			if len(chosen) < wanted {
				return nil, Reason{Code: NotAtHost, Object: n.Host, What: requestText(j), Offer: "too few instances of " +
					n.Resource + " are free"}
			}
			name(&n, m, chosen)
			out = append(out, n)
		}
	}
	return out, Reason{}
}

// giver chooses the instances of one demand after the other.
type giver struct {
	c         *Cluster
	need      *Need
	grants    []grid.Grant
	selective bool // characteristics decide: see stock
	window    grid.Window
	demand    int

	// Of the map of the cluster, with what the task has got on other hosts.
	stock *stock
	taken *takenIDs

	few [8]int // memory for what is chosen
}

// choose returns the places of the instances that a task gets of a map on a host, those nearest to what it has been
// granted; fewer than are wanted when too few are free.
func (g *giver) choose(n *grid.MapGrant, m complex.Map, key stockKey, wanted int, granted []grid.MapGrant) []int {
	c, j, slots := g.c, g.need.Job, slotsOn(g.grants, n.Host)
	bad := c.site.Hosts[key.host].Sick
	if n.Global {
		key.host, bad = wholeCluster, c.site.Sick
	}
	if g.selective {
		s := g.stock
		if !n.Global || s == nil {
			s = c.stock(key)
		}
		if n.Global {
			g.stock = s
		}
		of := g.need.selectionAt(g.demand)
		return s.choose(of, wanted, g.window, j.AR, c.nearestFirst(j, slots, key, granted, wanted, s.freeOf(of)))
	}
	taken := g.taken
	if !n.Global || taken == nil {
		taken = c.takenOf(key)
	}
	if n.Global {
		g.taken = taken
	}
	free := func(at int) int {
		if isSick(bad, n.Resource, m[at].ID) {
			return 0
		}
		return m[at].Amount - taken.count(m[at].ID)
	}
	return firstFree(g.few[:0], m, c.nearestFirst(j, slots, key, granted, wanted, free), free, taken, wanted)
}

// firstFree appends the places of the first instances that are free, and counts them as taken.
func firstFree(chosen []int, m complex.Map, order []int, free func(at int) int, taken *takenIDs, wanted int) []int {
	for k := 0; k < len(m) && len(chosen) < wanted; k++ {
		i := inOrder(order, k)
		for n := free(i); n > 0 && len(chosen) < wanted; n-- {
			taken.add(m[i].ID)
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// name names the instances of a grant, and their UUIDs where all are known.
func name(n *grid.MapGrant, m complex.Map, chosen []int) {
	n.IDs = make([]string, 0, len(chosen))
	for _, i := range chosen {
		n.IDs = append(n.IDs, m[i].ID)
		if uuid, known := m[i].Traits.Get("uuid"); known {
			n.UUIDs = append(n.UUIDs, uuid)
		}
	}
	if len(n.UUIDs) < len(n.IDs) {
		n.UUIDs = nil
	}
}

// withInstances adds to demands the resource maps of which a task holds instances that its job
// does not ask for, as after qalter.
func (c *Cluster) withInstances(demands []complex.Demand, maps []grid.MapGrant) []complex.Demand {
	for i := range maps {
		column := c.columnOf(maps[i].Resource)
		if column > 0 && !slices.ContainsFunc(demands, func(d complex.Demand) bool { return d.Column == column }) {
			demands = append(demands, complex.Demand{Column: column})
		}
	}
	return demands
}

// amount is what one of the grants takes of a demand at a level. A task that has started takes the
// instances of a resource map that it holds, counted with its first grant on the host, as is what is
// taken per host. started is nil for a task that has not: what its job asks for counts.
func (c *Cluster) amount(
	l *level, d *complex.Demand, grants []grid.Grant, k int, started *grid.JATask,
) (units float64) {
	switch {
	case started == nil && d.Binding == nil && !d.PerHost: // as most are
		return d.Of(grants[k].Slots, k == 0)
	case d.Column == c.site.Complex.Threads:
		return threads(l, d, grants, k, started)
	}
	attr := &c.site.Complex.List[c.site.Complex.Consumables[d.Column]]
	if holds := started != nil && attr.Type == grid.TypeMap; (holds || d.PerHost) && !firstOn(grants, k) {
		return 0
	} else if !holds {
		return d.Of(grants[k].Slots, k == 0)
	}
	for i := range started.Maps {
		if m := &started.Maps[i]; m.Resource == attr.Name && m.Host == grants[k].Host {
			if known := l.place != "" && c.ar == nil && l.supply.Capacity[d.Column] < complex.Unlimited; known &&
				m.Global != (l.place == grid.GlobalHost) {
				continue // of another map than the one that the level has
			}
			units += float64(len(m.IDs))
		}
	}
	return units
}

// useShared counts the instances that a started task holds of maps that shareMaps made limits of
// some hosts, wherever it runs.
func (c *Cluster) useShared(j *grid.Job, u use) {
	for i := range u.task.Maps {
		if m := &u.task.Maps[i]; m.Global {
			c.addShared(c.columnOf(m.Resource), float64(len(m.IDs)), j.AR != 0, u)
		}
	}
}

// planShared plans what an advance reservation takes of such maps.
func (c *Cluster) planShared(demands []complex.Demand, grants []grid.Grant, u use) {
	for i := range demands {
		d := &demands[i]
		for k, g := range grants {
			h, known := c.site.HostAt[g.Host]
			if !known || !firstOn(grants, k) {
				continue
			}
			if _, global := c.mapOf(c.site.Hosts[h], d.Column); global {
				c.addShared(d.Column, d.OnHost(grants, g.Host), false, u)
			}
		}
	}
}

// addShared counts instances of the map of the cluster where it is a limit of some hosts. Those of
// guests, tasks of advance reservations, are planned for their reservation.
func (c *Cluster) addShared(column int, units float64, guests bool, u use) {
	for _, r := range c.site.Quotas.Rules {
		if !r.Shared || column < 0 || r.Source.Capacity[column] == complex.Unlimited {
			continue
		}
		b := c.ownBucket(site.BucketKey{Rule: r.Index})
		l := level{supply: &r.Source, used: b.used, plans: b.plans}
		if guests {
			if b.guests == nil {
				b.guests = make([]float64, len(b.used))
			}
			l.used, l.plans = b.guests, nil
		}
		c.addAmount(&l, column, units, u)
	}
}

func isSick(bad []site.Sick, resource, id string) bool {
	return len(bad) > 0 && slices.ContainsFunc(bad, func(s site.Sick) bool { return s.ID == id && s.Resource == resource })
}

// InstanceUse is an instance of a resource map: how often it can still be granted, and which jobs
// hold it.
type InstanceUse struct {
	ID     string
	Free   int
	Jobs   []uint32
	Health *grid.Instance // nil: it is in service
	Other  bool           // it is not selected
}

// InstanceUses lists the instances of the map of a host or of "global", in its order, and whether they
// are of a selection; nil selects all.
func (c *Cluster) InstanceUses(resource, host string, of *complex.Selection) (out []InstanceUse) {
	c.settle()
	column, supply := c.columnOf(resource), &c.site.Global
	if h, known := c.site.HostAt[host]; known {
		supply = &c.site.Hosts[h].Supply
	} else if host != grid.GlobalHost {
		return nil
	}
	m := supply.Maps[column]
	for i := range m {
		out = append(out, InstanceUse{ID: m[i].ID, Free: m[i].Amount, Health: c.healthOf(resource, host, m[i].ID),
			Other: !of.Has(&m[i])})
	}
	c.eachTaken(c.stockAt(column, host), func(n taken) {
		i := slices.IndexFunc(out, func(u InstanceUse) bool { return u.ID == n.id })
		if i < 0 {
			return
		}
		out[i].Free = max(out[i].Free-n.times, 0)
		if job := uint32(n.task >> 32); !slices.Contains(out[i].Jobs, job) {
			out[i].Jobs = append(out[i].Jobs, job)
		}
	})
	return out
}

// columnOf returns the column of a consumable, -1 when there is none.
func (c *Cluster) columnOf(resource string) int {
	if i := c.site.Complex.Find(resource); i >= 0 {
		return c.site.Complex.List[i].Column
	}
	return -1
}

// free lists the instances of a map that no started task holds, a shared one as often as it
// can still be granted, with marks at those that are not in service.
func (c *Cluster) free(resource, host string, m complex.Map) (out []string) {
	key := c.stockAt(c.columnOf(resource), host)
	for i := range m {
		for n := c.timesTaken(key, m[i].ID); n < m[i].Amount; n++ {
			out = append(out, m[i].ID+c.marks(resource, host, m[i].ID))
		}
	}
	return out
}

// marks are those of an instance that is not in service.
func (c *Cluster) marks(resource, host, id string) string {
	if i := c.healthOf(resource, host, id); i != nil {
		return i.Marks()
	}
	return ""
}

// healthOf returns what is wrong with an instance, nil when nothing is.
func (c *Cluster) healthOf(resource, host, id string) *grid.Instance {
	i, _ := c.st.Get(grid.KindInstance, (&grid.Instance{Resource: resource, ID: id, Host: host}).Key()).(*grid.Instance)
	return i
}

// outOfService is how many units of a resource map cannot be granted although no task has
// them. ahead: at a later time, when tasks that have such units now have ended.
func (c *Cluster) outOfService(l *level, column int, ahead bool) (units float64) {
	for _, s := range l.sick {
		switch {
		case s.Column != column:
		case ahead:
			units += float64(s.Amount)
		default:
			units += float64(max(s.Amount-c.timesTaken(c.stockAt(column, l.place), s.ID), 0))
		}
	}
	return units
}
