package topology

import (
	"cmp"
	"slices"
	"strings"
)

// level is a level of the tree, from the narrowest.
type level int

const (
	threadLevel level = iota
	coreLevel
	secondLevel
	thirdLevel
	nodeLevel
	socketLevel
	hostLevel
)

// letters are those of the levels that are units.
const letters = "TCYXNS"

func levelOf(letter byte) level { return level(strings.IndexByte(letters, letter)) }

// at is the number of the unit of a level that a core is in; i is its own place.
func (c *Core) at(l level, i int) int {
	switch l {
	case secondLevel:
		return c.L2
	case thirdLevel:
		return c.L3
	case nodeLevel:
		return c.Node
	case socketLevel:
		return c.Socket
	case hostLevel:
		return 0
	}
	return i
}

// Unit is what a job asks for a number of: threads, cores, the cores of an L2 or L3 cache, of a NUMA
// node or of a socket. Of efficiency cores, or of the others.
type Unit struct {
	level     level
	efficient bool
}

// ParseUnit reads a unit as -bunit of submit(1) has it: T C E S X Y N, and C or E before a letter for
// the kind of cores.
func ParseUnit(text string) (u Unit, ok bool) {
	switch kind, rest := text[:min(1, len(text))], text[min(1, len(text)):]; {
	case text == "E":
		return Unit{coreLevel, true}, true
	case rest == "":
	case kind == "C" && rest != "C", kind == "E" && rest != "C":
		u.efficient, text = kind == "E", rest
	default:
		return u, false
	}
	if len(text) != 1 || strings.IndexByte(letters, text[0]) < 0 {
		return u, false
	}
	u.level = levelOf(text[0])
	return u, true
}

// unit is a unit of a host.
type unit struct {
	threads Set
	core    int // its first core
}

// makeUnits lists the units of all levels in the order of the host.
func (h *Machine) makeUnits() {
	for kind, efficient := range [...]bool{false, true} {
		for i, c := range h.Cores {
			if c.Efficient != efficient {
				continue
			}
			for t := h.first[i]; t < h.first[i+1]; t++ {
				one := NewSet(h.threads)
				one.add(t, t+1)
				h.units[threadLevel][kind] = append(h.units[threadLevel][kind], unit{one, i})
			}
			for l := coreLevel; l <= socketLevel; l++ {
				list := h.units[l][kind]
				if n := len(list); n == 0 || h.Cores[list[n-1].core].at(l, list[n-1].core) != c.at(l, i) {
					list = append(list, unit{NewSet(h.threads), i})
				}
				list[len(list)-1].threads.add(h.first[i], h.first[i+1])
				h.units[l][kind] = list
			}
		}
		for l := range h.units {
			for _, one := range h.units[l][kind] {
				h.sizes[l][kind] = max(h.sizes[l][kind], one.threads.Len())
			}
		}
	}
}

func (h *Machine) list(u Unit) []unit {
	if u.efficient {
		return h.units[u.level][1]
	}
	return h.units[u.level][0]
}

// Units is how many units of a kind the host has.
func (h *Machine) Units(u Unit) int { return len(h.list(u)) }

// Size is how many threads the largest unit of a kind has, 0 when the host has none.
func (h *Machine) Size(u Unit) int {
	if u.efficient {
		return h.sizes[u.level][1]
	}
	return h.sizes[u.level][0]
}

// Count is how many units of a kind are in a set as wholes.
func (h *Machine) Count(u Unit, free Set) (n int) {
	for _, one := range h.list(u) {
		if one.threads.within(free) {
			n++
		}
	}
	return n
}

// Device is where a device is in the tree: next to some threads, or to a NUMA node.
type Device struct {
	Near Set // nil: Node says it
	Node int // -1: not known
}

