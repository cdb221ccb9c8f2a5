package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

const begin grid.Time = 1_700_000_000_000

func makeList(seq uint64, at grid.Time, es ...events.Event) events.List {
	return events.List{Seq: seq, At: at, Events: es}
}

// submitted is the list of a submit.
func submitted(at grid.Time, id uint32, request string) events.List {
	l := makeList(uint64(id), at, events.Add(job(id)))
	l.Cause.Who, l.Cause.Ref = "alice@m", request
	return l
}

func job(id uint32) *grid.Job {
	r := grid.Range{First: 1, Last: 5, Step: 1}
	return &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Array: true, Tasks: r, Pending: grid.Ranges{r}, Submit: begin,
		Spec: &grid.JobSpec{}}
}

// TestTasksOfAHost: each host lists the tasks that hold something of it, as they are now; what
// a copy lists stays.
func TestTasksOfAHost(t *testing.T) {
	s := New()
	s.Apply(makeList(1, begin, events.Add(job(7))))
	list := func(s *State) string {
		var b strings.Builder
		for _, host := range []string{"a", "b", grid.GlobalHost} {
			s.EachOnHost(host, func(t *grid.JATask) { fmt.Fprintf(&b, " %s:%d.%d/%d", host, t.Job, t.ID, t.Attempt) })
		}
		return strings.TrimSpace(b.String())
	}
	on := func(hosts ...string) (out []grid.Grant) {
		for _, h := range hosts {
			out = append(out, grid.Grant{Queue: "q", Host: h, Slots: 1})
		}
		return out
	}
	global := []grid.MapGrant{{Resource: "gpu", Host: "a", Global: true, IDs: []string{"GPU0"}}}
	was, wanted := s.Copy(), ""
	for _, step := range []struct {
		task *grid.JATask
		want string
	}{
		{&grid.JATask{Status: grid.Transfering, Grants: on("a")}, "a:7.3/1"},
		{&grid.JATask{Status: grid.Running, Grants: on("a")}, "a:7.3/2"},
		{&grid.JATask{Status: grid.Running, Grants: on("a"), Maps: global}, "a:7.3/3 global:7.3/3"},
		{&grid.JATask{Status: grid.Running, Grants: on("a", "b")}, "a:7.3/4 b:7.3/4"},
		{&grid.JATask{Status: grid.Running, Grants: on("b")}, "b:7.3/5"},
		{&grid.JATask{Status: grid.Idle, Grants: on("b")}, ""},
		{&grid.JATask{Status: grid.Transfering, Grants: on("a")}, "a:7.3/7"},
	} {
		step.task.Job, step.task.ID, step.task.Attempt = 7, 3, uint32(s.Seq)
		s.Apply(makeList(s.Seq+1, begin, events.Mod(step.task)))
		if got := list(s); got != step.want {
			t.Errorf("%q, not %q", got, step.want)
		}
		if got := list(was); got != wanted {
			t.Errorf("a copy has changed from %q to %q", wanted, got)
		}
		was, wanted = s.Copy(), step.want
	}
	s.Apply(makeList(s.Seq+1, begin, events.Del(grid.KindJATask, grid.Key{ID: 7, Sub: 3})))
	if got := list(s); got != "" {
		t.Errorf("%q is left", got)
	}
}

// TestEnrolling: a task that gets an object of its own leaves the pending
// range; a job that goes takes its tasks with it.
func TestEnrolling(t *testing.T) {
	s := New()
	s.Apply(makeList(1, begin, events.Add(job(7))))
	before := s.Copy()
	s.Apply(makeList(2, begin,
		events.Add(
			&grid.JATask{Job: 7, ID: 3, Status: grid.Transfering, Grants: []grid.Grant{{Queue: "q", Host: "h", Slots: 1}}})))
	if got := s.Job(7).Pending.String(); got != "1-2:1,4-5:1" {
		t.Errorf("pending %s", got)
	}
	if n := len(s.OnHost("h")); n != 1 {
		t.Errorf("%d tasks on h", n)
	}
	if got := before.Job(7).Pending.String(); got != "1-5:1" || len(before.OnHost("h")) != 0 {
		t.Errorf("the copy has changed: pending %s", got)
	}
	s.Apply(makeList(3, begin, events.Del(grid.KindJob, grid.Key{ID: 7})))
	if len(s.Tasks(7)) != 0 || len(s.OnHost("h")) != 0 || s.Job(7) != nil {
		t.Error("something of the job is left")
	}
	if n := s.Counter(grid.JobSeqNum); n != 7 {
		t.Errorf("the job number counter is %d", n)
	}
}

