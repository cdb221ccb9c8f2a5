package site

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/topology"
)

// TopologyOf is the topology that a host reports: with NUMA nodes and caches, or that of Grid Engine.
func TopologyOf(l *grid.Load) string {
	if l == nil {
		return ""
	}
	if text, ok := l.Values.Get("m_topology_tree"); ok {
		return text
	}
	text, _ := l.Values.Get("m_topology")
	return text
}

// resolveTopology parses the topologies of the hosts; equal hosts share one.
func (l *Layout) resolveTopology(st *state.State) {
	trees := map[string]*topology.Machine{}
	for _, h := range l.Hosts {
		if h.Topology = TopologyOf(st.Load(h.Name)); h.Topology == "" {
			continue
		}
		tree, known := trees[h.Topology]
		if !known {
			tree, _ = topology.Parse(h.Topology)
			trees[h.Topology] = tree
		}
		if h.Tree = tree; tree != nil {
			h.Supply.Capacity[l.Complex.Threads] = float64(tree.Threads())
		}
	}
}

// UnitOf is what a binding counts.
func UnitOf(b *grid.Binding) topology.Unit {
	u, _ := topology.ParseUnit(b.Unit)
	return u
}

// UnitsFor is how many units a binding asks for, for so many slots on a host.
func UnitsFor(b *grid.Binding, slots uint32) int {
	if b.Type == grid.BindHost {
		return int(b.Amount)
	}
	return int(b.Amount) * int(slots)
}

// ThreadsFor is how many threads a demand takes of a host for so many slots; first: they are the first
// that a task has there.
func ThreadsFor(tree *topology.Machine, d *complex.Demand, slots uint32, first bool) float64 {
	if d.Binding == nil || d.Binding.Type == grid.BindHost && !first {
		return 0
	}
	return float64(UnitsFor(d.Binding, slots) * tree.Size(UnitOf(d.Binding)))
}

// reserveThreads adds to a host of an advance reservation the threads that it holds for so many slots.
func (h *Host) reserveThreads(d *complex.Demand, slots uint32) {
	if h.Tree == nil {
		return
	}
	capacity := &h.Supply.Capacity[d.Column]
	first := *capacity == complex.Unlimited
	if first {
		*capacity = 0
	}
	*capacity += ThreadsFor(h.Tree, d, slots, first)
}

// HasTopology reports whether a host reports the topology that was resolved; true for a host that is not in the layout.
func (l *Layout) HasTopology(host string, now *grid.Load) bool {
	i, known := l.HostAt[host]
	return !known || l.Hosts[i].Topology == TopologyOf(now)
}
