package state_test

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// A copy stays as it is while the State follows further lists.
func ExampleState_Apply() {
	s := state.New()
	s.Apply(events.List{Seq: 1, Events: []events.Event{events.Add(&grid.Project{Name: "gold", FShare: 100})}})
	before := s.Copy()
	s.Apply(events.List{Seq: 2, Events: []events.Event{events.Mod(&grid.Project{Name: "gold", FShare: 300})}})

	shares := func(s *state.State) uint32 {
		return s.Get(grid.KindProject, grid.Key{Name: "gold"}).(*grid.Project).FShare
	}
	fmt.Println("list", before.Seq, "gold", shares(before))
	fmt.Println("list", s.Seq, "gold", shares(s))
	// Output:
	// list 1 gold 100
	// list 2 gold 300
}
