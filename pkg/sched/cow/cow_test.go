package cow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/testkit"
)

type number struct{ n int }

func (n *number) Become(old *number) { *n = *old }

// TestRowsAreIndependent: a copy stays as it is, and so do copies of copies and what is lent, whatever is written to
// the others.
func TestRowsAreIndependent(t *testing.T) {
	testkit.EachSeed(t, 40, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 23))
		n := 1 + r.IntN(60)
		type rows = Rows[number, *number]
		first := NewRows[number](n)
		all, plain := []*rows{&first}, [][]int{make([]int, n)}
		var lent rows
		var written []int // to what is lent
		of := -1
		for step := range 300 {
			k := r.IntN(len(all))
			switch r.IntN(20) {
			case 0:
				c := all[k].Copy()
				all, plain = append(all, &c), append(plain, slices.Clone(plain[k]))
				continue
			case 1:
				lent, written, of = all[k].Lend(lent), slices.Clone(plain[k]), k
				continue
			}
			i := r.IntN(n)
			if of >= 0 && r.IntN(2) == 0 {
				lent.Own(i).n = step
				written[i] = step
			} else {
				if all[k].Own(i).n = step; k == of {
					of = -1 // its source has changed
				}
				plain[k][i] = step
			}
			check := func(what int, rows *rows, want []int) {
				for i := range want {
					if got := rows.At(i).n; got != want[i] {
						t.Fatalf("rows %d have %d at %d, want %d", what, got, i, want[i])
					}
				}
			}
			for k := range all {
				check(k, all[k], plain[k])
			}
			if of >= 0 {
				check(-1, &lent, written)
			}
		}
	})
}
