package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/qmaster/core"
)

// endTask has the host of a started task report its end, a second later.
func (c *testCell) endTask(job, task uint32, r report.Result) {
	c.t.Helper()
	t := c.c.Core.State().Task(job, task)
	if t == nil || !t.Started() {
		c.t.Fatalf("task %d.%d has not started", job, task)
	}
	c.later("1s")
	r.Start, r.End = t.Start, c.time()
	c.step(core.Report{Report: report.Report{Host: t.Grants[0].Host, Tasks: []report.Task{{
		Attempt: report.Attempt{Job: job, Task: task, N: t.Attempt}, Phase: report.Ended, Start: t.Start,
		Usage: grid.Usage{CPU: 1.5, WallSeconds: 10}, Result: &r}}}})
}

// segv and overtime are results as a shepherd reports them.
var (
	segv = report.Result{ExitStatus: 139, Failed: report.FailedAfterJob, Signal: 11,
		Text: report.SignalText + "11 (segmentation fault)"}
	overtime = report.Result{ExitStatus: 137, Failed: report.FailedLimit, Text: "h_rt: 61 s of 60 s"}
)

// html returns a page as the browser gets it.
func (c *testCell) html(path string) string {
	c.t.Helper()
	w := c.request(http.MethodGet, path, "", http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/html"}})
	if w.Code != http.StatusOK {
		c.t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// contains reports what a page lacks.
func contains(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q:\n%s", w, page)
		}
	}
}

// jsonAs is the header of a request of a user with a body.
func jsonAs(user string) http.Header {
	h := as(user)
	h.Set("Content-Type", "application/json")
	return h
}

// TestEndedArray: the pages of an array of which half has failed say so, while it runs and after its end, with the
// causes; the numbers are those of the accounting.
func TestEndedArray(t *testing.T) {
	c := newCell(t, 6)
	c.logIn("olga")
	c.submit("alice", "-N", "half", "-t", "1-6", "sleep", "1")
	c.submit("alice", "-N", "fine", "sleep", "1")
	c.submit("alice", "-N", "never", "-h", "sleep", "1")
	c.run()
	for task, r := range []report.Result{{}, {ExitStatus: 3}, {}, segv, {}, overtime} {
		c.endTask(1, uint32(task+1), r)
	}
	if c.c.Core.State().Job(1) != nil {
		t.Fatal("the array has not ended")
	}
	c.run()
	c.endTask(2, 1, report.Result{})
	c.ask("alice", "", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 3}}}})

	failed := 0
	for _, r := range c.accounted("?job=1") {
		if r["failed"] != 0.0 || r["exit_status"] != 0.0 {
			failed++
		}
	}
	end := strings.NewReplacer("T", " ", "Z", " UTC").Replace(fmt.Sprint(c.accounted("?job=1")[0]["end_time"]))
	page := c.html("/jobs/1")
	contains(t, page, fmt.Sprintf(`<span class="badge error">%d failed of 6 tasks</span>`, failed),
		`<li class="error" title="task 2: failed: exit status 3">`,
		`<li class="error" title="task 4: killed: signal 11 (SIGSEGV)">`,
		`<li class="error" title="task 6: killed: limit h_rt">`,
		`<li class="good" title="task 1: done">`, `<li class="error"><div><strong>over</strong>`)
	contains(t, c.html("/jobs/2"), `<span class="badge good">done</span>`, `<li class="good"><div><strong>ended</strong>`)
	contains(t, c.html("/jobs/3"), `<span class="badge gone">deleted before it started, by alice@master`)
	list := c.see("/jobs?state=z&sort=id")
	contains(t, list, "| half | alice | | 3 failed of 6 tasks |", "| fine | alice | | done |",
		"| never | alice | | never started |", "| 0.00000 | "+end+" | – | 1 | 1-6:1")

	c.submit("alice", "-N", "crash", "sleep", "1")
	c.run()
	c.endTask(4, 1, segv)
	contains(t, c.html("/jobs/4"), `<span class="badge error">killed: signal 11 (SIGSEGV)</span>`,
		`<li class="error"><div><strong>ended</strong>`)
}

