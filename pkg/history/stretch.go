package history

import (
	"slices"
	"sort"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/state"
)

// stretch is a piece of the log that a Player has in its hands: a state, the
// lists after it, and more states between them where it was asked for some.
type stretch struct {
	states []checkpoint // by Seq; the first is that before the lists
	lists  []events.List
	events int // in the lists
}

// stretchEvents is how many events there are between two states of a stretch.
const stretchEvents = 250

// begin is a stretch after s, which must not be changed.
func begin(s *state.State) stretch { return stretch{states: []checkpoint{{s.Seq, s}}} }

// end is the Seq of its last list.
func (w *stretch) end() uint64 {
	if len(w.states) == 0 {
		return 0
	}
	return w.states[0].seq + uint64(len(w.lists))
}

// add takes the next list; others are no part of the stretch.
func (w *stretch) add(l events.List) {
	if l.Seq == w.end()+1 {
		w.lists = append(w.lists, l)
		w.events += len(l.Events)
	}
}

// has reports whether the state after the list seq can be made, and the list then,
// which is that one or the next, is there.
func (w *stretch) has(seq, then uint64) bool {
	return len(w.states) > 0 && seq >= w.states[0].seq && then <= w.end()
}

// list is the one with that Seq; none for the Seq of the first state.
func (w *stretch) list(seq uint64) (l events.List) {
	if first := w.states[0].seq + 1; seq >= first {
		l = w.lists[seq-first]
	}
	return l
}

// state is the state after the list seq, for the caller to change.
func (w *stretch) state(seq uint64) *state.State {
	i := sort.Search(len(w.states), func(i int) bool { return w.states[i].seq > seq }) - 1
	s, since := w.states[i].state.Copy(), 0
	for s.Seq < seq {
		if since >= stretchEvents {
			i, since = i+1, 0
			w.states = slices.Insert(w.states, i, checkpoint{s.Seq, s.Copy()})
		}
		l := w.list(s.Seq + 1)
		s.Apply(l)
		since += len(l.Events)
	}
	return s
}