// TestReceipts: a request is known for ReceiptSeconds, and a full state brings
// them in any order.
func TestReceipts(t *testing.T) {
	s := New()
	for i := range uint32(5) {
		s.Apply(submitted(begin+grid.Time(i)*1000, i+1, fmt.Sprintf("r%d", 9-i)))
	}
	var full []events.Event
	s.Full(func(e events.Event) bool { full = append(full, e); return true })
	slices.Reverse(full)
	m := New()
	m.Apply(makeList(5, s.At, full...))
	for _, x := range []*State{s, m} {
		if r := x.Receipt("alice", "r7"); r == nil || r.Job != 3 {
			t.Fatalf("receipt %v", r)
		}
		x.Apply(makeList(6, begin.Add(grid.ReceiptSeconds+2.5)))
		if x.Receipt("alice", "r7") != nil || x.Receipt("alice", "r6") == nil || x.Len(grid.KindReceipt) != 2 {
			t.Errorf("%d receipts where those of the last two jobs are due", x.Len(grid.KindReceipt))
		}
	}
}

// TestGroups: host groups are resolved through each other; a circle ends.
func TestGroups(t *testing.T) {
	s := New()
	s.Apply(makeList(1, begin,
		events.Add(&grid.HGroup{Name: "@a", HostList: grid.Names{"h1", "@b"}}),
		events.Add(&grid.HGroup{Name: "@b", HostList: grid.Names{"h2", "@a"}})))
	if got := s.Hosts(grid.Names{"@a", "h9"}); !slices.Equal(got, grid.Names{"h1", "h2", "h9"}) {
		t.Errorf("hosts %v", got)
	}
	c := s.Copy()
	s.Apply(makeList(2, begin, events.Mod(&grid.HGroup{Name: "@b", HostList: grid.Names{"h3"}})))
	if !s.Member("@a", "h3") || s.Member("@a", "h2") || !c.Member("@a", "h2") {
		t.Error("members do not follow the group, or the copy does")
	}
}

func BenchmarkCopy1M(b *testing.B) {
	s := New()
	for i := range uint32(1_000_000) {
		s.Apply(makeList(uint64(i+1), begin, events.Add(job(i+1))))
	}
	b.ResetTimer()
	for range b.N {
		s.Copy()
	}
}

func BenchmarkApply(b *testing.B) {
	s := New()
	b.ReportAllocs()
	for i := range b.N {
		at := begin + grid.Time(i/3)
		s.Apply(submitted(at, uint32(i+1), fmt.Sprintf("%016x%d", at, i%3)))
	}
}

// TestOwners: jobs are found by their owner, and an owner who has none left is not
// listed; a copy stays as it was.
func TestOwners(t *testing.T) {
	s := New()
	of := func(id uint32, owner string) *grid.Job {
		j := job(id)
		j.Owner = owner
		return j
	}
	index := func(s *State) (out string) {
		s.Owners(func(owner string) bool {
			out += owner
			s.EachOwned(owner, func(j *grid.Job) bool {
				out += fmt.Sprint(" ", j.ID)
				return true
			})
			out += fmt.Sprintf(" (%d); ", s.Owned(owner))
			return true
		})
		return out
	}
	s.Apply(makeList(1, begin, events.Add(of(3, "bob")), events.Add(of(1, "alice")), events.Add(of(2, "bob")),
		events.Add(of(4, "alice2"))))
	before := s.Copy()
	if got, want := index(s), "alice 1 (1); alice2 4 (1); bob 2 3 (2); "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	s.Apply(makeList(2, begin, events.Del(grid.KindJob, grid.Key{ID: 1}), events.Mod(of(3, "carol")),
		events.Mod(of(2, "bob"))))
	if got, want := index(s), "alice2 4 (1); bob 2 (1); carol 3 (1); "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got, want := index(before), "alice 1 (1); alice2 4 (1); bob 2 3 (2); "; got != want {
		t.Errorf("the copy has changed: %q, not %q", got, want)
	}
	full := New()
	full.Apply(s.FullList())
	if got, want := index(full), index(s); got != want {
		t.Errorf("after a full state %q, not %q", got, want)
	}
}

