package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// Small parts of placing and counting, each held against the plainest way to do the same.

// TestAllocationRulesShapePlacements: what a rule gives has its shape. $fill_up leaves a host only when it is full,
// $round_robin gives no host two slots more than another one that has room, a number is the same on each host,
// $pe_slots has one host.
func TestAllocationRulesShapePlacements(t *testing.T) {
	placed := map[string]int{}
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, 3*seed) // without quotas
		for range 40 {
			w.happen()
			for _, text := range []string{"$pe_slots", "$fill_up", "$round_robin", "2"} {
				pe := *w.st.PE("mpi")
				pe.AllocationRule, pe.Slots = text, 99
				j := &grid.Job{ID: 9999, Owner: "u1", JobRequest: &grid.JobRequest{PE: "mpi"}}
				j.PERange = grid.Ranges{{First: uint32(1 + w.r.IntN(2)), Last: uint32(2 + w.r.IntN(8)), Step: 1}}
				w.applyEvents(events.Mod(&pe))
				p, why := w.c.FindPlacement(w.c.Need(j), &Cursor{})
				if !why.Fits() {
					continue
				}
				placed[text]++
				if wrong := w.misshapen(text, p); wrong != "" {
					t.Fatalf("%s: %v: %s", text, p.Grants, wrong)
				}
			}
		}
	})
	for _, text := range []string{"$pe_slots", "$fill_up", "$round_robin", "2"} {
		if placed[text] < 100 {
			t.Errorf("only %d placements by %s", placed[text], text)
		}
	}
}

// misshapen is how a placement, each host of which gives from its one queue instance, does not have the shape of a
// rule.
func (w *randomWorld) misshapen(rule string, p Placement) string {
	left := func(g grid.Grant) int {
		in := w.c.site.Granted(g)
		now, use := w.c.nows.At(in.Host.Index), w.c.ledger.At(in.Host.Index)
		free := int(in.Supply.Capacity[0] - use.Used(in.Place, 0))
		mem := in.Host.Supply.Capacity[w.c.site.ColumnOf("mem")] - use.Used(0, w.c.site.ColumnOf("mem"))
		free = min(free, int(mem/float64(100<<20))) // the default of mem
		return min(free, w.c.alarmSlots(in, now, w.c.adjustment(in.Host.Index))) - int(g.Slots)
	}
	total := uint32(0)
	for i, g := range p.Grants {
		total += g.Slots
		switch rule {
		case "$pe_slots":
			if i > 0 {
				return "two hosts"
			}
		case "2":
			if g.Slots != 2 {
				return "not two slots on each host"
			}
		case "$fill_up":
			if i < len(p.Grants)-1 && left(g) > 0 {
				return "it leaves " + g.Host + " before that is full"
			}
		case "$round_robin":
			for _, o := range p.Grants {
				if g.Slots > o.Slots+1 && left(o) > 0 {
					return g.Host + " has more than " + o.Host + ", which has room"
				}
			}
		}
	}
	if total != p.Slots {
		return fmt.Sprintf("%d slots are granted of %d", total, p.Slots)
	}
	return ""
}

// TestRangesOfSlots: the largest and the smallest amount in a range are those that trying one after the other finds.
func TestRangesOfSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.FirstSeed(1), 21))
	for range 3000 {
		var ranges grid.Ranges
		for range 1 + r.IntN(3) {
			first := uint32(1 + r.IntN(12))
			one := grid.Range{First: first, Last: first + uint32(r.IntN(12)), Step: uint32(r.IntN(4))}
			if r.IntN(6) == 0 {
				one.Last = grid.Open
			}
			ranges = append(ranges, one)
		}
		limit, unit := r.IntN(30), 1+r.IntN(4)
		least, most := 0, 0
		for n := 200; n > 0; n-- {
			in := slices.ContainsFunc(ranges, func(o grid.Range) bool {
				return n >= int(o.First) && (o.Last == grid.Open || n <= int(o.Last)) && (n-int(o.First))%int(max(o.Step, 1)) == 0
			})
			if in && n%unit == 0 {
				least = n
				if n <= limit {
					most = max(most, n)
				}
			}
		}
		if got := largest(ranges, limit, unit); got != most {
			t.Fatalf("%v, at most %d, a multiple of %d: %d, want %d", ranges, limit, unit, got, most)
		}
		if got := smallest(ranges, unit); got != least {
			t.Fatalf("%v, a multiple of %d: the least is %d, want %d", ranges, unit, got, least)
		}
	}
}

