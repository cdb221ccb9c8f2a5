package whatif

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/simulator/workload"
)

// TestAsItWasCell lives through seeded cells in which users do everything that
// they can, and then through their logs: the same comes of it. Under another
// algorithm nothing is lost and no slot is used twice.
func TestAsItWasCell(t *testing.T) {
	check := func(t *testing.T, seed uint64) {
		kept := newUsers(t, seed).live()
		r := kept.record(t)
		asItWas(t, r)
		all := shipped.Algorithms()
		sound(t, r, Scenario{Algorithm: all[int(seed)%len(all)].Name})
	}
	testkit.EachSeed(t, 20, check)
	for _, seed := range []uint64{44, 64, 170, 275} { // jobs stand where reservations begin
		testkit.OneSeed(t, seed, check)
	}
}

// users are people of a seeded cell.
type users struct {
	*testing.T
	*rand.Rand
	Recorded
	now  grid.Time
	jobs uint32
	ars  uint32
}

const (
	start = grid.Time(1_700_000_000_000)
	slots = 4 // of each host
)

func newUsers(t *testing.T, seed uint64) *users {
	u := &users{T: t, Rand: rand.New(rand.NewPCG(seed, 7)), now: start,
		Recorded: Recorded{Start: fresh(t), ends: map[taskID][]ending{}, attempts: map[report.Attempt]endedAttempt{}}}
	u.Last = start
	return u
}

