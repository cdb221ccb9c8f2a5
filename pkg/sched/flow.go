package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
)

// flow deals instances to selections, so that a selection gets none that another one needs more:
//
//	selections           groups of instances
//	any of them   2 ──┬──▶ A100, free 1
//	model=A100*   1 ──┘┌─▶ V100, free 3
//	              └────┘
//
// Instances that the same selections have are one group. Each push looks for a way on which selections
// that have instances already go over to others.
type flow struct {
	selections []*complex.Selection
	groups     []group
}

type group struct {
	of    string // by selection: 1 it selects these instances
	left  int
	dealt []int // by selection
}

// fill makes the groups of what is left of a map.
func (f *flow) fill(m complex.Map, left []int) {
	at := map[string]int{}
	mark := make([]byte, len(f.selections))
	for i := range m {
		if left[i] == 0 {
			continue
		}
		for k, s := range f.selections {
			if mark[k] = '0'; s.Has(&m[i]) {
				mark[k] = '1'
			}
		}
		g, known := at[string(mark)]
		if !known {
			g = len(f.groups)
			at[string(mark)] = g
			f.groups = append(f.groups, group{of: string(mark), dealt: make([]int, len(f.selections))})
		}
		f.groups[g].left += left[i]
	}
}

// push deals units to a selection and returns how many it got.
func (f *flow) push(selection, units int) (got int) {
	for got < units {
		n := f.augment(selection, units-got, make([]bool, len(f.groups)))
		if n == 0 {
			break
		}
		got += n
	}
	return got
}

func (f *flow) augment(selection, units int, seen []bool) int {
	for j := range f.groups {
		g := &f.groups[j]
		if seen[j] || g.of[selection] != '1' {
			continue
		}
		seen[j] = true
		if g.left > 0 {
			n := min(units, g.left)
			g.left, g.dealt[selection] = g.left-n, g.dealt[selection]+n
			return n
		}
		for k, dealt := range g.dealt {
			if k == selection || dealt == 0 {
				continue
			}
			if n := f.augment(k, min(units, dealt), seen); n > 0 {
				g.dealt[k], g.dealt[selection] = g.dealt[k]-n, g.dealt[selection]+n
				return n
			}
		}
	}
	return 0
}
