package gridserver

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestStepsOfOneMoment: two runs in the same millisecond are two steps of one
// moment, which may stand in two objects. The later one counts, in whatever
// order they come.
func TestStepsOfOneMoment(t *testing.T) {
	first := &grid.AlgorithmState{Algorithm: Name, Name: usedName(1, 1),
		Values: grid.Values{{Name: "1000", Text: "2"}, {Name: "3000", Text: "1"}}}
	second := &grid.AlgorithmState{Algorithm: Name, Name: usedName(1, 2),
		Values: grid.Values{{Name: "3000", Text: "4"}, {Name: "4000", Text: "0"}}}
	for name, applied := range map[string][]events.Event{
		"one list":      {events.Listed(first), events.Listed(second)},
		"said anew":     {events.Listed(first), events.Listed(second), events.Mod(second)},
		"one after one": {events.Mod(first), events.Mod(second)},
	} {
		m := NewModel()
		for i, e := range applied {
			m.Apply(events.List{Seq: uint64(i + 1), Events: []events.Event{e}})
		}
		if got, want := m.index.histories[1].until(5000), int64(2*2000+4*1000); got != want {
			t.Errorf("%s: used %d engine-milliseconds, want %d", name, got, want)
		}
	}
}

// TestHistoryStays: what a session has had, a start of the last run included, does not change when more of it is
// stored.
func TestHistoryStays(t *testing.T) {
	m, job := NewModel(), &grid.Job{ID: 1, Array: true}
	stored := state(usedName(1, 1), grid.Values{{Name: "1000", Text: "1"}, {Name: "2000", Text: "2"},
		{Name: "3000", Text: "3"}})
	start := begins(&session{id: 1}, 4000, 7, "h1")
	m.Apply(events.List{Seq: 1, Events: []events.Event{events.Listed(&stored), events.Listed(&start)}})
	h, _ := m.historyOf(job, &session{id: 1})
	later := state(usedName(1, 1), append(stored.Values, grid.Value{Name: "4000", Text: "3"})) // the task is over
	m.Apply(events.List{Seq: 2, Events: []events.Event{events.Mod(&later)}})
	if got := h.engines(); got != 4 {
		t.Errorf("had 4 engines, and %d when less were stored", got)
	}
}