// TestFinished: as many jobs as finished_jobs says stay known after they left.
func TestFinished(t *testing.T) {
	s := New()
	at := func(n int, e ...events.Event) { s.Apply(events.List{Seq: uint64(n), Events: e}) }
	job := func(id uint32) *grid.Job {
		return &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Spec: &grid.JobSpec{}}
	}
	left := func(of *State) (ids []uint32) {
		for _, j := range of.Finished() {
			if j.Spec != nil {
				t.Errorf("job %d is kept with its Spec", j.ID)
			}
			ids = append(ids, j.ID)
		}
		return ids
	}
	limit := func(n string) events.Event {
		return events.Add(&grid.Conf{Host: grid.GlobalConf, Entries: grid.Values{{Name: "finished_jobs", Text: n}}})
	}
	at(1, limit("2"), events.Add(job(1)), events.Add(job(2)), events.Add(job(3)), events.Add(job(4)))
	at(2, events.Del(grid.KindJob, grid.Key{ID: 3}), events.Del(grid.KindJob, grid.Key{ID: 1}))
	was := s.Copy()
	at(3, events.Del(grid.KindJob, grid.Key{ID: 2}))
	if got, before := left(s), left(was); !slices.Equal(got, []uint32{1, 2}) || !slices.Equal(before, []uint32{3, 1}) {
		t.Errorf("left: %v, in the copy %v", got, before)
	}
	at(4, limit("0"), events.Del(grid.KindJob, grid.Key{ID: 4}))
	if got := left(s); got != nil {
		t.Errorf("with finished_jobs 0: %v", got)
	}
}

// TestTally follows the tasks of one array job through their states; a full state is counted as what led to it.
func TestTally(t *testing.T) {
	s := New()
	seq := uint64(0)
	held := job(7)
	held.UserHold = grid.Ranges{{First: 4, Last: 5, Step: 1}}
	task := func(id uint32, status grid.Status, state grid.TaskState) *grid.JATask {
		return &grid.JATask{Job: 7, ID: id, Status: status, State: state}
	}
	for _, step := range []struct {
		event events.Event
		want  Tally
	}{
		{events.Add(job(7)), Tally{Pending: 5}},
		{events.Mod(held), Tally{Pending: 3, Held: 2}},
		{events.Add(task(1, grid.Transfering, grid.StateRunning)), Tally{Pending: 2, Held: 2, Starting: 1}},
		{events.Mod(task(1, grid.Running, grid.StateRunning)), Tally{Pending: 2, Held: 2, Running: 1}},
		{events.Mod(task(1, grid.Running, grid.StateSuspended)), Tally{Pending: 2, Held: 2, Suspended: 1}},
		{events.Add(task(4, grid.Transfering, grid.StateRunning)), Tally{Pending: 2, Held: 1, Starting: 1, Suspended: 1}},
		{events.Mod(task(4, grid.Idle, grid.StateError)), Tally{Pending: 2, Held: 1, Error: 1, Suspended: 1}},
		{events.Mod(task(4, grid.Idle, 0)), Tally{Pending: 3, Held: 1, Suspended: 1}},
		{events.Del(grid.KindJATask, grid.Key{ID: 7, Sub: 1}), Tally{Pending: 3, Held: 1}},
		{events.Add(job(8)), Tally{Pending: 8, Held: 1}},
		{events.Del(grid.KindJob, grid.Key{ID: 7}), Tally{Pending: 5}},
	} {
		seq++
		s.Apply(makeList(seq, begin, step.event))
		if got := s.Tally(); got != step.want {
			t.Errorf("after %s: %+v, want %+v", step.event, got, step.want)
		}
		full := New()
		full.Apply(s.FullList())
		if got := full.Tally(); got != step.want {
			t.Errorf("full state after %s: %+v, want %+v", step.event, got, step.want)
		}
	}
}