// TestShareEvenly: passes that are done at once give what one slot after the other gives.
func TestShareEvenly(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.FirstSeed(1), 22))
	for range 3000 {
		hosts := make([]offer, 1+r.IntN(6))
		want := make([]int, len(hosts))
		for i := range hosts {
			hosts[i].slots = r.IntN(8)
		}
		slots := r.IntN(40)
		left := slots
		for given := true; given; {
			given = false
			for i := range hosts {
				if left > 0 && want[i] < hosts[i].slots {
					want[i], left, given = want[i]+1, left-1, true
				}
			}
		}
		shares := make([]int, len(hosts))
		if rest := shareEvenly(hosts, shares, slots); rest != left || !slices.Equal(shares, want) {
			t.Fatalf("%d slots over %v: %v and %d left, want %v and %d", slots, hosts, shares, rest, want, left)
		}
	}
}

// TestUnbookTakesBack: what a run has booked and taken back has left nothing, in whichever order.
func TestUnbookTakesBack(t *testing.T) {
	testkit.EachSeed(t, 30, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for range 40 {
			w.happen()
		}
		run := w.c.Copy(w.st.Copy())
		run.Begin(w.c.find.span.Now)
		before := run.dump()
		type booked struct {
			n *Need
			j *grid.Job
			p Placement
		}
		var all []booked
		for range 6 {
			j := w.job()
			n := run.Need(j)
			if p, why := run.FindPlacement(n, &Cursor{}); why.Fits() {
				run.Book(n, j, p)
				all = append(all, booked{n, j, p})
				if run.Started(j.ID) != 1 {
					t.Fatalf("job %d has %d tasks", j.ID, run.Started(j.ID))
				}
			}
		}
		if len(all) > 0 && run.dump() == before {
			t.Fatal("nothing was booked")
		}
		w.r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for _, b := range all {
			run.Unbook(b.n, b.j, b.p)
		}
		left := slices.ContainsFunc(all, func(b booked) bool { return run.Started(b.j.ID) > 0 })
		if after := run.dump(); after != before || left {
			t.Fatalf("before\n%s\nafter all was taken back\n%s", before, after)
		}
	})
}

// TestPreemptedOfAJob: those of one job are found, in the order of their numbers, and no others.
func TestPreemptedOfAJob(t *testing.T) {
	w := newRandomWorld(t, 1)
	for id := uint32(1); id <= 3; id++ {
		w.applyEvents(events.Add(&grid.Job{ID: id, Owner: "u0", Array: true, JobRequest: &grid.JobRequest{}}))
		for task := uint32(1); task <= 3; task++ {
			o := &grid.JATask{Job: id, ID: task, Status: grid.Running, Start: grid.Time(10*id - task),
				Grants: []grid.Grant{{Queue: "all.q", Host: "h2", Slots: 1}}}
			if (id+task)%2 == 0 {
				o.State |= grid.StateSuspendedPreempted
			}
			w.applyEvents(events.Add(o))
		}
	}
	text := func(tasks []*grid.JATask) (s string) {
		for _, o := range tasks {
			s += fmt.Sprintf("%d.%d ", o.Job, o.ID)
		}
		return s
	}
	for id, want := range []string{"", "1.1 1.3 ", "2.2 ", "3.1 3.3 ", ""} {
		if got := text(w.c.PreemptedOf(uint32(id))); got != want {
			t.Errorf("job %d: %s, want %s", id, got, want)
		}
	}
	if got, want := text(w.c.Preempted()), "1.3 1.1 2.2 3.3 3.1 "; got != want {
		t.Errorf("all, the first that started first: %s, want %s", got, want)
	}
}
