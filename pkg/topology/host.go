package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Core is a core of a host. Sockets, NUMA nodes and caches are numbered over the host, from 0 and
// without holes.
type Core struct {
	Node, Socket, L3, L2 int
	Number               int // within its socket
	Efficient            bool
	// its threads as the operating system numbers them; of a parsed host only their number counts
	Processors []int
}

// Machine is the tree of a host, by its cores in the order of its threads. It is never changed once made.
type Machine struct {
	Cores                  []Core
	nodes, thirds, seconds bool // NUMA nodes, L3 and L2 caches are known, not assumed
	wide                   bool // a socket has several NUMA nodes
	first                  []int
	threads                int
	units                  [len(letters)][2][]unit // by level and, of efficiency cores, 1
	sizes                  [len(letters)][2]int    // of their largest, in threads
}

// Threads is how many threads the host has.
func (h *Machine) Threads() int { return h.threads }

// Sockets is how many sockets the host has.
func (h *Machine) Sockets() (n int) {
	for _, c := range h.Cores {
		n = max(n, c.Socket+1)
	}
	return n
}

// Nodes is how many NUMA nodes the host has.
func (h *Machine) Nodes() (n int) {
	for _, c := range h.Cores {
		n = max(n, c.Node+1)
	}
	return n
}

// CPU is a processor as the kernel describes it. Numbers are the kernel's own, -1: not known.
type CPU struct {
	Processor, Package, Die, Core int
	Node, L3, L2                  int // of caches: any number that those that share it have in common
	Efficient                     bool
}

// Build returns the host of some processors. Processors of the same core are its threads, in their
// order.
func Build(cpus []CPU) *Machine {
	cpus = slices.Clone(cpus)
	third, second := leastCores(cpus, func(p CPU) int { return p.L3 }), leastCores(cpus, func(p CPU) int { return p.L2 })
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Die, b.Die),
			cmp.Compare(third[a.L3], third[b.L3]), cmp.Compare(a.L3, b.L3), cmp.Compare(second[a.L2], second[b.L2]),
			cmp.Compare(a.L2, b.L2), cmp.Compare(a.Core, b.Core))
	})
	h := &Machine{}
	id := func(of *[]int, n int) int { // its number over the host
		if n < 0 {
			return -1
		}
		if i := slices.Index(*of, n); i >= 0 {
			return i
		}
		*of = append(*of, n)
		return len(*of) - 1
	}
	var sockets, nodes, thirds, seconds []int
	for i, p := range cpus {
		if i > 0 {
			if o := cpus[i-1]; o.Package == p.Package && o.Die == p.Die && o.Core == p.Core {
				c := &h.Cores[len(h.Cores)-1]
				c.Processors = append(c.Processors, p.Processor)
				continue
			}
		}
		c := Core{Node: id(&nodes, p.Node), Socket: id(&sockets, max(p.Package, 0)), L3: id(&thirds, p.L3),
			L2:        id(&seconds, p.L2),
			Efficient: p.Efficient, Processors: []int{p.Processor}}
		if n := len(h.Cores); n > 0 && h.Cores[n-1].Socket == c.Socket {
			c.Number = h.Cores[n-1].Number + 1
		}
		h.Cores = append(h.Cores, c)
	}
	h.complete()
	return h
}

// leastCores returns the lowest number of a core by the cache that it is in.
func leastCores(cpus []CPU, cache func(CPU) int) map[int]int {
	least := map[int]int{}
	for _, p := range cpus {
		if n, known := least[cache(p)]; !known || p.Core < n {
			least[cache(p)] = p.Core
		}
	}
	return least
}

// mostThreads bounds what a topology string describes.
const mostThreads = 1 << 13

// Parse reads a topology string in either spelling, whatever its case. It fails for a text that is
// none.
func Parse(text string) (*Machine, error) {
	h := &Machine{}
	at := Core{Node: -1, Socket: -1, L3: -1, L2: -1, Number: -1}
	threads, all := 0, 0 // of the last core, of all
	for i := range len(text) {
		switch upper(text[i]) {
		case 'N':
			at.Node++
		case 'S':
			at.Socket++
			at.Number = -1
		case 'X':
			at.L3++
		case 'Y':
			at.L2++
		case 'C', 'E':
			at.Number++
			c := at
			c.Efficient, c.Processors = upper(text[i]) == 'E', make([]int, 1, 2)
			h.Cores = append(h.Cores, c)
			threads, all = 0, all+1
		case 'T':
			if len(h.Cores) == 0 {
				return nil, fmt.Errorf("topology %q has a thread before its first core", text)
			}
			if threads++; threads > 1 {
				c := &h.Cores[len(h.Cores)-1]
				c.Processors = append(c.Processors, 0)
				all++
			}
		default:
			return nil, fmt.Errorf("%q is not a topology: %q is none of its letters", text, text[i:i+1])
		}
		if all > mostThreads {
			return nil, fmt.Errorf("topology has more than %d threads", mostThreads)
		}
	}
	if len(h.Cores) == 0 {
		return nil, fmt.Errorf("topology %q has no core", text)
	}
	h.complete()
	return h, nil
}

// complete numbers the threads and fills in levels that are not known of all cores: a socket is one
// NUMA node and shares an L3 cache, a core has an L2 cache of its own.
func (h *Machine) complete() {
	known := func(at func(*Core) *int, assumed func(i int) int) bool {
		if !slices.ContainsFunc(h.Cores, func(c Core) bool { return *at(&c) < 0 }) {
			return true
		}
		for i := range h.Cores {
			*at(&h.Cores[i]) = assumed(i)
		}
		return false
	}
	socket := func(i int) int { return h.Cores[i].Socket }
	known(func(c *Core) *int { return &c.Socket }, func(int) int { return 0 })
	h.nodes = known(func(c *Core) *int { return &c.Node }, socket)
	h.thirds = known(func(c *Core) *int { return &c.L3 }, socket)
	h.seconds = known(func(c *Core) *int { return &c.L2 }, func(i int) int { return i })
	h.wide = h.Nodes() > h.Sockets()
	h.first = make([]int, len(h.Cores)+1)
	n := 0
	for i, c := range h.Cores {
		h.first[i] = n
		n += len(c.Processors)
	}
	h.first[len(h.Cores)], h.threads = n, n
	h.makeUnits()
}

// All returns the set of all threads.
func (h *Machine) All() Set {
	s := NewSet(h.threads)
	s.add(0, h.threads)
	return s
}

// CoresOf lists the cores of which a set has a thread, by their place.
func (h *Machine) CoresOf(s Set) (out []int) {
	for i := range h.Cores {
		for t := h.first[i]; t < h.first[i+1]; t++ {
			if s.Has(t) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// OfCores returns the set of all threads of some cores.
func (h *Machine) OfCores(cores []int) Set {
	s := NewSet(h.threads)
	for _, i := range cores {
		s.add(h.first[i], h.first[i+1])
	}
	return s
}

// Processors lists the processors of a core that are in a set.
func (h *Machine) Processors(core int, s Set) (out []int) {
	for k, p := range h.Cores[core].Processors {
		if s.Has(h.first[core] + k) {
			out = append(out, p)
		}
	}
	return out
}
