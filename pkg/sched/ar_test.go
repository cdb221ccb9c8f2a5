package sched

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestJobsInAR: jobs of a reservation are placed in what it holds and nowhere
// else, and others leave it alone, also in copies and after changes.
func TestJobsInAR(t *testing.T) {
	w := newRandomWorld(t, 3)
	w.applyEvents(events.Mod(&grid.SchedConf{LoadFormula: "np_load_avg", DefaultDuration: "0:1:40"}))
	a := &grid.AR{ID: 1, Owner: "u1", State: grid.ARRunning, Start: w.st.At, End: w.st.At.Add(1000),
		Hard:      grid.Requests{{Name: "mem", Value: "400M", Num: 4e8}},
		Grants:    []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}, {Queue: "all.q", Host: "h2", Slots: 1}},
		GrantedPE: "mpi"}
	w.applyEvents(events.Add(a))
	c := w.c.Copy(w.st.Copy())
	c.Begin(w.st.At)
	job := func(id, ar uint32, owner string, mem float64) *grid.Job {
		return &grid.Job{ID: id, Owner: owner,
			JobRequest: &grid.JobRequest{AR: ar, Hard: grid.Requests{{Name: "mem", Value: "?", Num: mem}}}}
	}
	place := func(j *grid.Job) (grid.Grant, reason.Reason) {
		n := c.Need(j)
		if !n.Current(c) {
			t.Errorf("job %d: the need is not current", j.ID)
		}
		p, why := c.FindPlacement(n, &Cursor{})
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
	if _, why := place(job(21, 1, "u2", 1e8)); why.Code != reason.NoAccessAR {
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
	w.applyEvents(events.Mod(&grid.SchedConf{MaxReservation: 5, LoadFormula: "np_load_avg", DefaultDuration: "INFINITY",
		Params: "DURATION_OFFSET=10"}))
	w.applyEvents(events.Add(&grid.AR{ID: 1, Owner: "u1", State: grid.ARRunning, Start: w.st.At, End: w.st.At.Add(1000),
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
		p, why := c.FindPlacement(n, &Cursor{})
		if why.Fits() {
			c.Book(n, j, p)
		}
		return why.Fits()
	}
	if !starts(job(1, 300, 1)) {
		t.Fatal("the first does not start")
	}
	_, two := job(2, 300, 2)
	if _, why := c.FindPlacement(two, &Cursor{}); why.Fits() {
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

// TestHeldUpIsReported: the reasons of a job that waits in a reservation include what was
// there before it.
func TestHeldUpIsReported(t *testing.T) {
	w := newRandomWorld(t, 1)
	w.applyEvents(events.Add(&grid.Job{ID: 1, Owner: "u0", JobRequest: &grid.JobRequest{}}),
		events.Add(
			&grid.JATask{Job: 1, ID: 1, Status: grid.Running, Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}}}))
	w.applyEvents(events.Add(&grid.AR{ID: 1, Owner: "u1", State: grid.ARRunning, Start: w.st.At, End: w.st.At.Add(1000),
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}))
	n := w.c.Need(&grid.Job{ID: 2, Owner: "u1", JobRequest: &grid.JobRequest{AR: 1}})
	_, why := w.c.FindPlacement(n, &Cursor{})
	var reported []string
	for _, r := range w.c.Explain(n, why, 10) {
		reported = append(reported, r.String())
	}
	const want = `(-l slots=1) cannot run in queue "all.q@h1" because it offers only qc:slots=0.000000 until earlier jobs have ended`
	if !slices.Contains(reported, want) {
		t.Errorf("%v: %q", why, reported)
	}
}

// TestNoJobStandsTwice: jobs run for longer than they are thought to, also
// into reservations. Whoever starts, inside or outside, nothing is taken twice:
// slots, consumables of all levels, places to be alone at, slots of a PE. And a
// job that waits for one that should have ended starts when it has.
func TestNoJobStandsTwice(t *testing.T) {
	started, waited := 0, 0
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		conf := &grid.SchedConf{LoadFormula: "np_load_avg", DefaultDuration: "0:0:20", Params: "DURATION_OFFSET=0",
			ScheduleInterval: "0:0:5"}
		if seed%2 == 1 {
			conf.MaxReservation = 5
		}
		w.applyEvents(events.Mod(conf),
			events.Add(&grid.Centry{Name: "alone", Type: "BOOL", Relop: "EXCL", Requestable: "YES",
				Consumable: "YES", Default: "0"}),
			events.Mod(&grid.ExecHost{Name: "h2", ComplexValues: grid.Values{{Name: "mem", Text: "700M"},
				{Name: "num_proc", Text: "2"}, {Name: "alone", Text: "true"}}}))
		s := &stand{randomWorld: w, needs: map[uint32]*Need{}, ends: map[uint32]grid.Time{}}
		for range 150 {
			s.pass(grid.Time(1+w.r.IntN(6)) * 1000)
			s.decide()
		}
		started, waited = started+s.started, waited+s.waited
	})
	if started < 400 || waited < 300 {
		t.Errorf("only %d jobs of reservations started, and %d times one waited for what should have ended", started, waited)
	}
}

// stand is a cell in which time passes: jobs run, reservations begin and end.
type stand struct {
	*randomWorld
	jobs            []*grid.Job // that wait
	needs           map[uint32]*Need
	ends            map[uint32]grid.Time
	ars             uint32
	started, waited int
}

// pass lets time pass, and what is due happen.
func (s *stand) pass(ms grid.Time) {
	s.st.At += ms
	for id, end := range s.ends {
		if end <= s.st.At {
			delete(s.ends, id)
			s.applyEvents(events.Del(grid.KindJATask, grid.Key{ID: id, Sub: 1}), events.Del(grid.KindJob, grid.Key{ID: id}))
		}
	}
	for _, a := range s.st.ARs() {
		n := *a
		switch {
		case a.Over() && len(s.st.JobsOf(a.ID)) == 0:
			s.applyEvents(events.Del(grid.KindAR, a.Key()))
			continue
		case a.End <= s.st.At: // its jobs are to end, and do so later
			n.State = grid.ARExited
			s.jobs = slices.DeleteFunc(s.jobs, func(j *grid.Job) bool {
				if j.AR == a.ID {
					s.applyEvents(events.Del(grid.KindJob, j.Key()))
				}
				return j.AR == a.ID
			})
			for _, id := range s.st.JobsOf(a.ID) {
				s.ends[id] = min(s.ends[id], s.st.At+grid.Time(s.r.IntN(15000)))
			}
		case a.Start <= s.st.At:
			n.State = grid.ARRunning
		}
		if n.State != a.State {
			s.applyEvents(events.Mod(&n))
		}
	}
	s.c.Refresh(s.st.At)
}

// decide makes a reservation now and then, submits, and starts what can start.
func (s *stand) decide() {
	if s.r.IntN(6) == 0 {
		ask := s.job()
		a := &grid.AR{ID: s.ars + 1, Owner: "u1", ACL: grid.Names{"u0", "u1", "u2"}, State: grid.ARWaiting, Hard: ask.Hard,
			PE: ask.PE, PERange: ask.PERange,
			Start: s.st.At + grid.Time(s.r.IntN(50))*1000}
		a.Hard = s.maybeAlone(slices.DeleteFunc(a.Hard, func(r grid.Request) bool { return r.Name == "h_rt" }))
		a.End = a.Start + grid.Time(20+s.r.IntN(60))*1000
		if p, why := s.c.Grant(a, s.st.At, time.UTC); why == nil {
			s.ars++
			a.Grants, a.GrantedPE = p.Grants, p.PE
			s.applyEvents(events.Add(a))
		}
	}
	for range s.r.IntN(4) {
		j := s.job()
		j.Hard = s.maybeAlone(j.Hard)
		if s.ars > 0 && s.r.IntN(2) == 0 {
			j.AR = s.ars - uint32(s.r.IntN(int(min(s.ars, 3))))
		}
		if a := s.st.AR(j.AR); j.AR != 0 && (a == nil || a.Over()) {
			continue
		}
		s.applyEvents(events.Add(j))
		s.jobs = append(s.jobs, j)
	}
	for _, lent := range []bool{true, false} {
		run := s.c.Lend()
		if !lent {
			run = s.c.Copy(s.st.Copy())
		}
		run.Begin(s.st.At)
		var starts []events.Event
		var placed []*grid.Job
		s.jobs = slices.DeleteFunc(s.jobs, func(j *grid.Job) bool {
			n := s.needs[j.ID]
			if n == nil || !n.Current(run) {
				n = run.Need(j)
				s.needs[j.ID] = n
			}
			p, why := run.FindPlacement(n, &Cursor{})
			if now := run.Why(run.Need(j)); now.Fits() != why.Fits() {
				s.t.Fatalf("job %d of reservation %d was found to have no place (%v), but now: %v", j.ID, j.AR, why, now)
			}
			if !why.Fits() {
				s.wait(run, n, j)
				return false
			}
			run.Book(n, j, p)
			starts,
				placed = append(starts,
				events.Add(&grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, Grants: p.Grants, PE: p.PE, Start: s.st.At})),
				append(placed, j)
			return true
		})
		for i, e := range starts {
			t := e.Object.(*grid.JATask)
			if why := s.c.Fits(placed[i], t.Grants, t.PE); !why.Fits() {
				s.t.Fatalf("job %d is placed at %v, but %v", t.Job, t.Grants, why)
			}
			s.applyEvents(e)
			s.ends[t.Job] = s.st.At + grid.Time(1000+s.r.IntN(40_000))
			if placed[i].AR != 0 {
				s.started++
			}
			s.nothingTwice()
		}
	}
}

