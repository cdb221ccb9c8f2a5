package ledger

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/cow"
)

// A Claim is a number of instances of one resource map that is taken without that it is known which: by a placement
// that a run has booked, by a reservation of the run or by an advance reservation. Started tasks make none: theirs are
// known.
type Claim struct {
	MapKey
	Units  int
	Of     *complex.Selection // nil: any of the map
	Window grid.Window
	AR     uint32    // the advance reservation whose instances they are
	Booked bool      // started in this run, not only planned
	Job    *grid.Job // that was booked, with slots on the host
	Slots  uint32
}

// claims are those of a cell, of its advance reservations' jobs as well.
type claims struct {
	list      []Claim
	at        map[MapKey][]int // by map: places in list; nil: to be made
	selective int              // how many are planned and select by characteristics
}

// copyInto returns a copy in memory that an earlier one had.
func (c *claims) copyInto(was claims) claims {
	return claims{list: cow.Clone(was.list, c.list), selective: c.selective}
}

func (c *claims) add(k Claim) {
	if c.at != nil {
		c.at[k.MapKey] = append(c.at[k.MapKey], len(c.list))
	}
	c.list = append(c.list, k)
	if k.Of != nil && !k.Booked {
		c.selective++
	}
}

// drop removes the last claim that is like one.
func (c *claims) drop(k Claim) {
	for i := len(c.list) - 1; i >= 0; i-- {
		if c.list[i] == k {
			c.list, c.at = slices.Delete(c.list, i, i+1), nil
			return
		}
	}
}

// EachClaim calls f with the claims of a map in the order in which they were made.
func (l *Ledger) EachClaim(k MapKey, f func(*Claim)) {
	c := &l.claims
	if c.at == nil {
		c.at = map[MapKey][]int{}
		for i := range c.list {
			c.at[c.list[i].MapKey] = append(c.at[c.list[i].MapKey], i)
		}
	}
	for _, i := range c.at[k] {
		f(&c.list[i])
	}
}

// Claims returns all claims in the order in which they were made, for reading.
func (l *Ledger) Claims() []Claim { return l.claims.list }

// Selective reports whether something is planned that selects instances by characteristics.
func (l *Ledger) Selective() bool { return l.claims.selective > 0 }

// SelectiveOn reports whether such a plan is of this map.
func (l *Ledger) SelectiveOn(key MapKey) (found bool) {
	if !l.Selective() {
		return false
	}
	l.EachClaim(key, func(k *Claim) { found = found || k.Of != nil && !k.Booked })
	return found
}

// claim calls f with what a taking claims of resource maps.
func (l *Ledger) claim(t *Taking, booked bool, f func(Claim)) {
	l.eachClaim(t.Demands, t.Selections, t.Grants, func(k Claim) {
		k.Window, k.AR, k.Booked, k.Job = t.Window, t.Job.AR, booked, t.Job
		f(k)
	})
}

// eachClaim calls f with what grants take of resource maps.
func (l *Ledger) eachClaim(
	demands []complex.Demand, selections []*complex.Selection, grants []grid.Grant, f func(Claim),
) {
	if len(l.site.MapColumns) == 0 {
		return
	}
	for i := range demands {
		d := &demands[i]
		if l.site.Attr(d.Column).Type != grid.TypeMap {
			continue
		}
		for k, g := range grants {
			h, known := l.site.HostAt[g.Host]
			if !known || !grid.FirstOnHost(grants, k) {
				continue
			}
			units := int(d.OnHost(grants, g.Host))
			m, global := l.site.MapOf(l.site.Hosts[h], d.Column)
			if units == 0 || m == nil {
				continue
			}
			n := Claim{MapKey: MapKey{d.Column, h}, Units: units, Slots: grid.SlotsOnHost(grants, g.Host)}
			if global {
				n.Host = WholeCluster
			}
			if selections != nil {
				n.Of = selections[i]
			}
			f(n)
		}
	}
}
