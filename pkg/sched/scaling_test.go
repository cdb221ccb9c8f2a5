package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestScalingByNameAndShortcut: of two factors for one load value, by its name and by its shortcut, the first counts,
// for listings as for placement.
func TestScalingByNameAndShortcut(t *testing.T) {
	st := state.New()
	queue := grid.Default(grid.KindCQueue, "q").(*grid.CQueue)
	queue.HostList = grid.Names{"h"}
	for _, o := range []grid.Object{
		&grid.Centry{Name: "load_avg", Shortcut: "la", Type: "DOUBLE", Relop: ">=", Requestable: "NO",
			Consumable: "NO", Default: "0"},
		&grid.ExecHost{Name: "h", LoadScaling: grid.Values{{Name: "la", Text: "2"}, {Name: "load_avg", Text: "3"}}},
		&grid.Load{Host: "h", Processors: 1, Values: grid.Values{{Name: "load_avg", Text: "1"}}},
		queue, &grid.QInstance{Queue: "q", Host: "h"},
	} {
		st.Apply(events.List{Events: []events.Event{events.Add(o)}})
	}
	for range 50 { // the order of a map differs from time to time
		c := NewCluster(st)
		v, ok := c.Reported("h", "load_avg", true)
		placed := c.site.ParseLoad(st.Load("h"), c.site.Hosts[c.site.HostAt["h"]]).Numbers[c.site.Complex.Find("load_avg")]
		if !ok || v != 2 || placed != 2 {
			t.Fatalf("load_avg is %v, for placement %v, want 2", v, placed)
		}
	}
}