func (s *stand) maybeAlone(hard grid.Requests) grid.Requests {
	if s.r.IntN(8) == 0 {
		hard = append(hard, grid.Request{Name: "alone", Value: "true", Num: 1})
	}
	return hard
}

// wait counts the jobs of reservations that others keep waiting; with
// reservations of the scheduler they come next.
func (s *stand) wait(run *Cluster, n *Need, j *grid.Job) {
	if j.AR == 0 || run.clusterOf(j.AR) == run || s.st.AR(j.AR).State != grid.ARRunning || !run.clusterOf(j.AR).heldUp(n) {
		return
	}
	s.waited++
	if p, at, why := run.Earliest(n, 0); why.Fits() {
		if at < run.find.span.Clock().Late {
			s.t.Fatalf("job %d waits for one that should have ended, and gets the time from %v at %v", j.ID, at, s.st.At)
		}
		run.Reserve(n, p, at)
	}
}

// nothingTwice adds up what all that is started takes.
func (s *stand) nothingTwice() {
	slots, alone, all, mem, lic, pe := map[string]uint32{}, map[string]int{}, map[string]int{},
		map[string]float64{}, 0, uint32(0)
	s.st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := s.st.Job(t.Job)
		each := 100 * float64(1<<20) // default
		if r, ok := j.Hard.Get("mem"); ok {
			each = r.Num
		}
		master, ofMaster := j.MasterHard.Get("mem")
		slave, ofSlaves := j.SlaveHard.Get("mem")
		if ofMaster || ofSlaves {
			each = slave.Num
			mem[t.Grants[0].Host] += master.Num - each
		}
		for _, g := range t.Grants {
			slots[g.Instance()] += g.Slots
			mem[g.Host] += each * float64(g.Slots)
			all[g.Host]++
			if _, ok := j.Hard.Get("alone"); ok {
				alone[g.Host]++
			}
			if t.PE != "" {
				pe += g.Slots
			}
		}
		if j.Requests("lic") {
			lic++
		}
		return true
	})
	has := func(what string, is, most float64) {
		if is > most+complex.Tiny {
			s.t.Fatalf("%v of %v %s are taken at %v: %s", is, most, what, s.st.At, fmt.Sprint(s.c.dump()))
		}
	}
	for host, most := range map[string]float64{"h1": 1 << 30, "h2": 700 << 20, "h3": 1 << 30} {
		has("mem of "+host, mem[host], most)
	}
	has("slots of h1", float64(slots["all.q@h1"]), 2)
	has("slots of h2", float64(slots["all.q@h2"]), 4)
	has("slots of h3", float64(slots["all.q@h3"]), 4)
	has("licences", float64(lic), 4)
	has("slots of mpi", float64(pe), 6)
	if alone["h2"] > 0 {
		has("places to be alone on h2", float64(all["h2"]), 1)
	}
}
