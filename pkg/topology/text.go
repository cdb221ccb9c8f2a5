package topology

import (
	"slices"
	"strings"
)

// Text returns the topology string of a host, the threads of a set in lower case, and what has no
// others. Letters of levels that are not known are left out, as is the thread of a core that has one.
func (h *Machine) Text(in Set) string {
	var b strings.Builder
	order := "NSXY"
	if h.wide {
		order = "SNXY"
	}
	for i := range h.Cores {
		for _, letter := range []byte(order) {
			l := levelOf(letter)
			if h.shows(letter) && (i == 0 || h.Cores[i-1].at(l, i-1) != h.Cores[i].at(l, i)) {
				b.WriteByte(cased(letter, h.group(l, i).within(in)))
			}
		}
		h.core(&b, i, in, len(h.Cores[i].Processors) > 1, h.Cores[i].Efficient)
	}
	return b.String()
}

// Classic returns m_topology of Grid Engine 8.1.9: sockets, cores and, where cores have several,
// threads. Sockets are in upper case always.
func (h *Machine) Classic(in Set) string {
	several := slices.ContainsFunc(h.Cores, func(c Core) bool { return len(c.Processors) > 1 })
	var b strings.Builder
	for i, c := range h.Cores {
		if i == 0 || c.Socket != h.Cores[i-1].Socket {
			b.WriteByte('S')
		}
		h.core(&b, i, in, several, false)
	}
	return b.String()
}

// core writes a core with its threads.
func (h *Machine) core(b *strings.Builder, i int, in Set, threads, efficient bool) {
	letter, all := byte('C'), true
	if efficient {
		letter = 'E'
	}
	for t := h.first[i]; t < h.first[i+1]; t++ {
		all = all && in.Has(t)
	}
	b.WriteByte(cased(letter, all))
	if threads {
		for t := h.first[i]; t < h.first[i+1]; t++ {
			b.WriteByte(cased('T', in.Has(t)))
		}
	}
}

// shows reports whether strings of the host have a letter.
func (h *Machine) shows(letter byte) bool {
	switch letter {
	case 'N':
		return h.nodes
	case 'X':
		return h.thirds
	case 'Y':
		return h.seconds
	}
	return true
}

// group returns all threads that are in the same unit of a level as a core.
func (h *Machine) group(l level, core int) Set {
	s := NewSet(h.threads)
	for i := core; i < len(h.Cores) && h.Cores[i].at(l, i) == h.Cores[core].at(l, core); i++ {
		s.add(h.first[i], h.first[i+1])
	}
	return s
}

// Mask returns the threads that a topology string has in lower case: those of cores in lower case,
// and single ones. ok is false when the string is of another host: its sockets and cores differ, or
// the threads of a core. A string without threads stands for all of them.
func (h *Machine) Mask(text string) (s Set, ok bool) {
	s = NewSet(h.threads)
	core, thread, socket := -1, 0, -1
	whole := func() bool { return core < 0 || thread == 0 || thread == len(h.Cores[core].Processors) }
	for i := range len(text) {
		letter := text[i]
		lower := letter >= 'a'
		switch upper(letter) {
		case 'S':
			socket++
		case 'C', 'E':
			if !whole() {
				return nil, false
			}
			core, thread = core+1, 0
			if core >= len(h.Cores) || socket >= 0 && h.Cores[core].Socket != socket || upper(letter) == 'E' &&
				!h.Cores[core].Efficient {
				return nil, false
			}
			if lower {
				s.add(h.first[core], h.first[core+1])
			}
		case 'T':
			if core < 0 || thread >= len(h.Cores[core].Processors) {
				return nil, false
			}
			if lower {
				s.add(h.first[core]+thread, h.first[core]+thread+1)
			}
			thread++
		case 'N', 'X', 'Y':
		default:
			return nil, false
		}
	}
	if core < 0 || core < len(h.Cores)-1 || !whole() || socket >= 0 && h.Cores[core].Socket != socket {
		return nil, false
	}
	return s, true
}

func upper(letter byte) byte {
	if letter >= 'a' && letter <= 'z' {
		letter -= 'a' - 'A'
	}
	return letter
}

func cased(letter byte, lower bool) byte {
	if lower {
		return letter + 'a' - 'A'
	}
	return letter
}
