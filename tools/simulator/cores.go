package simulator

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/topology"
)

// Where Parameters.Instances says so, hosts report their processors, and jobs are bound to them by the scheduler.

// processors is the topology of every host.
const processors = "NSXYCTTYCTTNSXYCTTYCTT"

// coreRequest is what a job asks for of them.
func (c *clients) coreRequest() *grid.Binding {
	w := c.world
	if !w.hasChance(0.4) {
		return nil
	}
	b := &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Type: grid.BindSlot, Unit: "C",
		Amount: 1 + uint32(w.rand.IntN(2))}
	switch w.rand.IntN(6) {
	case 0:
		b.Unit = "T"
	case 1:
		b.Unit, b.Amount = "S", 1
	case 2:
		b.Type = grid.BindHost
	case 3:
		b.Filter = "NSXYcttYCTTNSXYCTTYCTT"
	}
	return b
}

// coresNotGrantedTwice holds the cores of a task that starts against those that others have, and against what
// it asked for.
func (w *World) coresNotGrantedTwice(t *grid.JATask) {
	j := w.master.sure.Job(t.Job)
	if !w.Instances || j == nil || !j.Binding.Decided() {
		return
	}
	tree, _ := topology.Parse(processors)
	unit, _ := topology.ParseUnit(j.Binding.Unit)
	for i, g := range t.Grants {
		if slices.ContainsFunc(t.Grants[:i], func(o grid.Grant) bool { return o.Host == g.Host }) {
			continue
		}
		slots := uint32(0)
		for _, o := range t.Grants {
			if o.Host == g.Host {
				slots += o.Slots
			}
		}
		wanted := int(j.Binding.Amount)
		if j.Binding.Type == grid.BindSlot {
			wanted *= int(slots)
		}
		had, ok := tree.Mask(grid.CoresOn(t.Cores, g.Host))
		if !ok || tree.Count(unit, had) < wanted || had.Len() != wanted*tree.Size(unit) {
			w.fail("%d.%d starts on %s with %s, and asks for %s", t.Job, t.ID, g.Host, grid.CoresText(t.Cores), j.Binding)
		}
		if not, _ := tree.Mask(j.Binding.Filter); j.Binding.Filter != "" && had.Meets(not) {
			w.fail("%d.%d starts on %s with %s, against its filter %s", t.Job, t.ID, g.Host, grid.CoresText(t.Cores),
				j.Binding.Filter)
		}
		w.bound++
		for _, o := range w.objectsOf(grid.KindJATask) {
			other := o.(*grid.JATask)
			if !other.Started() || other.Key() == t.Key() || len(other.Cores) == 0 {
				continue
			}
			shared := slices.ContainsFunc(other.Cores, func(o grid.CoreGrant) bool { return o.Host == g.Host && o.Shared })
			if has, ok := tree.Mask(grid.CoresOn(other.Cores, g.Host)); ok && !shared && has.Meets(had) {
				w.fail("%d.%d starts on %s with cores that are granted twice: %s, and %d.%d has %s", t.Job, t.ID, g.Host,
					grid.CoresText(t.Cores), other.Job, other.ID,
					grid.CoresText(other.Cores))
			}
		}
	}
}

// withFirstCores is the planted fault: tasks without a filter start with the first units of their hosts, even if other
// tasks have them.
func (w *World) withFirstCores(list []events.Event) []events.Event {
	list = slices.Clone(list)
	tree, _ := topology.Parse(processors)
	for i, e := range list {
		t, ok := e.Object.(*grid.JATask)
		if !ok || len(t.Cores) == 0 {
			continue
		}
		if j := w.master.sure.Job(t.Job); j == nil || !j.Binding.Decided() || j.Binding.Filter != "" {
			continue // another law finds what is against a filter
		}
		n := *t
		n.Cores = slices.Clone(t.Cores)
		for k := range n.Cores {
			g := &n.Cores[k]
			had, _ := tree.Mask(g.Text)
			if first, _, ok := tree.Choose(threadUnit, had.Len(), tree.All(), nil); ok {
				g.Text = tree.Text(first)
			}
		}
		list[i].Object = &n
	}
	return list
}

var threadUnit, _ = topology.ParseUnit("T")
