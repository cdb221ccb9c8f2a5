package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// newPlanned is a cell of one host with four slots, a quota of two for each user, a job that runs in one slot, and a
// job whose reservation has two of them as soon as that one ends.
func newPlanned() *state.State {
	st, _ := newState(1, 0, 1)
	one := grid.Range{First: 1, Last: 1, Step: 1}
	hour := grid.Requests{{Name: "h_rt", Value: "3600", Num: 3600}}
	job := func(id uint32, pe string, ask grid.Requests) *grid.Job {
		j := &grid.Job{ID: id, Version: 1, Owner: "alice", Tasks: one, Pending: grid.Ranges{one},
			JobRequest: &grid.JobRequest{Hard: ask, PE: pe}}
		if pe != "" {
			j.Reserve, j.PERange = true, grid.Ranges{{First: 2, Last: 2, Step: 1}}
		}
		return j
	}
	q := *st.CQueue("all.q")
	q.Slots.Value, q.PEList.Value = 4, grid.Names{"make"}
	running := job(1, "", hour)
	running.Pending = nil
	conf := *st.SchedConf()
	conf.MaxReservation, conf.DefaultDuration = 5, "8760:00:00"
	end := now.Add(3600)
	st.Apply(events.List{Seq: 2, At: now, Events: []events.Event{
		events.Mod(&conf), events.Mod(&q),
		events.Listed(&grid.Centry{Name: "h_rt", Type: "TIME", Relop: "<=", Requestable: "YES", Consumable: "NO",
			Default: "0:0:0"}),
		events.Listed(&grid.PE{Name: "make", Slots: 99, AllocationRule: "$fill_up"}),
		events.Listed(&grid.RQS{Name: "each", Enabled: true, Limits: grid.Names{"users {*} to slots=2"}}),
		events.Mod(running), events.Listed(job(2, "make", hour)), events.Listed(job(3, "", nil)),
		events.Listed(&grid.JATask{Job: 1, ID: 1, Status: grid.Running, Start: now,
			Grants: []grid.Grant{{Queue: "all.q", Host: "h00000", Slots: 1}}}),
		events.Listed(&grid.JobReservation{Job: 2, Task: 1, Start: end, End: end.Add(3600), PE: "make",
			Grants: []grid.Grant{{Queue: "all.q", Host: "h00000", Slots: 2}}}),
	}})
	return st
}

// TestReservationUnderQuota: an answer names how much of a quota the reservation in the way holds.
func TestReservationUnderQuota(t *testing.T) {
	st := newPlanned()
	e := explain.New(st, sched.NewCluster(st), now, time.UTC)
	want := "Job 3 waits for the reservation of job 2, which holds 2 slots under the quota each/1/alice/////, from "
	if got := e.Why(st.Job(3), 0).Sentence(); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s...", got, want)
	}
	p, err := e.OfHost("h00000", nil)
	if err != nil {
		t.Fatal(err)
	}
	want = "h00000 has 3 free slots, kept free for the reservation of job 2 from 01/12/1970 14:46:40.000 on; " +
		"2 tasks wait, and 1 would fit there else (job 3)."
	if got := p.Sentence(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	st = st.Without(grid.KindJobReservation)
	p, err = explain.New(st, sched.NewCluster(st), now, time.UTC).OfHost("h00000", nil)
	if err != nil {
		t.Fatal(err)
	}
	want = "h00000 has 3 free slots, and 1 of 2 waiting tasks fits there now: it waits for its turn (job 3)."
	if got := p.Sentence(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Each state in which a host takes no jobs is said with what it is about.
func TestPlaceStates(t *testing.T) {
	state := func(s grid.QueueState, message string) grid.Object {
		return &grid.QInstance{Queue: "all.q", Host: "h00000", State: s, Message: message}
	}
	calendar := func(seconds float64) []grid.Object {
		st, _ := newState(1, 0, 1)
		q, until := *st.CQueue("all.q"), now.Add(seconds)
		q.Calendar.Value = "night"
		return []grid.Object{&q, state(grid.QueueCalDisabled, ""), &grid.Calendar{Name: "night", Week: "mon-sun=off",
			State: grid.QueueCalDisabled, Until: until, Closed: []grid.Window{{Start: now, End: until}}}}
	}
	for _, c := range []struct {
		name   string
		change []grid.Object
		want   string
	}{
		{"error", []grid.Object{state(grid.QueueError, "disk full")},
			"h00000 takes no jobs: all.q@h00000 is in error: disk full: qmod -c all.q@h00000, operator."},
		{"error and disabled", []grid.Object{state(grid.QueueError|grid.QueueDisabled, "disk full")},
			"h00000 takes no jobs: all.q@h00000 is in error: disk full: qmod -c all.q@h00000, operator; " +
				"also disabled: qmod -e all.q@h00000, operator."},
		{"unheard", []grid.Object{&grid.Load{Host: "h00000", Unheard: true, Reported: now}},
			"h00000 takes no jobs: all.q@h00000: its host does not report since 01/12/1970 13:46:40.000."},
		{"calendar", calendar(3600),
			"h00000 takes no jobs: all.q@h00000 is closed by its calendar night until 01/12/1970 14:46:40.000."},
		{"calendar that never opens", calendar(400 * 24 * 3600), "h00000 takes no jobs: all.q@h00000 is closed by its " +
			"calendar night, which does not open within a year: qconf -mcal night, manager."},
		{"nothing", nil, "h00000 is full: 1 of 1 slots are in use by job 1 (1)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, _ := newState(1, 3, 2)
			for _, o := range c.change {
				st.Apply(events.List{Seq: st.Seq + 1, At: now, Events: []events.Event{events.Mod(o)}})
			}
			p, err := explain.New(st, sched.NewCluster(st), now, time.UTC).OfHost("h00000", nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case p.Sentence() != c.want:
				t.Errorf("%s, want %s", p.Sentence(), c.want)
			case p.Tasks != 3:
				t.Errorf("%d tasks wait", p.Tasks)
			}
		})
	}
}

// BenchmarkPlace asks about one of 10,000 hosts with 100,000 jobs that wait.
func BenchmarkPlace(b *testing.B) {
	st, c := newState(10_000, 100_000, 500)
	b.ReportAllocs()
	for b.Loop() {
		p, err := explain.New(st, c, now, time.UTC).OfHost("h00077", nil)
		if err != nil || p.Tasks != 100_000 {
			b.Fatal(p, err)
		}
	}
}
