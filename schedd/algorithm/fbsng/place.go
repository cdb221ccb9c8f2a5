package fbsng

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Placement modes, context placement of a job.
const (
	roundRobin = "round_robin" // one process per node and turn
	spread     = "spread"      // at most one process on a node
	pack       = "pack"        // as many as possible on one node
)

func placements() grid.Names { return grid.Names{roundRobin, spread, pack} }

// share divides processes over nodes with room, which stand in the order of
// their names: how many each gets, nil when all of them do not fit.
func share(mode string, processes int, rooms []int) []sched.Part {
	parts := make([]sched.Part, len(rooms))
	for i := range parts {
		parts[i].Host = i
	}
	turn := 1
	if mode == pack {
		turn = processes
		slices.SortStableFunc(parts, func(a, b sched.Part) int {
			return cmp.Compare(min(rooms[b.Host], processes), min(rooms[a.Host], processes))
		})
	}
	left := processes
	for given := true; given && left > 0; {
		given = false
		for i := range parts {
			p := &parts[i]
			if n := min(turn, left, rooms[p.Host]-p.Slots); n > 0 {
				p.Slots, left, given = p.Slots+n, left-n, true
			}
		}
		if mode == spread {
			break
		}
	}
	if left > 0 {
		return nil
	}
	return slices.DeleteFunc(parts, func(p sched.Part) bool { return p.Slots == 0 })
}
