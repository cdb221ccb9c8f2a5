package sched

import (
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// A flow deals as many instances as any assignment can, and what is pushed later takes nothing from
// what was pushed before.
func TestFlowDealsTheMost(t *testing.T) {
	x := complex.New([]*grid.Centry{
		{Name: "model", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO"},
		{Name: "size", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "NO"},
		{Name: "gpu", Type: grid.TypeMap, Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "0"},
	})
	blocks := []string{"", "[model=a]", "[model=b]", "[model=a|b]", "[size>=2]", "[size=2,model=a]",
		"[model!=c]", "[size<3]"}
	testkit.EachSeed(t, 3000, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		var m complex.Map
		var left []int
		for i := range 1 + r.IntN(4) {
			in := complex.Instance{ID: string(rune('p' + i)), Amount: 1 + r.IntN(2)}
			if r.IntN(4) > 0 {
				in.Traits = grid.Values{{Name: "model", Text: string(rune('a' + r.IntN(3)))},
					{Name: "size", Text: string(rune('1' + r.IntN(3)))}}
			}
			m, left = append(m, in), append(left, r.IntN(in.Amount+1))
		}
		var f flow
		wants := []int{}
		for range 1 + r.IntN(3) {
			s, err := x.Selection("gpu", blocks[r.IntN(len(blocks))])
			if err != nil {
				t.Fatal(err)
			}
			f.selections, wants = append(f.selections, s), append(wants, r.IntN(4))
		}
		f.fill(m, left)
		got := make([]int, len(wants))
		for i, want := range wants {
			got[i] = f.push(i, want)
			sum := 0
			for _, n := range got {
				sum += n
			}
			if most := mostDealt(m, left, f.selections[:i+1], append([]int(nil), wants[:i+1]...)); sum != most {
				t.Fatalf("%v of %v units of %+v, left %v, are dealt, %d are possible", got, wants, m, left, most)
			}
		}
		for i, n := range got {
			dealt := 0
			for _, g := range f.groups {
				dealt += g.dealt[i]
			}
			if dealt != n {
				t.Fatalf("selection %d got %d units and has %d", i, n, dealt)
			}
		}
	})
}

// mostDealt tries all assignments.
func mostDealt(m complex.Map, left []int, selections []*complex.Selection, wants []int) (most int) {
	for i := range m {
		if left[i] == 0 {
			continue
		}
		rest := append([]int(nil), left...)
		rest[i]--
		for k, s := range selections {
			if wants[k] > 0 && s.Has(&m[i]) {
				fewer := append([]int(nil), wants...)
				fewer[k]--
				most = max(most, 1+mostDealt(m, rest, selections, fewer))
			}
		}
		rest[i] = 0
		return max(most, mostDealt(m, rest, selections, wants))
	}
	return most
}
