package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// A claim is a number of instances of one resource map that is taken without that it is known which:
// by a placement that a run has booked, by a reservation of the run or by an advance
// reservation. Started tasks are none: theirs are known.
type claim struct {
	stockKey
	units  int
	of     *complex.Selection // nil: any of the map
	window grid.Window
	ar     uint32    // the advance reservation whose instances they are
	booked bool      // started in this run, not only planned
	job    *grid.Job // that was booked, with slots on the host
	slots  uint32
}

// stockKey names a resource map: its column and the index of its host, wholeCluster for that of "global".
type stockKey struct{ column, host int }

const wholeCluster = -1

// stockAt is the key of the map of a column that a host of the cluster has, or "global".
func (c *Cluster) stockAt(column int, place string) stockKey {
	if place == grid.GlobalHost {
		return stockKey{column, wholeCluster}
	}
	return stockKey{column, c.whole().site.HostAt[place]}
}

// claims are those of a cluster, of its advance reservations' jobs as well.
type claims struct {
	list      []claim
	at        map[stockKey][]int // by map: places in list; nil: to be made
	selective int                // how many are planned and select by characteristics
}

// lend returns a copy in memory that an earlier copy had.
func (l *claims) lend(was claims) claims {
	return claims{list: again(was.list, l.list), selective: l.selective}
}

func (l *claims) copy() claims { return claims{list: slices.Clone(l.list), selective: l.selective} }

func (l *claims) add(k claim) {
	if l.at != nil {
		l.at[k.stockKey] = append(l.at[k.stockKey], len(l.list))
	}
	l.list = append(l.list, k)
	if k.of != nil && !k.booked {
		l.selective++
	}
}

// drop removes the last claim that is like one.
func (l *claims) drop(k claim) {
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i] == k {
			l.list, l.at = slices.Delete(l.list, i, i+1), nil
			return
		}
	}
}

// on calls f with the claims of a map in the order in which they were made.
func (l *claims) on(k stockKey, f func(*claim)) {
	if l.at == nil {
		l.at = map[stockKey][]int{}
		for i := range l.list {
			l.at[l.list[i].stockKey] = append(l.at[l.list[i].stockKey], i)
		}
	}
	for _, i := range l.at[k] {
		f(&l.list[i])
	}
}

// whole is the cluster that an advance reservation is a part of.
func (c *Cluster) whole() *Cluster {
	if c.of != nil {
		return c.of
	}
	return c
}

// eachClaim calls f with what grants take of resource maps.
func (c *Cluster) eachClaim(
	demands []complex.Demand, selections []*complex.Selection, grants []grid.Grant, f func(claim),
) {
	if len(c.site.MapColumns) == 0 {
		return
	}
	for i := range demands {
		d := &demands[i]
		if c.site.Complex.List[c.site.Complex.Consumables[d.Column]].Type != grid.TypeMap {
			continue
		}
		for k, g := range grants {
			h, known := c.site.HostAt[g.Host]
			if !known || !firstOn(grants, k) {
				continue
			}
			units := int(d.OnHost(grants, g.Host))
			m, global := c.mapOf(c.site.Hosts[h], d.Column)
			if units == 0 || m == nil {
				continue
			}
			n := claim{stockKey: stockKey{d.Column, h}, units: units}
			if global {
				n.host = wholeCluster
			}
			if selections != nil {
				n.of = selections[i]
			}
			n.slots = slotsOn(grants, g.Host)
			f(n)
		}
	}
}

// firstOn reports whether a grant is the first one on its host.
func firstOn(grants []grid.Grant, k int) bool {
	return !slices.ContainsFunc(grants[:k], func(g grid.Grant) bool { return g.Host == grants[k].Host })
}

// claim notes what a placement of a need takes of resource maps.
func (c *Cluster) claim(n *Need, p Placement, w grid.Window, booked bool) {
	c.eachClaim(n.demands, n.selections, p.Grants, func(k claim) {
		k.window, k.ar, k.booked, k.job = w, n.Job.AR, booked, n.Job
		c.claims.add(k)
	})
}

// unclaim takes a claim of what was booked back.
func (c *Cluster) unclaim(n *Need, p Placement, w grid.Window) {
	c.eachClaim(n.demands, n.selections, p.Grants, func(k claim) {
		k.window, k.ar, k.booked, k.job = w, n.Job.AR, true, n.Job
		c.claims.drop(k)
	})
}
