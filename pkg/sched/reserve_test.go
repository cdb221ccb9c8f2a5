package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/testkit"
)

// Earliest finds what trying one moment after the other finds.
func TestEarliestIsTheFirstThatFits(t *testing.T) {
	found := 0
	testkit.EachSeed(t, 300, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, 2*seed+1)
		for range 40 {
			w.happen()
		}
		run := w.c.Copy(w.st.Copy())
		run.Begin(w.c.find.span.Now)
		for range 12 {
			j := w.job()
			if pe := w.r.IntN(3); pe > 0 {
				j.Ask().PE = "mpi"
				first := uint32(1 + w.r.IntN(4))
				j.PERange = grid.Ranges{{First: first, Last: first + uint32(w.r.IntN(3)), Step: 1}}
			}
			n := run.Need(j)
			p, at, why := run.Earliest(n, 0)
			want, first := Placement{}, grid.Never
			for t := run.find.span.Now + 1; t < grid.Never; t = run.ledger.NextRelease(t, run.find.span.Clock()) {
				run.find.setWindow(t, n)
				p, r := run.find.firstIn(n)
				if r.Fits() {
					want, first = p, t
					break
				}
			}
			if at != first || p.Slots != want.Slots || why.Fits() != (first < grid.Never) {
				t.Fatalf("%v %v at %v (%v), but %v fits at %v", j.JobRequest, p, at, why, want, first)
			}
			if first < grid.Never {
				found++
				run.Reserve(n, p, at)
			}
		}
	})
	if found < 1000 {
		t.Errorf("only %d reservations were made", found)
	}
}

// firstIn places at the time that is looked at, instances one after the other.
func (c *search) firstIn(n *Need) (p Placement, why reason.Reason) {
	if n.Job.PE != "" {
		return c.place(n, &Cursor{})
	}
	if g, _ := c.slots(c.atGlobal(), n); g.lead == 0 {
		return p, reason.Reason{Code: reason.NotGlobally}
	}
	for _, r := range c.lineUp() {
		in := c.site.Instances[r.inst]
		if c.suits(n, in) && c.instanceSlots(n, in) > 0 {
			return Placement{Grants: []grid.Grant{{Queue: in.Queue.Name, Host: in.Host.Name, Slots: 1}}, Slots: 1},
				reason.Reason{}
		}
	}
	return p, reason.Reason{Code: reason.QueueUnavailable}
}
