package qmaster

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
)

// TestMetrics runs one of three jobs and compares every metric that follows from that.
func TestMetrics(t *testing.T) {
	m := NewMetrics()
	if err := m.Set.Ready(); err == nil || err.Error() != "starting" {
		t.Errorf("before the start: %v", err)
	}
	q := start(t, Options{Cell: newCell(t), Metrics: m})
	if err := m.Set.Ready(); err != nil {
		t.Errorf("after the start: %v", err)
	}
	host, err := q.Connect(bus.Identity{Role: bus.Host, Name: "node1"})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	seq := uint64(0)
	say := func(r report.Report) {
		t.Helper()
		seq++
		r.Incarnation, r.Seq = "i", seq
		if _, err := host.Request(t.Context(), bus.HostRepSubject("node1"), codec.AppendReport(nil, r)); err != nil {
			t.Fatal(err)
		}
	}
	user := connect(t, q.opts.Cell)
	do := func(body gdi.Body, want bool) {
		t.Helper()
		if reply, err := user.Do(t.Context(), "qconf", body); err != nil || reply.OK() != want {
			t.Fatal(body, reply, err)
		}
	}
	node := &gdi.Add{Objects: []grid.Object{grid.DefaultExecHost("node1")}}
	do(node, true)
	do(node, false)
	queue := grid.DefaultCQueue("q")
	queue.HostList = grid.Names{"node1"}
	do(&gdi.Add{Objects: []grid.Object{queue}}, true)
	say(report.Report{Hello: true, Load: &report.Load{Values: grid.Values{{Name: "num_proc", Text: "2"}}, Processors: 2}})

	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	defer schedd.Close()
	mirror := newMirror(t)
	watched := make(chan error)
	go func() { watched <- schedd.Watch(t.Context(), mirror.watcher()) }()
	t.Cleanup(func() { <-watched })
	mirror.until(0)
	job := submitJob(t, user, "a")
	submitJob(t, user, "b")
	array := aJob("c")
	array.Array, array.Tasks, array.UserHold = true, grid.Range{First: 1, Last: 10, Step: 1},
		grid.Ranges{{First: 1, Last: 10, Step: 1}}
	do(&gdi.Submit{Job: array}, true)
	ordered := &orders.StartJob{Job: job, Task: 1, Grants: []grid.Grant{{Queue: "q", Host: "node1", Slots: 1}},
		QueueVersions: []uint32{1}}
	for _, refused := range []int{0, 1} {
		if result,
			err := schedd.Order(t.Context(), orders.List{Run: 1, Seq: mirror.seq(), Orders: []orders.Order{ordered}}); err !=
			nil || len(result.Refused) != refused {
			t.Fatalf("%+v %v", result, err)
		}
	}
	tasks := func(pending, held, starting, running int) {
		t.Helper()
		for state, want := range map[string]int{"pending": pending, "held": held, "starting": starting, "running": running,
			"suspended": 0, "error": 0} {
			if got := testutil.ToFloat64(m.Tasks.WithLabelValues(state)); got != float64(want) {
				t.Errorf("%v tasks are %s, not %d", got, state, want)
			}
		}
	}
	tasks(1, 10, 1, 0)
	attempt := report.Attempt{Job: job, Task: 1, N: 1}
	say(report.Report{Tasks: []report.Task{{Attempt: attempt, Phase: report.Running}}})
	tasks(1, 10, 0, 1)
	now := grid.TimeOf(time.Now())
	say(
		report.Report{Tasks: []report.Task{{Attempt: attempt, Phase: report.Ended,
			Result: &report.Result{Start: now, End: now, Failed: report.FailedAfterJob, ExitStatus: 137, Signal: 9}}}})
	tasks(1, 10, 0, 0)

	text := scrape(t, m)
	for _, line := range []string{
		`quill_qmaster_leader 1`, `quill_jobs 2`, `quill_tasks_started_total 1`,
		`quill_tasks_ended_total{cause="assumedly after job",failed="100"} 1`, `quill_task_wait_seconds_count{queue="q"} 1`,
		`quill_requests_total{outcome="ok",subject="add"} 2`, `quill_requests_total{outcome="exists",subject="add"} 1`,
		`quill_requests_total{outcome="ok",subject="submit"} 3`, `quill_request_seconds_count{subject="submit"} 3`,
		`quill_requests_total{outcome="ok",subject="report"} 3`, `quill_requests_total{outcome="ok",subject="register"} 1`,
		`quill_requests_total{outcome="ok",subject="orders"} 1`, `quill_requests_total{outcome="refused",subject="orders"} 1`,
		`quill_event_client_registrations_total{role="scheduler"} 1`, `quill_hosts{state="reporting"} 1`,
		`quill_hosts{state="silent"} 0`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if problems, err := testutil.GatherAndLint(m.Set); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	stop(t, q)
	last := float64(q.events.Tail().Seq)
	// the first list is part of the recovery
	if lists, at := testutil.ToFloat64(m.Lists), testutil.ToFloat64(m.Sequence); at != last || lists != last-1 {
		t.Errorf("%v lists up to %v; the log ends at %v", lists, at, last)
	}
	if err := m.Set.Ready(); err == nil || testutil.ToFloat64(m.Leader) != 0 {
		t.Errorf("after the end: %v", err)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// scrape returns what /metrics answers.
func scrape(t testing.TB, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Set.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	return w.Body.String()
}

// pending returns the metrics of a qmaster with so many pending jobs.
func pending(jobs int) *Metrics {
	s := state.New()
	for i := range jobs {
		id := uint32(i + 1)
		one := grid.Range{First: 1, Last: 1, Step: 1}
		s.Apply(events.List{Seq: uint64(id), Events: []events.Event{
			events.Add(&grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Tasks: one, Pending: grid.Ranges{one}})}})
	}
	m := NewMetrics()
	m.begin(&QMaster{}, s)
	m.serve()
	return m
}

// TestScrapeDoesNotGrow: a scrape has as many lines with many jobs as with one.
func TestScrapeDoesNotGrow(t *testing.T) {
	quill := func(text string) (n int) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "quill_") {
				n++
			}
		}
		return n
	}
	one, many := scrape(t, pending(1)), scrape(t, pending(10_000))
	if !strings.Contains(many, "\nquill_tasks{state=\"pending\"} 10000\n") {
		t.Error("the jobs are not counted")
	}
	if quill(one) != quill(many) {
		t.Errorf("%d lines with one job, %d with many", quill(one), quill(many))
	}
}

// BenchmarkScrape is one scrape beside so many pending jobs.
func BenchmarkScrape(b *testing.B) {
	for _, jobs := range []int{1, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			m := pending(jobs)
			for b.Loop() {
				scrape(b, m)
			}
		})
	}
}

// TestReporters: the age is that of the host that has not reported for longest; silent hosts have none.
func TestReporters(t *testing.T) {
	var r reporters
	at := time.Now()
	after := func(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }
	check := func(now time.Time, oldest time.Duration) {
		t.Helper()
		if age := r.oldest(now); age != oldest*time.Second {
			t.Errorf("the oldest report is %v old", age)
		}
	}
	check(at, 0)
	for i, host := range []string{"a", "b", "c", grid.GlobalHost} {
		r.load(&grid.Load{Host: host}, after(i))
	}
	check(after(10), 10)
	r.report("a", after(5))
	r.report("unknown", after(5))
	check(after(10), 9)
	r.load(&grid.Load{Host: "b", Unheard: true}, after(11))
	check(after(12), 10)
	r.load(&grid.Load{Host: "b"}, after(13))
	r.remove("c")
	check(after(14), 9)
}
