package sched

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// MaxReservation is how many reservations a run may make, sched_conf(5).
func (c *Cluster) MaxReservation() int {
	c.settle()
	return c.site.Policy.Reservations
}

// Earliest looks for the earliest time from which a job of the need can run
// until its gross end, later than now and not before a time, and for the
// place; of equal times the place with the fewest violations of soft requests,
// and then the best. A parallel job gets the most slots that this time allows.
// Holes between what is planned will do. The Reason says why there is no such
// time.
func (c *Cluster) Earliest(n *Need, from grid.Time) (Placement, grid.Time, reason.Reason) {
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return Placement{}, grid.Never, why
		}
		if r.heldUp(n) {
			from = max(from, c.find.span.Clock().Late)
		}
		p, at, why := r.Earliest(n, from)
		if why.Fits() && r.find.end(at, n) > r.ar.End {
			return Placement{}, grid.Never, reason.Reason{Code: reason.ARTooShort, What: strconv.Itoa(int(r.ar.ID))}
		}
		return p, at, why
	}
	if why := c.find.impossible(n); !why.Fits() {
		return Placement{}, grid.Never, why
	}
	from = max(from, c.find.span.Now+1)
	if n.Job.PE != "" {
		return c.find.earliestParallel(n, from)
	}
	best, at := Placement{}, grid.Never
	why := reason.Reason{Code: reason.QueueUnavailable}
	c.find.setWindow(from, n)
	for _, r := range c.find.lineUp() {
		in := c.site.Instances[r.inst]
		if !c.find.suits(n, in) {
			continue
		}
		t := c.find.earliestAt(n, in, from)
		if t > at || t == grid.Never {
			continue
		}
		c.find.setWindow(t, n)
		if c.find.instanceSlots(n, in) == 0 {
			continue
		}
		v := 0
		if len(n.Job.Soft)+len(n.softQueue) > 0 {
			v = c.find.violations(n, in)
		}
		if t < at || v < best.Violations {
			best = Placement{Grants: []grid.Grant{{Queue: in.Queue.Name, Host: in.Host.Name, Slots: 1}}, Slots: 1, Violations: v}
			at, why = t, reason.Reason{}
		}
	}
	return best, at, why
}

// earliestAt is when an instance, its host and the cluster can all give a
// slot to a need.
func (c *search) earliestAt(n *Need, in *site.Instance, t grid.Time) grid.Time {
	levels := []level{c.atInstance(in), c.atHost(in.Host), c.atGlobal()}
	c.site.EachQuota(c.passing(n, ""), n.Job, "", in, func(r *site.QuotaRule, key site.BucketKey) bool {
		levels = append(levels, c.atQuota(r, key, in))
		return true
	})
	for settled := 0; settled < len(levels); {
		if opens := in.OpenFrom(t, n.gross); opens > t {
			t, settled = opens, 0
		}
		for _, l := range levels {
			later := c.gives(l, n, 1, true, t)
			if later == grid.Never {
				return grid.Never
			}
			if settled++; later > t {
				t, settled = later, 0
			}
		}
	}
	return t
}

// gives is the earliest time, from a time on, at which a level can give so
// many slots to a need, as far as consumables decide. master: that of the master task is among them; else it may be.
func (c *search) gives(l level, n *Need, slots int, master bool, from grid.Time) grid.Time {
	t := from
	for {
		before := t
		for i := range n.demands {
			d := &n.demands[i]
			switch {
			case l.Supply.Capacity[d.Column] == complex.Unlimited || !d.Takes():
			case d.Exclusive:
				t = l.Wait(0, n.gross, t, 0, c.span.Clock())
			case d.Binding != nil:
				most := c.corrected(&l, d.Column, true) - site.ThreadsFor(l.Tree, d, uint32(slots), true)
				t = l.Wait(d.Column, n.gross, t, most, c.span.Clock())
			default:
				t = l.Wait(d.Column, n.gross, t, c.corrected(&l, d.Column, true)-takenBy(d, slots, master), c.span.Clock())
			}
		}
		for _, place := range c.site.Complex.Exclusives {
			if l.Supply.Capacity[place] < complex.Unlimited {
				t = l.Wait(place, n.gross, t, 0, c.span.Clock())
			}
		}
		if t != grid.Never && c.selects(&l, n) {
			t = c.waitSelected(&l, n, slots, master, t)
		}
		if t == before || t == grid.Never {
			return t
		}
	}
}

// takenBy is what so many slots take of a demand at least, with that of the master task or as it may be.
func takenBy(d *complex.Demand, slots int, master bool) float64 {
	with := d.Of(uint32(slots), true)
	if master {
		return with
	}
	return min(with, d.Of(uint32(slots), false))
}

// Reserve plans a placement from a time until the need's gross end, which it returns: what
// is placed or reserved after it leaves it alone.
func (c *Cluster) Reserve(n *Need, p Placement, at grid.Time) (end grid.Time) {
	end = c.clusterOf(n.Job.AR).find.end(at, n)
	c.ledger.Plan(n.taking(n.Job, p, grid.Window{Start: at, End: end}))
	return end
}

// Duration is for how many seconds a job is assumed to hold what it takes, with DURATION_OFFSET.
func (c *Cluster) Duration(j *grid.Job) float64 {
	c.settle()
	return c.site.Policy.Gross(j.Hard)
}
