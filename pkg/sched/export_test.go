package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
)

// Dump writes down everything that follows from events: two Clusters with the same text are in the same state.
func (c *Cluster) Dump() string { return c.dump() }

// Step is an amount that is taken from a time on.
type Step struct {
	At     grid.Time
	Amount float64
}

// EachDiagram calls f with each limited resource of each level of which something is taken now or later, and how much
// of it over time.
func (c *Cluster) EachDiagram(f func(level byte, object, resource string, capacity float64, steps []Step)) {
	c.settle()
	row := func(level byte, object string, capacities, used []float64, plans []*diagram.Diagram) {
		for column, d := range plans {
			if steps := c.overTime(d, used[column]); d != nil && len(steps) > 1 {
				f(level, object, c.site.Complex.List[c.site.Complex.Consumables[column]].Name, capacities[column], steps)
			}
		}
	}
	for i, d := range c.planned.pes {
		if steps := c.overTime(d, float64(c.peUsed[i])); d != nil && len(steps) > 1 {
			f('P', c.site.PEs[i].Name, "slots", float64(c.site.PEs[i].Slots), steps)
		}
	}
	row('G', grid.GlobalHost, c.site.Global.Capacity, c.usedGlobal, c.planned.global)
	for i, h := range c.site.Hosts {
		now := c.nows.get(i)
		row('H', h.Name, h.Supply.Capacity, now.row(0), now.diagrams(0))
		for _, in := range h.Instances {
			row('Q', in.Name, in.Supply.Capacity, now.row(in.Place), now.diagrams(in.Place))
		}
	}
	c.buckets.rows.Scan(func(b *bucket) bool {
		r := c.site.Quotas.Rules[b.key.Rule]
		row('L', r.Set+"/"+r.Called+"/"+b.key.String(), r.Source.Capacity, b.used, b.plans)
		return true
	})
}

// overTime is what a diagram says moment by moment, one step for each change.
func (c *Cluster) overTime(d *diagram.Diagram, used float64) (out []Step) {
	if d == nil {
		return nil
	}
	clock := c.clock()
	times := []grid.Time{c.now, clock.Late}
	for _, s := range slices.Concat(d.Ends, d.Plans) {
		times = append(times, s.At)
	}
	slices.Sort(times)
	for _, t := range slices.Compact(times) {
		if t < c.now {
			continue
		}
		amount := d.Running(used, t, clock) + diagram.ValueAt(d.Plans, t, 0)
		if len(out) == 0 || out[len(out)-1].Amount != amount {
			out = append(out, Step{t, amount})
		}
	}
	if len(out) == 1 && out[0].Amount != 0 {
		out = append(out, Step{grid.Never, out[0].Amount}) // for ever
	}
	return out
}

// Claim is a number of instances of a resource map that are promised without being known.
type Claim struct {
	Resource, Host string
	Units          int
	With           string
	From, To       grid.Time
	Booked         bool
	AR             uint32
}

// Claims lists them in the order in which they were made.
func (c *Cluster) Claims() (out []Claim) {
	for _, k := range c.claims.list {
		one := Claim{Resource: c.site.Complex.List[c.site.Complex.Consumables[k.column]].Name,
			Host: grid.GlobalHost, Units: k.units,
			From: k.window.Start, To: k.window.End, Booked: k.booked, AR: k.ar}
		if k.host != wholeCluster {
			one.Host = c.site.Hosts[k.host].Name
		}
		if k.of != nil {
			one.With = k.of.String()
		}
		out = append(out, one)
	}
	return out
}