// accounted returns the accounting records that the API has.
func (c *testCell) accounted(query string) (out []map[string]any) {
	var all struct{ Items []map[string]any }
	w := c.request(http.MethodGet, "/v1/accounting"+query, "", as("root"))
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
		c.t.Fatal(w.Code, w.Body)
	}
	return all.Items
}

// TestFailureCauses: causes of failures are counted by jobs and by tasks over the chosen window; a job that is started
// again and again is one job, and hides no other cause.
func TestFailureCauses(t *testing.T) {
	c := newCell(t, 6)
	c.logIn("olga")
	c.submit("alice", "-N", "early", "sleep", "1")
	c.run()
	c.endTask(1, 1, report.Result{ExitStatus: 5})
	c.later("7h")
	c.submit("alice", "-N", "pair", "-t", "1-2", "sleep", "1")
	c.submit("alice", "-N", "crash", "sleep", "1")
	c.submit("alice", "-N", "slow", "sleep", "1")
	c.run()
	c.endTask(2, 1, report.Result{ExitStatus: 3})
	c.endTask(2, 2, report.Result{ExitStatus: 3})
	c.endTask(3, 1, segv)
	c.endTask(4, 1, overtime)
	c.submit("bob", "-N", "loop", "sleep", "1")
	for range 210 {
		c.run()
		c.endTask(5, 1, report.Result{ExitStatus: report.ExitRestart})
	}
	ended := map[string]bool{}
	for _, r := range c.accounted("?limit=1000&time=end&begin=-6h") {
		ended[fmt.Sprint(r["job_number"], ".", r["task_number"])] = true
	}
	page := c.see("/?window=6h")
	contains(t, page, "exit status 3 | 1 | 2 | job 2", "signal 11 (SIGSEGV) | 1 | 1 | job 3", "limit h_rt | 1 | 1 | job 4",
		"rescheduled | 1 | 1 | job 5", fmt.Sprintf("Of %d tasks with attempts that ended in the last 6h.", len(ended)))
	if strings.Contains(page, "exit status 5") {
		t.Error("a failure of before the window is shown")
	}
	contains(t, c.see("/?window=24h"), "exit status 5 | 1 | 1 | job 1")
}

// TestCellNumbers: each number of the Cell page is the same in its tile and in its chart, the slots are those of qstat
// -g c, and what a calendar has closed is not called free or ready.
func TestCellNumbers(t *testing.T) {
	c := newCell(t, 5)
	c.logIn("olga")
	c.configure("calendar", "shut", "calendar_name shut\nyear NONE\nweek mon-sun=0-24=off\n")
	c.submit("alice", "-N", "runs", "-l", "h=h1", "sleep", "1")
	c.submit("alice", "-N", "stands", "-l", "h=h2", "sleep", "1")
	c.submit("alice", "-N", "fails", "-l", "h=h3", "sleep", "1")
	c.run()
	c.takeOver()
	c.endTask(3, 1, report.Result{Failed: report.FailedOutput, Text: "can't open output"})
	c.ask("root", "", &gdi.Control{Action: "suspend", Refs: []string{"2"}})
	w := c.request(http.MethodPut, "/v1/config/cqueue/all.q",
		`{"attributes": {"calendar": "NONE,[h4=shut],[h5=shut]"}}`, jsonAs("root"))
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	c.submit("alice", "-N", "held", "-t", "1-3", "-h", "sleep", "1")
	c.submit("alice", "-N", "waits", "-t", "1-4", "-l", "h=h1", "sleep", "1")
	c.run()
	c.step(core.Tick{})

	s := c.c.Core.State()
	n, slots := s.Tally(), view.ClusterQueue{}
	queues, err := view.Of(s).ClusterQueues(view.QueueFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		slots.Used, slots.Available, slots.Total = slots.Used+q.Used, slots.Available+q.Available, slots.Total+q.Total
		slots.Temporary, slots.Manual = slots.Temporary+q.Temporary, slots.Manual+q.Manual
	}
	if n.Pending != 4 || n.Held != 3 || n.Error != 1 || n.Suspended != 1 || slots.Temporary != 2 || slots.Available != 1 {
		t.Fatalf("%+v %+v", n, slots)
	}
	page := c.see("/")
	for name, tasks := range map[string]int{"waiting": n.Pending, "held": n.Held, "error": n.Error, "running": n.Running,
		"suspended": n.Suspended} {
		contains(t, page, fmt.Sprintf("\n%s%d\n", name, tasks), fmt.Sprintf("\n%s %d\n", name, tasks))
	}
	contains(t, page, fmt.Sprintf("\n%d of %d in use\n", slots.Used, slots.Total),
		fmt.Sprintf("\navailable%d\n", slots.Available), fmt.Sprintf("\ntemporarily not%d\n", slots.Temporary),
		"What the numbers mean", "qstat -g c")
	contains(t, c.see("/queues"), "all.q@h1 | | full |", "all.q@h3 | | ready |", "all.q@h4 | | disabled by calendar |")
	contains(t, c.html("/hosts"), `<span class="hostname">h4</span><span class="badge gone">closed</span>`)
	if free := c.see("/hosts?show=free"); strings.Contains(free, "h4") || !strings.Contains(free, "h3") {
		t.Errorf("hosts with free slots: %s", free)
	}
}

