package sched

import (
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Which instances of a host's resource map a task gets where the map says at which places they are and the host
// reports its topology: those with the least distance to each other, to the instances of other maps that the task has,
// and to the processor cores that it can have, if it asks for some. At each place where an instance is free, the
// instances nearest to it are one choice; of equal choices the first in the order of the map is taken.

// placing is the choice of the units of a job on one of its hosts.
type placing struct {
	tree    *topology.Machine
	unit    topology.Unit
	amount  int // 0: it asks for none
	free    topology.Set
	devices []topology.Device // that the task has
}

func (c *Cluster) placing(j *grid.Job, slots uint32, h int) *placing {
	p := &placing{tree: c.site.Hosts[h].Tree}
	if j.Binding.Decided() {
		n := Need{Job: j}
		p.unit, p.amount = site.UnitOf(j.Binding), site.UnitsFor(j.Binding, slots)
		p.free = n.allowed(p.tree).Minus(c.ledger.At(h).Bound())
	}
	return p
}

// choose chooses the units nearest to the devices that the task has, and some more.
func (p *placing) choose(more []topology.Device) (s topology.Set, cost int, ok bool) {
	return p.tree.Choose(p.unit, p.amount, p.free, append(slices.Clip(p.devices), more...))
}

// deviceOf is where an instance of a resource map is: by its mask, or by the NUMA node that it has as
// characteristic RESOURCE_numa or numa.
func deviceOf(tree *topology.Machine, resource string, in *complex.Instance) topology.Device {
	if in.Mask != "" {
		if not, ok := tree.Mask(in.Mask); ok {
			return topology.Device{Near: tree.All().Minus(not)}
		}
	}
	text, ok := in.Traits.Get(resource + "_numa")
	if !ok {
		text, ok = in.Traits.Get("numa")
	}
	d := topology.Device{Node: -1}
	if v, isNumber := grid.CentryType("INT").Parse(text); ok && isNumber {
		d.Node = int(v)
	}
	return d
}

// hasPlaces reports whether a map says of instances where they are.
func hasPlaces(m complex.Map) bool {
	return len(m) > 1 && slices.ContainsFunc(m, func(in complex.Instance) bool {
		return in.Mask != "" || slices.ContainsFunc(in.Traits, func(v grid.Value) bool {
			return strings.HasSuffix(v.Name, "numa")
		})
	})
}

// look is one choice of instances: those of a map, by their places in it, from the nearest to one of them, and the
// distance of the first that are free.
type look struct {
	order []int
	cost  int
	cores topology.Set // that would go with them; nil: none are asked for, or too few are free
	short bool         // too few are
}

// placeChoices returns the choices of so many instances of a host's map for a job that gets slots there and has been
// granted others; nil where places do not matter. What is free says how often an instance can be granted.
func (c *Cluster) placeChoices(
	j *grid.Job, slots uint32, key ledger.MapKey, granted []grid.MapGrant, wanted int, free func(at int) int,
) (out []look) {
	if key.Host == ledger.WholeCluster || c.site.Hosts[key.Host].Tree == nil ||
		wanted < 2 && len(granted) == 0 && !j.Binding.Decided() {
		return nil
	}
	m, resource := c.site.Hosts[key.Host].Supply.Maps[key.Column], c.site.Attr(key.Column).Name
	if !hasPlaces(m) {
		return nil
	}
	p := c.placing(j, slots, key.Host)
	p.devices = devicesOn(c.site, key.Host, granted)
	places, left := make([]topology.Device, len(m)), make([]int, len(m))
	for i := range m {
		if left[i] = free(i); left[i] > 0 {
			places[i] = deviceOf(p.tree, resource, &m[i])
		}
	}
	var tried []topology.Device
	for i := range m {
		same := func(d topology.Device) bool { return d.Node == places[i].Node && slices.Equal(d.Near, places[i].Near) }
		if left[i] <= 0 || slices.ContainsFunc(tried, same) {
			continue
		}
		tried = append(tried, places[i])
		out = append(out, p.around(i, places, left, wanted))
	}
	return out
}

// nearestFirst returns the order in which instances of a map are given to a task: see looks; nil is that of the map.
func (c *Cluster) nearestFirst(
	j *grid.Job, slots uint32, key ledger.MapKey, granted []grid.MapGrant, wanted int, free func(at int) int,
) []int {
	best := look{cost: math.MaxInt}
	for _, l := range c.placeChoices(j, slots, key, granted, wanted, free) {
		if l.cost < best.cost && !l.short {
			best = l
		}
	}
	return best.order
}

// around is the choice of the instances that are nearest to one of them, of those that are left at some places. Those
// of which none is left come last, in the order of the map.
func (p *placing) around(first int, places []topology.Device, left []int, wanted int) (l look) {
	apart := make([]int, len(places))
	for i := range places {
		switch {
		case left[i] <= 0:
			apart[i] = math.MaxInt
		case i != first:
			apart[i] = p.tree.Apart(places[first], places[i])
		}
		l.order = append(l.order, i)
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return apart[a] - apart[b] })
	var devices []topology.Device
	for _, i := range l.order {
		n := min(left[i], wanted)
		if n <= 0 {
			continue
		}
		wanted -= n
		l.cost += apart[i] * n
		for _, d := range p.devices {
			l.cost += p.tree.Apart(d, places[i]) * n
		}
		devices = append(devices, places[i])
	}
	if p.amount > 0 {
		cores, distance, ok := p.choose(devices)
		l.cores, l.short, l.cost = cores, !ok, l.cost+distance
	}
	return l
}

// inOrder returns the place that is the k-th of an order; nil is that of the map.
func inOrder(order []int, k int) int {
	if order == nil {
		return k
	}
	return order[k]
}
