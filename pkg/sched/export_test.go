package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/ledger"
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
	var rows []ledger.Row
	c.ledger.EachDiagram(func(r ledger.Row) { rows = append(rows, r) })
	for _, quotas := range [...]bool{false, true} { // which come last
		for _, r := range rows {
			if steps := c.overTime(r.Diagram, r.Used); len(steps) > 1 && quotas == (r.Level == 'L') {
				f(r.Level, r.Object, r.Resource, r.Capacity, steps)
			}
		}
	}
}

// overTime is what a diagram says moment by moment, one step for each change.
func (c *Cluster) overTime(d *diagram.Diagram, used float64) (out []Step) {
	clock := c.find.span.Clock()
	times := []grid.Time{c.find.span.Now, clock.Late}
	for _, s := range slices.Concat(d.Ends, d.Plans) {
		times = append(times, s.At)
	}
	slices.Sort(times)
	for _, t := range slices.Compact(times) {
		if t < c.find.span.Now {
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
	for _, k := range c.ledger.Claims() {
		one := Claim{Resource: c.site.Attr(k.Column).Name, Host: grid.GlobalHost, Units: k.Units,
			From: k.Window.Start, To: k.Window.End, Booked: k.Booked, AR: k.AR}
		if k.Host != ledger.WholeCluster {
			one.Host = c.site.Hosts[k.Host].Name
		}
		if k.Of != nil {
			one.With = k.Of.String()
		}
		out = append(out, one)
	}
	return out
}
