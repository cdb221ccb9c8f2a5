package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

func TestLargest(t *testing.T) {
	ranges := grid.Ranges{{First: 2, Last: 2, Step: 1}, {First: 4, Last: 9, Step: 3},
		{First: 20, Last: grid.Open, Step: 1}}
	for _, c := range []struct{ limit, unit, want int }{
		{1, 1, 0}, {3, 1, 2}, {6, 1, 4}, {9, 1, 7}, {9, 2, 4}, {19, 1, 7}, {25, 1, 25}, {25, 4, 24}, {21, 7, 21},
	} {
		if got := largest(ranges, c.limit, c.unit); got != c.want {
			t.Errorf("at most %d, multiple of %d: %d, want %d", c.limit, c.unit, got, c.want)
		}
	}
}

// Against all ways to distribute slots over three hosts: what is placed fits
// and keeps to the rule, and no larger amount would have fitted. Where quotas limit the hosts of a job,
// these are taken in their order, and others might have given more.
func TestParallelPlacementIsTheLargest(t *testing.T) {
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for _, text := range []string{"$pe_slots", "$fill_up", "$round_robin", "1", "2", "3"} {
			for range w.r.IntN(15) {
				w.happen()
			}
			pe := *w.st.PE("mpi")
			pe.AllocationRule, pe.Slots = text, uint32(6+w.r.IntN(8))
			j := w.job()
			j.PE, j.PERange = "mpi", grid.Ranges{{First: uint32(1 + w.r.IntN(3)), Last: uint32(4 + w.r.IntN(6)), Step: 1}}
			if w.r.IntN(3) == 0 {
				j.MasterQueues = grid.Names{"*@h2"}
			}
			w.applyEvents(events.Mod(&pe), events.Add(j))
			rule, _ := parseRule(text)
			p, why := w.c.FindPlacement(w.c.Need(j), &Cursor{})
			if why.Fits() {
				if r := w.c.Fits(j, p.Grants, p.PE); !r.Fits() || !rule.keeps(p.Grants) {
					t.Fatalf("%s: %v: %v", text, p.Grants, r)
				}
			}
			if n := w.c.Need(j); n.perHost && w.c.find.passing(n, "mpi") != nil {
				continue
			}
			w.eachWay(func(grants []grid.Grant, slots uint32) {
				if slots > p.Slots && rule.keeps(grants) && j.PERange.Contains(slots) &&
					w.c.Fits(j, grants, "mpi").Fits() && w.open(grants) {
					t.Fatalf("%s: %v was placed (%v), but %v fits: %+v", text, p.Grants, why, grants, *j.JobRequest)
				}
			})
		}
	})
}

// keeps reports whether grants follow an allocation rule.
func (r rule) keeps(grants []grid.Grant) bool {
	for _, g := range grants {
		if r.kind == fixedSlots && int(g.Slots) != r.fixed {
			return false
		}
	}
	return r.kind != peSlots || len(grants) == 1
}

// open reports whether no instance is in load alarm, which Fits does not ask, or
// would be before the last slot.
func (w *randomWorld) open(grants []grid.Grant) bool {
	for _, g := range grants {
		in := w.c.site.Instances[w.c.site.InstAt[g.Instance()]]
		now := w.c.nows.At(in.Host.Index)
		if w.c.ranks.At(in.Index).inst < 0 || w.c.alarmSlots(in, now, w.c.adjustment(in.Host.Index)) < int(g.Slots) {
			return false
		}
	}
	return true
}

// eachWay calls f with every distribution of up to four slots to each of three
// hosts, and every choice of the master.
func (w *randomWorld) eachWay(f func([]grid.Grant, uint32)) {
	for code := 1; code < 125; code++ {
		var grants []grid.Grant
		total := uint32(0)
		for i, n := 0, code; i < 3; i, n = i+1, n/5 {
			if slots := uint32(n % 5); slots > 0 {
				grants = append(grants, grid.Grant{Queue: "all.q", Host: string([]byte{'h', byte('1' + i)}), Slots: slots})
				total += slots
			}
		}
		for m := range grants {
			order := append([]grid.Grant{grants[m]}, grants[:m]...)
			f(append(order, grants[m+1:]...), total)
		}
	}
}

// BenchmarkFits is qmaster's check of one start order.
func BenchmarkFits(b *testing.B) {
	w := newRandomWorld(nil, 1)
	j := &grid.Job{
		ID: 1, Owner: "u1", JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: "1M", Num: 1 << 20}}}}
	grants := []grid.Grant{{Queue: "all.q", Host: "h2", Slots: 1}}
	b.ReportAllocs()
	for b.Loop() {
		if r := w.c.Fits(j, grants, ""); !r.Fits() {
			b.Fatal(r)
		}
	}
}
