package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/pkg/topology"
)

// treeOf makes a host of its topology. Core c of n is processor c; its second thread is
// c+n. Without a text there is none.
func treeOf(text string) *topology.Machine {
	if text == "" {
		return nil
	}
	h, err := topology.Parse(text)
	if err != nil {
		panic(err)
	}
	for i := range h.Cores {
		for k := range h.Cores[i].Processors {
			h.Cores[i].Processors[k] = i + k*len(h.Cores)
		}
	}
	return h
}

// TestChoice prints which cores of a host each request gets. The topology has those
// that are taken in lower case.
func TestChoice(t *testing.T) {
	datadriven.RunTest(t, "testdata/topology/choose.txt", func(t *testing.T, d *datadriven.TestData) string {
		slots, text := uint32(1), ""
		for _, a := range d.CmdArgs {
			if a.Key == "slots" {
				fmt.Sscan(a.Vals[0], &slots)
			} else {
				text = a.Key
			}
		}
		tree := treeOf(strings.ToUpper(text))
		top := topologyOf(tree)
		var taken []int
		if tree != nil {
			set, _ := tree.Mask(text)
			taken = tree.CoresOf(set)
		}
		busy := func(core int) bool { return slices.Contains(taken, core) }
		var b strings.Builder
		for request := range strings.Lines(d.Input) {
			request = strings.TrimSpace(request)
			binding, wrong := grid.ParseBinding(grid.BindSet, request)
			if wrong != "" {
				t.Fatal(request, wrong)
			}
			fmt.Fprintf(&b, "%-17s ", request)
			got := top.chooseCores(binding, slots, busy)
			if len(got) == 0 {
				fmt.Fprintln(&b, "unbound")
				continue
			}
			fmt.Fprint(&b, tree.Classic(tree.OfCores(got)))
			for _, core := range got {
				fmt.Fprint(&b, " ", top[core].CoreID)
			}
			fmt.Fprintln(&b)
		}
		return b.String()
	})
}

// TestChoiceLaws: whatever is requested on whatever host, a choice is as many
// different free cores as were asked for, and linear finds one while there is.
func TestChoiceLaws(t *testing.T) {
	testkit.EachSeed(t, 2000, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		var text strings.Builder
		for range 1 + r.IntN(4) {
			text.WriteString("S" + strings.Repeat("C", 1+r.IntN(5)))
		}
		top := topologyOf(treeOf(text.String()))
		taken := make([]bool, len(top))
		free := 0
		for i := range taken {
			if taken[i] = r.IntN(3) == 0; !taken[i] {
				free++
			}
		}
		b := &grid.Binding{Strategy: grid.BindLinear, Amount: 1 + r.Uint32N(6)}
		want := int(b.Amount)
		switch r.IntN(4) {
		case 1:
			b.Strategy, b.Step = grid.BindStriding, 1+r.Uint32N(4)
		case 2:
			b.Cores = []grid.CoreID{top[r.IntN(len(top))].CoreID}
		case 3:
			b.Strategy, b.Amount = grid.BindExplicit, 0
			for _, i := range r.Perm(len(top))[:1+r.IntN(len(top))] {
				b.Cores = append(b.Cores, top[i].CoreID)
			}
			want = len(b.Cores)
		}
		got := top.chooseCores(b, 1, func(core int) bool { return taken[core] })
		if b.Strategy == grid.BindLinear && len(b.Cores) == 0 && (len(got) > 0) != (free >= want) {
			t.Fatalf("%v of %d free cores in %s: %v", b, free, &text, got)
		}
		if len(got) == 0 {
			return
		}
		if len(got) != want || len(slices.Compact(slices.Sorted(slices.Values(got)))) != want {
			t.Fatalf("%v in %s got %v", b, &text, got)
		}
		for _, core := range got {
			if taken[core] {
				t.Fatalf("%v in %s got %v, and %d is taken", b, &text, got, core)
			}
		}
	})
}
