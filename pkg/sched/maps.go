package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Resource maps. Whether there are enough instances is a question of their number, like
// that of every consumable, except that a started task is counted by the instances that it
// holds. Which of them a task gets is decided when it starts: the first ones in the order of the
// map that no started task has, or those nearest to each other (nearest.go). A host with a map of its own gives from
// that one, the others from that of the cluster.

// mapsLeft returns by bit of which resource maps a host may have instances left: what it has
// of its own is not all in use, or it gives from the map of the cluster.
func (c *Cluster) mapsLeft(h *site.Host) (gives uint8) {
	use := c.ledger.At(h.Index)
	for i, column := range c.site.MapColumns {
		if use.Used(0, column)+complex.Tiny < h.Supply.Capacity[column] {
			gives |= 1 << i
		}
	}
	return gives
}

// reorderMaps follows the change of an instance's rank.
func (c *Cluster) reorderMaps(old, now rank) {
	for i := range c.mapOrder {
		if bit := uint8(1) << i; (old.gives|now.gives)&bit != 0 {
			line := c.mapOrder[i].Own()
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
func (c *search) orderFor(n *Need) ordered.Set[rank] {
	for i, column := range c.site.MapColumns {
		if slices.ContainsFunc(n.demands, func(d complex.Demand) bool {
			return d.Column == column && d.Amount > 0 && d.Master > 0
		}) {
			return c.mapOrder[i].Rows
		}
	}
	return c.order.Rows
}

// Instances chooses the instances of resource maps for a task that starts with these grants.
// The Reason says of which map too few are free: then more were granted than there are,
// as after a change of the map or of a running job's requests.
func (c *Cluster) Instances(j *grid.Job, grants []grid.Grant) (out []grid.MapGrant, why reason.Reason) {
	need := c.needOf(j)
	if !need.maps {
		return nil, reason.Reason{}
	}
	g := giver{c: c, need: need, grants: grants, selective: need.selections != nil || c.ledger.Selective()}
	if g.selective {
		g.window = grid.Window{Start: c.find.span.Now, End: c.clusterOf(j.AR).find.end(c.find.span.Now, need)}
	}
	for i, d := range need.demands {
		a := c.site.Attr(d.Column)
		if a.Type != grid.TypeMap {
			continue
		}
		g.demand, g.stock, g.taken = i, nil, nil
		for k, at := range grants {
			h, known := c.site.HostAt[at.Host]
			wanted := int(d.OnHost(grants, at.Host))
			if !known || !grid.FirstOnHost(grants, k) || wanted <= 0 {
				continue
			}
			n := grid.MapGrant{Resource: a.Name, Host: at.Host}
			m, global := c.site.MapOf(c.site.Hosts[h], d.Column)
			n.Global = global
			chosen := g.choose(&n, m, ledger.MapKey{Column: d.Column, Host: h}, wanted, out)
			if len(chosen) < wanted {
				return nil, reason.Reason{Code: reason.NotAtHost, Object: n.Host, What: requestText(j),
					Offer: "too few instances of " +
						n.Resource + " are free"}
			}
			name(&n, m, chosen)
			out = append(out, n)
		}
	}
	return out, reason.Reason{}
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
func (g *giver) choose(n *grid.MapGrant, m complex.Map, key ledger.MapKey, wanted int, granted []grid.MapGrant) []int {
	c, j, slots := g.c, g.need.Job, grid.SlotsOnHost(g.grants, n.Host)
	bad := c.site.Hosts[key.Host].Sick
	if n.Global {
		key.Host, bad = ledger.WholeCluster, c.site.Sick
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
		taken = takenOf(c.ledger, key)
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

// takenIDs are the ids of instances of a map that are taken, in order, each as often as it is.
type takenIDs []string

// takenOf returns what started tasks have of a map.
func takenOf(l *ledger.Ledger, m ledger.MapKey) *takenIDs {
	all := make(takenIDs, 0, 8)
	l.EachTaken(m, func(n ledger.Taken) {
		for range n.Times {
			all = append(all, n.ID)
		}
	})
	return &all
}

func (t takenIDs) count(id string) (n int) {
	for i, _ := slices.BinarySearch(t, id); i < len(t) && t[i] == id; i++ {
		n++
	}
	return n
}

func (t *takenIDs) add(id string) {
	i, _ := slices.BinarySearch(*t, id)
	*t = slices.Insert(*t, i, id)
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
	column, supply := c.site.ColumnOf(resource), &c.site.Global
	if h, known := c.site.HostAt[host]; known {
		supply = &c.site.Hosts[h].Supply
	} else if host != grid.GlobalHost {
		return nil
	}
	m := supply.Maps[column]
	for i := range m {
		out = append(out, InstanceUse{ID: m[i].ID, Free: m[i].Amount, Health: healthOf(c.st, resource, host, m[i].ID),
			Other: !of.Has(&m[i])})
	}
	c.find.whole().ledger.EachTaken(c.find.whole().ledger.MapAt(column, host), func(n ledger.Taken) {
		i := slices.IndexFunc(out, func(u InstanceUse) bool { return u.ID == n.ID })
		if i < 0 {
			return
		}
		out[i].Free = max(out[i].Free-n.Times, 0)
		if job := uint32(n.Task >> 32); !slices.Contains(out[i].Jobs, job) {
			out[i].Jobs = append(out[i].Jobs, job)
		}
	})
	return out
}

// free lists the instances of a map that no started task holds, a shared one as often as it
// can still be granted, with marks at those that are not in service.
func (c *Cluster) free(resource, host string, m complex.Map) (out []string) {
	all := c.find.whole().ledger
	key := all.MapAt(c.site.ColumnOf(resource), host)
	for i := range m {
		for n := all.TimesTaken(key, m[i].ID); n < m[i].Amount; n++ {
			out = append(out, m[i].ID+marks(c.st, resource, host, m[i].ID))
		}
	}
	return out
}

// marks are those of an instance that is not in service.
func marks(st *state.State, resource, host, id string) string {
	if i := healthOf(st, resource, host, id); i != nil {
		return i.Marks()
	}
	return ""
}

// healthOf returns what is wrong with an instance, nil when nothing is.
func healthOf(st *state.State, resource, host, id string) *grid.Instance {
	i, _ := st.Get(grid.KindInstance, (&grid.Instance{Resource: resource, ID: id, Host: host}).Key()).(*grid.Instance)
	return i
}

// outOfService is how many units of a resource map cannot be granted although no task has
// them. ahead: at a later time, when tasks that have such units now have ended.
func (c *search) outOfService(l *level, column int, ahead bool) (units float64) {
	all := c.whole().ledger
	for _, s := range l.Sick {
		switch {
		case s.Column != column:
		case ahead:
			units += float64(s.Amount)
		default:
			units += float64(max(s.Amount-all.TimesTaken(all.MapAt(column, l.Place), s.ID), 0))
		}
	}
	return units
}