// fresh is a cell of three hosts.
func fresh(t *testing.T) *state.State {
	s := state.New()
	s.Apply(core.Fresh(start, "root", "m"))
	c := couple.New(s, shipped.Algorithms())
	for i := range 3 {
		c.Core.Step(start, core.Report{Report: report.Report{Host: fmt.Sprintf("h%d", i+1), Hello: true, Load: &report.Load{
			Processors: slots, At: start, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	}
	c.Core.Step(start, core.Tick{})
	conf := workload.Conf(2)
	conf.WeightTicketsFunctional, conf.WeightTicket, conf.WeightProject, conf.WeightDeadline,
		conf.WeightUrgency = 10000, 1, 1, 3600000, 1
	conf.DefaultDuration = "0:0:20" // some run for longer, also into reservations
	q := *s.CQueue("all.q")
	q.Slots, q.LoadThresholds = grid.PerHost[int32]{Value: slots}, grid.PerHost[grid.Values]{}
	q.PEList, q.Rerun = grid.PerHost[grid.Names]{Value: grid.Names{"wide"}}, grid.PerHost[bool]{Value: true}
	pe := grid.DefaultPE("wide")
	pe.Slots, pe.AllocationRule = 100, "$round_robin"
	late := &grid.Userset{Name: "deadlineusers", Type: "ACL", Entries: grid.Names{"root"}}
	for _, submission := range []gdi.Body{
		&gdi.Add{
			Objects: []grid.Object{pe, &grid.Project{Name: "gold", FShare: 3000}, &grid.Project{Name: "tin", FShare: 1000}}},
		&gdi.Modify{Objects: []grid.Object{&q, &conf, late}},
	} {
		r := c.Core.Step(
			start, core.UserRequest{Request: gdi.Request{User: "root", Host: "m", Command: "qconf", Body: submission}})
		for _, a := range r.Answers[0].Reply.Answers {
			if a.Status != gdi.StatusOK {
				t.Fatal(a.Text)
			}
		}
	}
	return s
}

// live lets the users ask for ten minutes, undoes what holds jobs back, and keeps
// the log of it.
func (u *users) live() *tape {
	for range 150 {
		u.now += grid.Time(1+u.IntN(8)) * 1000
		command, body := u.submission()
		u.ask(command, body)
	}
	for id := range u.jobs {
		refs := gdi.Jobs{Refs: []gdi.JobRef{{ID: id + 1}}}
		u.ask("qrls", &gdi.Alter{Jobs: refs, HoldRemove: "uos"})
	}
	for _, action := range []string{"enable", "unsuspend", "clear"} {
		u.ask("qmod", &gdi.Control{Action: action, Queues: true, Refs: []string{"*"}})
	}
	for range 40 { // what failed or stands begins and continues
		u.now += 60_000
		for id := range u.jobs {
			for _, action := range []string{"unsuspend", "clear"} {
				u.ask("qmod", &gdi.Control{Action: action, Refs: []string{fmt.Sprintf("%d.1-9", id+1)}})
			}
		}
	}
	w, err := newWorld(&u.Recorded, Scenario{})
	if err != nil {
		u.Fatal(err)
	}
	kept := &tape{start: w.Core.State().Copy()}
	w.Log = kept
	if err := w.runToEnd(context.Background()); err != nil {
		u.Fatal(err)
	}
	if w.Waiting > 0 {
		u.Fatalf("%d tasks are left: %v", w.Waiting, w.Stuck)
	}
	u.Logf("%d lists, %d attempts; refused %d, moot %d", len(kept.lists), len(w.Replayed.Accounting),
		len(w.Refused), len(w.Moot))
	return kept
}

func (u *users) ask(command string, body gdi.Body) {
	u.Inputs = append(
		u.Inputs, Input{At: u.now, Ask: &gdi.Request{User: "root", Group: "root", Host: "m", Command: command, Body: body}})
	u.Last = u.now
}

// some is a job, or some tasks of it.
func (u *users) some() gdi.JobRef {
	ref := gdi.JobRef{ID: max(u.jobs, 1) - min(uint32(u.IntN(12)), max(u.jobs, 1)-1)}
	if n := uint32(1 + u.IntN(6)); u.IntN(3) == 0 {
		ref.Tasks = grid.Ranges{{First: n, Last: n + 1, Step: 1}}
	}
	return ref
}

// submission is what a user wants next.
func (u *users) submission() (string, gdi.Body) {
	jobs := gdi.Jobs{Refs: []gdi.JobRef{u.some()}}
	one := []string{fmt.Sprintf("%d.%d", jobs.Refs[0].ID, 1+u.IntN(3))}
	queue := []string{fmt.Sprintf("all.q@h%d", 1+u.IntN(3))}
	switch u.IntN(24) {
	case 0:
		return "qhold", &gdi.Alter{Jobs: jobs, HoldAdd: [...]string{"u", "o", "s"}[u.IntN(3)]}
	case 1:
		return "qrls", &gdi.Alter{Jobs: jobs, HoldRemove: "uos"}
	case 2:
		return "qalter", &gdi.Alter{Jobs: jobs, Set: []string{"p", "js", "N"},
			Job: &grid.Job{Name: "other", Priority: int16(u.IntN(200) - 100), JobShare: 5, JobRequest: &grid.JobRequest{}}}
	case 3:
		return "qalter", &gdi.Alter{Jobs: jobs, Set: []string{"l", "hold_jid"}, Job: &grid.Job{JobRequest: &grid.JobRequest{
			Hard: grid.Requests{{Name: "h_rt", Value: "300"}}, PredecessorReq: grid.Names{fmt.Sprint(max(u.jobs, 14) - 13)}}}}
	case 4, 5:
		return "qdel", &gdi.DeleteJobs{Jobs: jobs, Force: u.IntN(4) == 0}
	case 6, 7:
		return "qmod", &gdi.Control{Action: "suspend", Refs: one}
	case 8:
		return "qmod", &gdi.Control{Action: "unsuspend", Refs: one}
	case 9:
		return "qmod", &gdi.Control{Action: "reschedule", Refs: one, Force: true}
	case 10:
		return "qmod", &gdi.Control{Action: [...]string{"disable", "suspend"}[u.IntN(2)], Queues: true, Refs: queue}
	case 11:
		return "qmod", &gdi.Control{Action: [...]string{"enable", "unsuspend"}[u.IntN(2)], Queues: true, Refs: queue}
	case 12:
		u.ars++
		from := u.now + grid.Time(20+u.IntN(100))*1000
		return "qrsub",
			&gdi.Reserve{AR: &grid.AR{ID: u.ars, Start: from, End: from + grid.Time(30+u.IntN(60))*1000, PE: "wide",
				PERange: grid.Ranges{{First: 2, Last: 2, Step: 1}}}}
	case 13:
		return "qrdel", &gdi.DeleteARs{Refs: grid.Names{fmt.Sprint(max(u.ars, 1))}, Force: u.IntN(2) == 0}
	}
	return "qsub", &gdi.Submit{Job: u.job()}
}

// job is one, and how its tasks will end.
func (u *users) job() *grid.Job {
	u.jobs++
	run := 1 + u.IntN(90)
	j := &grid.Job{ID: u.jobs, Name: "job", Reserve: u.IntN(3) == 0, Project: [...]string{"", "gold", "tin"}[u.IntN(3)],
		Spec:       &grid.JobSpec{Command: "sleep"},
		JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: fmt.Sprint(run + u.IntN(60))}}}}
	if u.jobs%3 == 0 {
		j.Hard = nil // nobody knows for how long it runs
	}
	n := uint32(1)
	switch u.IntN(4) {
	case 0:
		n = 2 + uint32(u.IntN(7))
		j.Array, j.Tasks, j.Concurrency = true, grid.Range{First: 1, Last: n, Step: 1}, uint32(u.IntN(3))
	case 1:
		wide := uint32(2 + u.IntN(7))
		j.PE, j.PERange = "wide", grid.Ranges{{First: 2, Last: wide, Step: 1}}
	}
	switch u.IntN(6) {
	case 0:
		j.UserHold = grid.Ranges{{First: 1, Last: 1, Step: 1}}
	case 1:
		j.Deadline = u.now + grid.Time(u.IntN(200))*1000
	case 2:
		j.PredecessorReq = grid.Names{fmt.Sprint(max(u.jobs-1, 1))}
	case 3:
		j.ExecTime = u.now + grid.Time(u.IntN(60))*1000
	}
	if u.jobs == 1 {
		j.PredecessorReq = nil
	}
	if u.ars > 0 && u.IntN(12) == 0 {
		j.AR = u.ars
	}
	for id := range n {
		k := taskID{j.ID, id + 1}
		for n := range uint32(3) {
			u.attempts[report.Attempt{Job: j.ID, Task: k.id, N: n + 1}] = endedAttempt{lead: grid.Time(u.IntN(50))}
		}
		var ends []ending
		switch u.IntN(12) {
		case 0: // once more
			ends = append(
				ends, ending{run: grid.Time(run) * 300, result: grid.Accounting{Rescheduled: true, Failed: 25, ExitStatus: 99}})
		case 1: // an error of the job
			ends = append(ends, ending{run: grid.Time(run) * 500, result: grid.Accounting{Rescheduled: true, ExitStatus: 100}})
		}
		u.ends[k] = append(ends, ending{run: grid.Time(run) * 1000, late: grid.Time(u.IntN(50))})
	}
	return j
}
