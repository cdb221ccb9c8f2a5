package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/topology"
)

// CPUCore is one core of a host, with the processors that are its threads to the
// operating system.
type CPUCore struct {
	grid.CoreID
	Processors []int
}

// topologyOf returns the cores of a host; nil has none.
func topologyOf(h *topology.Machine) (t Topology) {
	if h == nil {
		return nil
	}
	for i := range h.Cores {
		c := &h.Cores[i]
		t = append(t, CPUCore{CoreID: grid.CoreID{Socket: uint32(c.Socket), Core: uint32(c.Number)},
			Processors: c.Processors})
	}
	return t
}

// Topology is all cores of a host that jobs may use, socket by socket. Both are
// numbered from 0 without holes. It chooses for -binding, where execd decides.
type Topology []CPUCore

// indexOf returns the index of a core, -1 if it does not exist.
func (t Topology) indexOf(id grid.CoreID) int {
	return slices.IndexFunc(t, func(c CPUCore) bool { return c.CoreID == id })
}

// chooseCores returns free cores as -binding of qsub(1) says, in the order of the request;
// none when the request cannot be fulfilled as a whole.
func (t Topology) chooseCores(b *grid.Binding, slots uint32, busy func(core int) bool) []int {
	amount := int(b.Amount)
	if b.Amount == grid.BindSlots {
		amount = int(slots)
	}
	switch {
	case b.Strategy == grid.BindExplicit:
		return t.chooseExplicit(b.Cores, busy)
	case amount < 1 || amount > len(t):
		return nil
	case b.Strategy == grid.BindStriding && b.Step > uint32(len(t)):
		return t.chooseStrided(b.Cores, amount, len(t), busy)
	case b.Strategy == grid.BindStriding:
		return t.chooseStrided(b.Cores, amount, int(b.Step), busy)
	case len(b.Cores) > 0:
		return t.chooseStrided(b.Cores, amount, 1, busy)
	}
	return t.chooseLinear(amount, busy)
}

func (t Topology) chooseExplicit(wanted []grid.CoreID, busy func(int) bool) []int {
	list := make([]int, 0, len(wanted))
	for _, id := range wanted {
		i := t.indexOf(id)
		if i < 0 || busy(i) {
			return nil
		}
		list = append(list, i)
	}
	return list
}

// chooseStrided takes every step-th core, from where it is to begin or else from the
// first core with which it works out. The host's cores count as one row.
func (t Topology) chooseStrided(begin []grid.CoreID, amount, step int, busy func(int) bool) []int {
	first, last := 0, len(t)-1-(amount-1)*step
	if len(begin) > 0 {
		first = t.indexOf(begin[0])
		last = min(last, first)
	}
	for ; first >= 0 && first <= last; first++ {
		list := make([]int, 0, amount)
		for i := first; len(list) < amount && !busy(i); i += step {
			list = append(list, i)
			if len(list) == amount {
				return list
			}
		}
	}
	return nil
}

// chooseLinear fills empty sockets, in their order, then those with the most free
// cores.
func (t Topology) chooseLinear(amount int, busy func(int) bool) (list []int) {
	type socket struct{ free, taken []int }
	var sockets []socket
	for i, c := range t {
		if i == 0 || c.Socket != t[i-1].Socket {
			sockets = append(sockets, socket{})
		}
		s := &sockets[len(sockets)-1]
		if busy(i) {
			s.taken = append(s.taken, i)
		} else {
			s.free = append(s.free, i)
		}
	}
	slices.SortStableFunc(sockets, func(a, b socket) int {
		switch emptyA, emptyB := len(a.taken) == 0, len(b.taken) == 0; {
		case emptyA && emptyB:
			return 0
		case emptyA:
			return -1
		case emptyB:
			return 1
		}
		return len(b.free) - len(a.free)
	})
	for _, s := range sockets {
		list = append(list, s.free[:min(len(s.free), amount-len(list))]...)
	}
	if len(list) < amount {
		return nil
	}
	return list
}