// from returns how far cores are from a device: 0 next to it, 1 in its socket, 2 elsewhere. Where it is
// not known where the device is, everything is next to it.
func (h *Machine) from(d Device) func(core int) int {
	sockets := make([]bool, len(h.Cores))
	known := false
	for i, c := range h.Cores {
		if d.Near != nil && h.meets(i, d.Near) || d.Near == nil && c.Node == d.Node {
			sockets[c.Socket], known = true, true
		}
	}
	return func(core int) int {
		c := &h.Cores[core]
		switch {
		case !known, d.Near != nil && h.meets(core, d.Near), d.Near == nil && c.Node == d.Node:
			return 0
		case sockets[c.Socket]:
			return 1
		}
		return 2
	}
}

// meets reports whether a core has a thread in a set.
func (h *Machine) meets(core int, s Set) bool {
	for t := h.first[core]; t < h.first[core+1]; t++ {
		if s.Has(t) {
			return true
		}
	}
	return false
}

// Distance is how far the nearest of some threads is from a device: 0 next to it, 1 in its socket, 2
// elsewhere.
func (h *Machine) Distance(s Set, d Device) int {
	least, from := 2, h.from(d)
	for _, i := range h.CoresOf(s) {
		least = min(least, from(i))
	}
	return least
}

// Apart is how far two devices are from each other, in the measure of Distance.
func (h *Machine) Apart(a, b Device) int {
	s := a.Near
	if s == nil {
		s = NewSet(h.threads)
		for i, c := range h.Cores {
			if c.Node == a.Node {
				s.add(h.first[i], h.first[i+1])
			}
		}
	}
	if s.Len() == 0 {
		return 0
	}
	return h.Distance(s, b)
}

// candidate is a free unit with its distance from the devices, summed up.
type candidate struct {
	unit
	distance int
}

// Choose returns so many units of a kind that are free as wholes: those with the least distance to
// the devices, then those closest to each other (of one core, cache, NUMA node, socket), then where
// fewest units are free. The cost is the sum of the distances. ok is false when there are too few.
func (h *Machine) Choose(u Unit, amount int, free Set, devices []Device) (s Set, cost int, ok bool) {
	list := h.candidates(u, free, devices)
	if len(list) < amount || amount <= 0 {
		return nil, 0, false
	}
	best, at := []candidate(nil), hostLevel
	for l := coreLevel; l <= hostLevel; l++ {
		for from, to := 0, 0; from < len(list); from = to {
			for to = from + 1; to < len(list) && h.together(l, list[from].core, list[to].core); to++ {
			}
			if to-from < amount {
				continue
			}
			c := leastCost(list[from:to], amount)
			if best == nil || c < cost || c == cost && l == at && to-from < len(best) {
				best, cost, at = list[from:to], c, l
			}
		}
	}
	inSocket := make([]int, h.Sockets())
	for _, c := range best {
		inSocket[h.Cores[c.core].Socket]++
	}
	best = slices.Clone(best)
	slices.SortStableFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance),
			cmp.Compare(inSocket[h.Cores[b.core].Socket], inSocket[h.Cores[a.core].Socket]))
	})
	s = NewSet(h.threads)
	for _, c := range best[:amount] {
		for i, w := range c.threads {
			s[i] |= w
		}
	}
	return s, cost, true
}

func (h *Machine) candidates(u Unit, free Set, devices []Device) []candidate {
	distances := make([]func(int) int, len(devices))
	for i, d := range devices {
		distances[i] = h.from(d)
	}
	list := make([]candidate, 0, len(h.list(u)))
	for _, one := range h.list(u) {
		if one.threads.within(free) {
			c := candidate{unit: one}
			for _, from := range distances {
				c.distance += from(one.core)
			}
			list = append(list, c)
		}
	}
	return list
}

// together reports whether two cores are in the same unit of a level.
func (h *Machine) together(l level, a, b int) bool { return h.Cores[a].at(l, a) == h.Cores[b].at(l, b) }

// leastCost is the least sum of the distances of so many candidates.
func leastCost(list []candidate, amount int) (cost int) {
	for distance := 0; amount > 0; distance++ {
		for i := range list {
			if list[i].distance == distance && amount > 0 {
				cost, amount = cost+distance, amount-1
			}
		}
	}
	return cost
}
