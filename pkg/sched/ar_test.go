package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestJobsInAR: jobs of a reservation are placed in what it holds and nowhere
// else, and others leave it alone, also in copies and after changes.
func TestJobsInAR(t *testing.T) {
	w := newRandomWorld(t, 3)
	w.tell(events.Mod(&grid.SchedConf{LoadFormula: "np_load_avg", DefaultDuration: "0:1:40"}))
	a := &grid.AR{ID: 1, Owner: "u1", State: grid.ARRunning, Start: w.st.At, End: w.st.At.Add(1000),
		Hard:   grid.Requests{{Name: "mem", Value: "400M", Num: 4e8}},
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}, {Queue: "all.q", Host: "h2", Slots: 1}}, GrantedPE: "mpi"}
	w.tell(events.Add(a))
	c := w.c.Copy(w.st.Copy())
	c.Begin(w.st.At)
	job := func(id, ar uint32, owner string, mem float64) *grid.Job {
		return &grid.Job{ID: id, Owner: owner, JobRequest: &grid.JobRequest{AR: ar, Hard: grid.Requests{{Name: "mem", Value: "?", Num: mem}}}}
	}
	place := func(j *grid.Job) (grid.Grant, Reason) {
		n := c.Need(j)
		if !n.Current(c) {
			t.Errorf("job %d: the need is not current", j.ID)
		}
		p, why := c.Place(n, &Cursor{})
		if !why.Fits() {
			return grid.Grant{}, why
		}
		c.Book(n, j, p)
		return p.Grants[0], why
	}
	seen := map[string]int{}
	for id := range uint32(3) {
		g, why := place(job(10+id, 1, "u1", 1e8))
		if !why.Fits() {
			t.Fatalf("job %d of the reservation: %s", id, why)
		}
		seen[g.Instance()]++
	}
	if seen["all.q@h1"] != 2 || seen["all.q@h2"] != 1 {
		t.Errorf("placed %v", seen)
	}
	if _, why := place(job(20, 1, "u1", 1e8)); why.Fits() {
		t.Error("the reservation holds no more")
	}
	if _, why := place(job(21, 1, "u2", 1e8)); why.Code != NoAccessAR {
		t.Errorf("a stranger: %v", why)
	}
	seen = map[string]int{}
	for id := uint32(30); ; id++ {
		g, why := place(job(id, 0, "u2", 1e6))
		if !why.Fits() {
			break
		}
		seen[g.Instance()]++
	}
	// h1 has 2 slots, all reserved; h2 has 4 less one, h3 has 4.
	if seen["all.q@h1"] != 0 || seen["all.q@h2"] != 3 || seen["all.q@h3"] != 4 {
		t.Errorf("others are placed %v", seen)
	}
}

// TestReservingInAR: a job of a reservation that cannot start there now gets
// the earliest time at which it can, in what is reserved, and others of it are
// started beside it when they end before.
func TestReservingInAR(t *testing.T) {
	w := newRandomWorld(t, 3)
	w.tell(events.Mod(&grid.SchedConf{MaxReservation: 5, LoadFormula: "np_load_avg", DefaultDuration: "INFINITY", Params: "DURATION_OFFSET=10"}))
	w.tell(events.Add(&grid.AR{ID: 1, Owner: "u1", State: grid.ARRunning, Start: w.st.At, End: w.st.At.Add(1000),
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}}, GrantedPE: "mpi"}))
	c := w.c.Copy(w.st.Copy())
	c.Begin(w.st.At)
	job := func(id uint32, seconds float64, slots uint32) (*grid.Job, *Need) {
		ask := &grid.JobRequest{AR: 1, Hard: grid.Requests{{Name: "h_rt", Value: "?", Num: seconds}}}
		if slots > 1 {
			ask.PE, ask.PERange = "mpi", grid.Ranges{{First: slots, Last: slots, Step: 1}}
		}
		j := &grid.Job{ID: id, Owner: "u1", Reserve: true, JobRequest: ask}
		return j, c.Need(j)
	}
	starts := func(j *grid.Job, n *Need) bool {
		p, why := c.Place(n, &Cursor{})
		if why.Fits() {
			c.Book(n, j, p)
		}
		return why.Fits()
	}
	if !starts(job(1, 300, 1)) {
		t.Fatal("the first does not start")
	}
	_, two := job(2, 300, 2)
	if _, why := c.Place(two, &Cursor{}); why.Fits() {
		t.Fatal("both slots are free")
	}
	p, at, why := c.Earliest(two, 0)
	if !why.Fits() || at != w.st.At.Add(310) || p.Slots != 2 || p.Grants[0].Instance() != "all.q@h1" {
		t.Fatalf("earliest %v at %v: %v", p, at, why)
	}
	c.Reserve(two, p, at)
	if starts(job(3, 600, 1)) {
		t.Error("one that runs for longer is in the way")
	}
	if !starts(job(4, 100, 1)) {
		t.Error("one that ends before does not start")
	}
	_, long := job(5, 390, 1)
	if _, at, why := c.Earliest(long, 0); why.Fits() {
		t.Errorf("a job gets the time from %v, which is not over at the end of the reservation", at)
	}
}