// TestSharesAdd: a node of the share tree has what those below it have together, and the tickets of tasks that have
// started are no more than the policies have to give; the next tasks of waiting jobs have theirs apart.
func TestSharesAdd(t *testing.T) {
	c := busy(t)
	c.logIn("olga")
	s := c.c.Core.State()
	given, next := 0.0, 0.0
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		given += o.(*grid.JATask).STickets
		return true
	})
	s.Each(grid.KindPriority, func(o grid.Object) bool {
		next += float64(o.(*grid.Priority).STickets)
		return true
	})
	conf := s.SchedConf()
	if given > float64(conf.WeightTicketsShare)+1 || next == 0 {
		t.Fatalf("tickets: %g given, %g next", given, next)
	}
	rows := view.Shares(s, c.time(), true)
	for i, r := range rows {
		below, sum := 0, view.Share{}
		for _, one := range rows[i+1:] {
			rest, is := strings.CutPrefix(one.Path, strings.TrimSuffix(r.Path, "/")+"/")
			if is && !strings.Contains(rest, "/") {
				below++
				sum.ShortTarget, sum.LongTarget, sum.Jobs = sum.ShortTarget+one.ShortTarget, sum.LongTarget+one.LongTarget,
					sum.Jobs+one.Jobs
				sum.Tickets, sum.Next = sum.Tickets+one.Tickets, sum.Next+one.Next
			}
		}
		if below > 0 && (math.Abs(sum.ShortTarget-r.ShortTarget) > 1e-9 || math.Abs(sum.LongTarget-r.LongTarget) > 1e-9 ||
			sum.Jobs != r.Jobs || math.Abs(sum.Tickets-r.Tickets) > 1e-6 || math.Abs(sum.Next-r.Next) > 1e-6) {
			t.Errorf("%s has %+v, those below it %+v", r.Path, *r, sum)
		}
	}
	page := c.see("/shares")
	contains(t, page, "| Tickets | Next task", fmt.Sprintf("| 9 000 | %.0f\n", rows[0].Next))
	if math.Abs(rows[0].Tickets-given) > 1e-6 {
		t.Errorf("the root has %g tickets, tasks %g", rows[0].Tickets, given)
	}
}

// TestSuspendedInPlan: the plan draws a suspended task as suspended, in the picture and in the table.
func TestSuspendedInPlan(t *testing.T) {
	c := newCell(t, 2)
	c.logIn("olga")
	c.submit("alice", "-N", "stands", "-l", "h_rt=600", "sleep", "1")
	c.run()
	c.takeOver()
	c.ask("root", "", &gdi.Control{Action: "suspend", Refs: []string{"1"}})
	contains(t, c.html("/plan"), `<rect class="task suspended"`, "job 1 stands of alice is suspended, 1 slot",
		"<td>is suspended</td>")
}

// TestSampledMemory: a task of which no host has reported memory has none, which is not 0 bytes.
func TestSampledMemory(t *testing.T) {
	c := newCell(t, 2)
	c.logIn("olga")
	c.submit("alice", "-N", "young", "sleep", "1")
	c.run()
	c.runs(1)
	contains(t, c.see("/jobs/1"), "Memory now, at most\n–, –\n")
	c.endTask(1, 1, report.Result{})
	if page := c.see("/jobs/1"); strings.Contains(page, "Memory, bytes") {
		t.Errorf("memory is drawn: %s", page)
	}
}
