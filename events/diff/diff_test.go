package diff_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("elsewhere", 5*60*60) // which no text depends on
	os.Exit(m.Run())
}

func formatChanges(changes []diff.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

func expect(t *testing.T, before, after grid.Object, want string) {
	t.Helper()
	if got := formatChanges(diff.Objects(before, after, time.UTC)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%swant%s", got, want)
	}
}

func TestObjects(t *testing.T) {
	q := grid.DefaultCQueue("all.q")
	changed, err := conf.Set(q, "slots", "1,[node1=4]")
	if err != nil {
		t.Fatal(err)
	}
	changed.(*grid.CQueue).Version++
	expect(t, q, changed, `
slots: 1 -> 1,[node1=4]
`)
	expect(t, &grid.Conf{Entries: grid.Values{{Name: "max_jobs", Text: "0"}, {Name: "prolog", Text: "/a"}}},
		&grid.Conf{Entries: grid.Values{{Name: "max_jobs", Text: "10"}, {Name: "epilog", Text: "/b"}}}, `
max_jobs: 0 -> 10
epilog: none -> /b
prolog: /a -> none
`)
	expect(t, grid.DefaultSchedConf(), func() grid.Object {
		c := *grid.DefaultSchedConf()
		c.Algorithm = "fbsng"
		c.Sections = []grid.Section{{Algorithm: "fbsng", Params: []grid.Param{{Name: "min_period_s", Text: "5"}}}}
		return &c
	}(), `
algorithm: default -> fbsng
fbsng.min_period_s: none -> 5
`)
	one := grid.Ranges{{First: 1, Last: 1, Step: 1}}
	expect(t, nil, &grid.Job{JobRequest: &grid.JobRequest{PE: "mpi", PERange: grid.Ranges{{First: 2, Last: 4, Step: 1}}},
		ID: 7, Name: "sleep", Owner: "alice",
		Submit: 1795227122123, Tasks: one[0], Pending: one, Reserve: true, Restart: grid.RestartNo,
		Spec: &grid.JobSpec{Command: "sleep", Args: []string{"3", "4 5", ""},
			Env: grid.Values{{Name: "HOME", Text: "/home/alice"}}, Script: []byte("#!")}}, `
id: none -> 7
name: none -> sleep
owner: none -> alice
submit: none -> 11/21/2026 02:12:02.123
tasks: none -> 1
pending: none -> 1
pe: none -> mpi
pe_range: none -> 2-4:1
reserve: none -> yes
restart: none -> n
command: none -> sleep
args: none -> 3 "4 5" ""
script: none -> 2 bytes
env.HOME: none -> /home/alice
`)
	sent := &grid.JATask{Job: 7, ID: 1, Attempt: 1, Status: grid.Transfering, State: grid.StateRunning, NTickets: 0.5,
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}
	runs := *sent
	runs.Status, runs.State, runs.Usage.MaxVMem, runs.NTickets = grid.Running,
		grid.StateRunning|grid.StateSuspended, 3420160, 0.25
	expect(t, sent, &runs, `
status: transfering -> running
state: r -> rs
usage.max_vmem: none -> 3420160
ntickets: 0.5 -> 0.25
`)
	expect(t,
		&grid.Load{Host: "h1", Reported: 1000,
			Values: grid.Values{{Name: "np_load_avg", Text: "0.10"}, {Name: "arch", Text: "lx"}}},
		&grid.Load{Host: "h1", Reported: 1000,
			Values: grid.Values{{Name: "np_load_avg", Text: "0.50"}, {Name: "arch", Text: "lx"}}, Unheard: true}, `
np_load_avg: 0.10 -> 0.50
unheard: none -> yes
`)
	expect(t, &grid.Booking{User: "alice", Decayed: grid.Amounts{1}},
		&grid.Booking{User: "alice", Decayed: grid.Amounts{2, 0.5}}, `
decayed.cpu: 1 -> 2
decayed.mem: none -> 0.5
`)
	expect(t, sent, nil, "")
}

// A list with more than one event of an object is compared step by step.
func TestList(t *testing.T) {
	s := state.New()
	s.Apply(events.List{Seq: 1, Events: []events.Event{events.Add(&grid.Counter{Name: "n", Value: 1})}})
	got := ""
	for i, c := range diff.List(s, events.List{Seq: 2, Events: []events.Event{
		events.Mod(&grid.Counter{Name: "n", Value: 2}), events.Mod(&grid.Counter{Name: "n", Value: 3}),
		events.Del(grid.KindCounter, grid.Key{Name: "n"}), events.Add(&grid.Counter{Name: "n", Value: 9}),
	}}, time.UTC) {
		got += fmt.Sprintln(i, c)
	}
	want := "0 [value: 1 -> 2]\n1 [value: 2 -> 3]\n2 []\n3 [name: none -> n value: none -> 9]\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// An object differs in nothing from itself, and a new one of each kind can be
// compared with none.
func TestEveryKind(t *testing.T) {
	for _, s := range grid.Kinds {
		o := s.New()
		if c := diff.Objects(o, s.New(), time.UTC); len(c) > 0 {
			t.Errorf("%s: %v", s.Name, c)
		}
		diff.Objects(nil, o, time.UTC)
	}
}
