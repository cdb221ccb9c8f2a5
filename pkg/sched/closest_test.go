package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/testkit"
)

// What Closest says of an instance is what the search for a place finds there,
// and what Explain says: it lacks nothing if and only if it can give a slot.
func TestClosestAgreesWithPlace(t *testing.T) {
	given, refused := 0, 0
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for range 60 {
			w.happen()
			j := w.job()
			n := w.c.Need(j)
			if n.Job.AR != 0 {
				continue
			}
			near := w.c.Closest(n, 1000)
			if len(near) != len(w.c.site.Instances) {
				t.Fatalf("%d of %d instances", len(near), len(w.c.site.Instances))
			}
			global, _ := w.c.find.slots(w.c.find.atGlobal(), n)
			for _, m := range near {
				in := w.c.site.Instances[w.c.site.InstAt[m.Instance]]
				now := w.c.nows.At(in.Host.Index)
				open := now.load != nil && w.c.stateReason(in).Fits() && w.c.alarm(in, now).of == nil &&
					w.c.ledger.At(in.Host.Index).Used(in.Place, 0) < in.Supply.Capacity[0]
				fits := open && global.any(n) && w.c.find.impossible(n).Fits() && w.c.find.whyNot(n, in).Fits()
				if fits != (len(m.Lacks) == 0) {
					t.Fatalf("%s: %v for %+v, which lacks %+v", m.Instance, w.c.find.whyNot(n, in), *j.JobRequest, m.Lacks)
				}
				if j.PE == "" && open && w.c.find.static(n, in).Fits() {
					if slots := w.c.find.instanceSlots(n, in); global.any(n) && w.c.find.impossible(n).Fits() && slots > 0 != fits {
						t.Fatalf("%s gives %d slots to %+v, and lacks %+v", m.Instance, slots, *j.JobRequest, m.Lacks)
					}
				}
				for _, l := range m.Lacks {
					if l.Reason.Fits() || l.Reason.String() == "" {
						t.Fatalf("a lack without a reason: %+v", l)
					}
				}
				if fits {
					given++
				} else {
					refused++
				}
			}
		}
	})
	if given < 1000 || refused < 1000 {
		t.Errorf("%d instances fitted, %d did not: too few to say anything", given, refused)
	}
}