// TestReceiptsAreBound: the receipts of a user take a bound number of bytes; the user's own oldest go first, and a copy
// and a full state have what the state had.
func TestReceiptsAreBound(t *testing.T) {
	s := New()
	reply := make([]byte, 1<<20)
	s.Apply(submitted(begin, 1, "bob's"))
	bobs := s.ReceiptBytes("alice")
	for i := range uint32(100) {
		user := "mallory"
		if i%10 == 0 {
			user = fmt.Sprint("u", i)
		}
		s.Apply(makeList(uint64(i+2), begin+grid.Time(i),
			events.Add(&grid.Receipt{User: user, Request: fmt.Sprint("r", i), At: begin + grid.Time(i),
				Verb: "alter", Reply: reply})))
		if held := s.ReceiptBytes("mallory"); held > grid.ReceiptBytes {
			t.Fatalf("%d bytes after %d", held, i)
		}
	}
	full, n, held := New(), s.Len(grid.KindReceipt), s.ReceiptBytes("mallory")
	full.Apply(s.FullList())
	for name, x := range map[string]*State{"state": s, "copy": s.Copy(), "full state": full} {
		if x.Receipt("alice", "bob's") == nil || x.ReceiptBytes("alice") != bobs {
			t.Errorf("%s: another user's receipt has gone", name)
		}
		if x.Receipt("mallory", "r99") == nil || x.Receipt("mallory", "r1") != nil {
			t.Errorf("%s: not the oldest are forgotten", name)
		}
		if x.Len(grid.KindReceipt) != n || x.ReceiptBytes("mallory") != held {
			t.Errorf("%s: %d receipts, %d bytes", name, x.Len(grid.KindReceipt), x.ReceiptBytes("mallory"))
		}
		x.Apply(makeList(1000, begin.Add(grid.ReceiptSeconds+1)))
		if x.Len(grid.KindReceipt) != 0 || x.ReceiptBytes("mallory") != 0 {
			t.Errorf("%s: %d receipts are left", name, x.Len(grid.KindReceipt))
		}
	}
}

// TestReservationsOfTasks: what is kept free for a task goes with all that keeps the task from starting there.
func TestReservationsOfTasks(t *testing.T) {
	waiting := job(7)
	task := func(change func(*grid.JATask)) events.Event {
		n := &grid.JATask{Job: 7, ID: 2, State: grid.StateQueued | grid.StateWaiting}
		change(n)
		return events.Mod(n)
	}
	other := func(change func(*grid.Job)) events.Event {
		n := *waiting
		change(&n)
		return events.Mod(&n)
	}
	for _, c := range []struct {
		what  string
		event events.Event
		left  int // of those of the tasks 1, 2 and 6, which is pending nowhere and was reserved for by mistake
	}{
		{"enrolled", task(func(*grid.JATask) {}), 3},
		{"started", task(func(t *grid.JATask) { t.Status = grid.Transfering }), 2},
		{"in error", task(func(t *grid.JATask) { t.State |= grid.StateError }), 2},
		{"gone", events.Del(grid.KindJATask, grid.Key{ID: 7, Sub: 2}), 3},
		{"another job", events.Del(grid.KindJob, grid.Key{ID: 8}), 3},
		{"altered", other(func(j *grid.Job) { j.Version++ }), 0},
		{"held", other(func(j *grid.Job) { j.ArrayHold = grid.Ranges{{First: 2, Last: 5, Step: 1}} }), 1},
		{"waits for another", other(func(j *grid.Job) { j.Predecessors = []uint32{3} }), 0},
		{"a task was deleted", other(func(j *grid.Job) { j.Pending = j.Pending.Without(1) }), 1},
		{"deleted", events.Del(grid.KindJob, grid.Key{ID: 7}), 0},
	} {
		s := New()
		s.Apply(makeList(1, begin, events.Add(waiting), events.Add(job(8)), events.Add(&grid.JobReservation{Job: 7, Task: 1}),
			events.Add(&grid.JobReservation{Job: 7, Task: 2}), events.Add(&grid.JobReservation{Job: 7, Task: 6})))
		before := s.Copy()
		s.Apply(makeList(2, begin, c.event))
		if n := len(s.JobReservations(7)); n != c.left || len(before.JobReservations(7)) != 3 {
			t.Errorf("%s: %d reservations are left, not %d", c.what, n, c.left)
		}
	}
}
