package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics/cellmetrics"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/web/problem"
)

func as(user string) http.Header { return http.Header{"Authorization": {"Bearer token-" + user}} }

// get returns the JSON of an answer.
func get[T any](c *testCell, target string) (out T) {
	c.t.Helper()
	w := c.request("GET", target, "", as("alice"))
	if w.Code != http.StatusOK {
		c.t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		c.t.Fatal(target, err)
	}
	return out
}

// many submits plain jobs, arrays and held jobs of several users.
func (c *testCell) many(jobs int) {
	for n := range jobs {
		j := &grid.Job{Name: fmt.Sprintf("job%d", n%7), Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Spec: &grid.JobSpec{Command: "sleep"}}
		j.Ask()
		j.Priority = -int16(n%5) * 10
		if n%11 == 0 {
			j.Array, j.Tasks = true, grid.Range{First: 1, Last: 9, Step: 2}
		}
		if n%13 == 0 {
			j.UserHold = grid.Ranges{{First: 1, Last: 3, Step: 1}}
		}
		if reply := c.ask(fmt.Sprintf("user%d", n%10), "", &gdi.Submit{Job: j}); !reply.OK() {
			c.t.Fatal(reply.Answers)
		}
	}
	c.run()
}

// pagesOf returns the rows of all pages of a listing.
func pagesOf[T any](c *testCell, target string, limit int) (rows []T) {
	c.t.Helper()
	next := ""
	for {
		p := get[page[T]](c, fmt.Sprintf("%s&limit=%d&cursor=%s", target, limit, next))
		rows = append(rows, p.Items...)
		if next = p.Next; next == "" {
			return rows
		}
		if len(p.Items) != limit {
			c.t.Fatalf("%s: a page of %d rows before the last one", target, len(p.Items))
		}
	}
}

// linesOf returns the rows of a listing as lines.
func linesOf[T any](c *testCell, target string) (rows []T) {
	c.t.Helper()
	h := as("alice")
	h.Set("Accept", typeNDJSON)
	for line := range strings.Lines(c.request("GET", target, "", h).Body.String()) {
		var row T
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			c.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestPagesOfListings: the pages of every other listing are the listing, and a cursor of one is none of another.
func TestPagesOfListings(t *testing.T) {
	c := newCell(t, 5)
	c.configure("rqs", "a", "{\nname a\nenabled TRUE\nlimit users {*} to slots=2,num_proc=9\n}\n")
	c.configure("rqs", "b", "{\nname b\nenabled TRUE\nlimit users user1 to slots=9\nlimit to slots=99\n}\n")
	for n := range 4 {
		ar := &grid.AR{Start: c.now.Add(1e6 + 100*float64(n)), Duration: 60}
		if reply := c.ask("root", "", &gdi.Reserve{AR: ar}); !reply.OK() {
			t.Fatal(reply.Answers)
		}
		c.configure("calendar", fmt.Sprintf("c%d", n), "")
	}
	c.many(20)
	other := ""
	for _, target := range []string{"/v1/queues?", "/v1/hosts?", "/v1/quotas?", "/v1/reservations?",
		"/v1/config/calendar?", "/v1/config/centry?"} {
		whole := linesOf[any](c, target)
		if len(whole) < 3 {
			t.Errorf("%s: %d rows", target, len(whole))
		}
		for _, limit := range []int{1, 3, 1000} {
			if pages := pagesOf[any](c, target, limit); !reflect.DeepEqual(pages, whole) {
				t.Errorf("%s, %d rows a page:\n%v\n%v", target, limit, pages, whole)
			}
		}
		next := get[page[any]](c, target+"limit=1").Next
		if w := c.request("GET", target+"cursor="+other, "", as("alice")); other != "" &&
			w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: the cursor of another listing: %d", target, w.Code)
		}
		other = next
	}
}

// configure adds a configuration object.
func (c *testCell) configure(kind, name, text string) {
	c.t.Helper()
	body, err := json.Marshal(ConfigText{Text: text})
	if err != nil {
		c.t.Fatal(err)
	}
	h := as("root")
	h.Set("Content-Type", "application/json")
	if w := c.request("PUT", "/v1/config/"+kind+"/"+name, string(body), h); w.Code != http.StatusOK {
		c.t.Fatal(w.Code, w.Body)
	}
}

// TestPages: the pages of a listing are the listing, whatever the order and the size of a page.
func TestPages(t *testing.T) {
	c := newCell(t, 3)
	c.many(120)
	for sort := range jobOrders {
		for _, sign := range []string{"", "-"} {
			if sort == "" && sign == "-" {
				continue
			}
			target := "/v1/jobs?sort=" + sign + sort
			if sort == "" {
				target = "/v1/jobs?"
			}
			whole := get[page[document.Job]](c, target+"&limit=10000")
			for _, limit := range []int{1, 7, 50} {
				if pages := pagesOf[document.Job](c, target, limit); !reflect.DeepEqual(pages, whole.Items) {
					t.Errorf("%s, %d rows a page: %d rows are not the %d of the listing", target, limit, len(pages), len(whole.Items))
				}
			}
			lines := linesOf[document.Job](c, target)
			if !reflect.DeepEqual(lines, whole.Items) {
				t.Errorf("%s: lines are not the listing", target)
			}
		}
	}
}

// TestAfter: an answer waits for the list that is asked for, and reports when it does not come.
func TestAfter(t *testing.T) {
	c := newCell(t, 1)
	seq := c.c.Core.State().Seq
	answered := make(chan *Cell)
	go func() {
		cell := get[Cell](c, fmt.Sprintf("/v1/cell?after=%d", seq+1))
		answered <- &cell
	}()
	c.submit("alice", "sleep", "1")
	if cell := <-answered; cell.Seq < seq+1 {
		t.Errorf("answered with list %d", cell.Seq)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c.server.mirror.WaitFor(ctx, seq+100, time.Hour) ||
		c.server.mirror.WaitFor(t.Context(), seq+100, time.Microsecond) {
		t.Error("a list that is not there was reached")
	}
}

// TestReadWhileFollowing: requests read while the mirror follows; the race detector has the last word.
func TestReadWhileFollowing(t *testing.T) {
	c := newCell(t, 2)
	c.many(20)
	var readers sync.WaitGroup
	for n := range 4 {
		readers.Go(func() {
			for range 20 {
				get[page[document.Job]](c, "/v1/jobs?sort=priority&queue=all.q")
				get[page[document.Queue]](c, "/v1/queues")
				get[Detail](c, fmt.Sprintf("/v1/jobs/%d", 2+n))
			}
		})
	}
	for range 40 {
		c.submit("alice", "sleep", "1")
		c.run()
	}
	readers.Wait()
	c.stop()
}

// TestListen: tokens do not go over a network in the clear.
func TestListen(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:9465":       "need --tls-cert and --tls-key",
		"[::]:9465":          "need --tls-cert and --tls-key",
		"node1.example:9465": "need --tls-cert and --tls-key",
		":9465":              "is not HOST:PORT",
		"9465":               "is not HOST:PORT",
		"localhost:http":     "is not HOST:PORT",
		"127.0.0.1:0":        "",
		"[::1]:70000":        "is not HOST:PORT",
	} {
		s := New(Options{Listen: listen})
		l, _, err := s.listen()
		if want == "" && err == nil {
			l.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || want == "" {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if _, err := New(Options{Listen: "127.0.0.1:0", Cert: "x"}).encryption(); err == nil ||
		!strings.Contains(err.Error(), "go together") {
		t.Error(err)
	}
}

// TestDescription: the page needs nothing from elsewhere and no script, and has every route.
func TestDescription(t *testing.T) {
	c := newCell(t, 1)
	w := c.request("GET", "/v1/docs", "", nil)
	for _, bad := range []string{"<script", "http://", "https://", "style=", "onclick"} {
		if strings.Contains(w.Body.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'self';") {
		t.Error(csp)
	}
	for _, r := range routes(c.server.api.OpenAPI()) {
		if !strings.Contains(w.Body.String(), `id="`+r.OperationID+`"`) {
			t.Errorf("the page lacks %s", r.OperationID)
		}
	}
	var doc struct {
		OpenAPI    string                    `json:"openapi"`
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string } `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	w = c.request("GET", "/v1/openapi.json", "", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.OpenAPI != "3.1.0" ||
		doc.Paths["/v1/jobs/{id}"]["get"] == nil {
		t.Error(err, doc.OpenAPI)
	}
	for name := range doc.Components.Schemas {
		if !regexp.MustCompile(`^[a-zA-Z0-9._-]+$`).MatchString(name) {
			t.Errorf("%q is no name of a component", name)
		}
	}
	if doc.Components.Schemas["Host"].Properties["load_avg"].Description == "" {
		t.Error("comments of pkg/document are missing")
	}
	if w = c.request("GET", "/v1/openapi.yaml", "", nil); !strings.Contains(w.Body.String(), "openapi: 3.1.0") {
		t.Error("YAML")
	}
}

// TestUsers: what each user has is counted with each list as it follows from the state, whatever happens to jobs and
// tasks.
func TestUsers(t *testing.T) {
	c := newCell(t, 4)
	enough := false // a job has waited for a task of its own to end
	check := func(after string) {
		t.Helper()
		now, err := c.server.mirror.Now()
		if err != nil {
			t.Fatal(err)
		}
		st := now.State
		got, _ := c.server.mirror.Users()
		want := cellmetrics.NewUsers(st).All()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, not %v", after, got, want)
		}
		waits := map[reason.Code]int{}
		st.Each(grid.KindJob, func(o grid.Object) bool {
			if j := o.(*grid.Job); j.Pending.Count() > 0 {
				waits[append(view.OwnWaits(st, j, 0), view.Wait{Code: reason.OK})[0].Code]++
			}
			return true
		})
		counted, _ := c.server.mirror.Waiting()
		for _, why := range view.WaitCodes {
			if n := counted[why]; n != waits[why] {
				t.Errorf("%s: %d jobs wait because of %q, not %d", after, n, why, waits[why])
			}
			enough = enough || why == reason.TaskLimit && waits[why] > 0
		}
		sum, slots := state.Tally{}, 0
		for _, u := range got {
			sum.Pending, sum.Held, sum.Error = sum.Pending+u.Pending, sum.Held+u.Held, sum.Error+u.Error
			sum.Starting, sum.Running, sum.Suspended = sum.Starting+u.Starting, sum.Running+u.Running, sum.Suspended+u.Suspended
			slots += u.Slots
		}
		if tally := st.Tally(); sum != tally || slots != tally.Starting+tally.Running+tally.Suspended {
			t.Errorf("%s: %v and %d slots, not %v", after, sum, slots, tally)
		}
	}
	c.many(40)
	check("submitted and started")
	for n := range uint32(6) {
		c.end(n+1, 0)
		c.run()
		check("ended and started")
	}
	for n := range grid.Time(2) { // the second one waits for the first one, too
		j := &grid.Job{Name: "later", Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Spec: &grid.JobSpec{Command: "sleep"}}
		j.ExecTime = c.time().Add(60 + 60*float64(n))
		if j.Ask(); n > 0 {
			j.PredecessorReq = grid.Names{"41"}
		}
		c.ask("user2", "", &gdi.Submit{Job: j})
	}
	c.submit("user2", "-h", "sleep", "1")
	c.submit("root", "-p", "100", "-t", "1-9", "-tc", "1", "sleep", "1")
	check("submitted with reasons of their own")
	if counted, _ := c.server.mirror.Waiting(); counted[reason.StartTime] != 1 {
		t.Errorf("%d jobs wait for a time", counted[reason.StartTime])
	}
	c.ask("root", "", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 41}}}})
	check("predecessor deleted")
	c.end(11, 0)
	c.run()
	check("one task of an array started")
	for range 16 {
		c.run()
		c.ask("root", "", &gdi.Trigger{Action: "clear-usage"}) // a list at this time
		check("time passes")
	}
	if counted, _ := c.server.mirror.Waiting(); counted[reason.StartTime] != 0 {
		t.Errorf("%d jobs wait for a time that has come", counted[reason.StartTime])
	}
	c.ask("root", "", &gdi.Control{Action: "suspend", Refs: []string{"16", "21"}})
	check("suspended")
	c.ask("root", "", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"user1"}}})
	check("deleted")
	c.ask("root", "", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}, Force: true})
	check("all deleted")
	if !enough {
		t.Error("no job had as many tasks running as -tc allows")
	}
	if left, _ := c.server.mirror.Users(); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// TestMetrics: the metrics of the cell are those of the mirror, without names of users; those of users and jobs need a
// token, and are well formed.
func TestMetrics(t *testing.T) {
	c := newCell(t, 2)
	c.submit("alice", "-N", "one", "sleep", "1")
	c.run()
	c.submit("bob", "-N", "many", "-t", "1-4", "-pe", "make", "2-3", "sleep", "1")
	c.run()
	page := func(path, user string, wants ...string) {
		t.Helper()
		w := c.request("GET", path, "", as(user))
		for _, want := range wants {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want+"\n") {
				t.Errorf("%s: %d, no %q in\n%s", path, w.Code, want, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "alice") != strings.HasPrefix(path, "/metrics/") {
			t.Errorf("%s: names of users", path)
		}
		problems, err := promlint.New(w.Body).Lint()
		if err != nil || len(problems) > 0 && !strings.Contains(path, "alias") {
			t.Errorf("%s: %v %v", path, problems, err)
		}
	}
	page("/metrics", "nobody", `quill_jobs 2`, `quill_tasks{state="pending"} 4`, `quill_tasks{state="starting"} 1`,
		`quill_hosts{state="reporting"} 2`,
		`quill_slots{queue="all.q",state="total"} 2`, `quill_slots{queue="all.q",state="used"} 1`,
		`quill_slots{queue="all.q",state="available"} 1`,
		fmt.Sprintf("quill_log_sequence %d", c.c.Core.State().Seq), "quill_tasks_started_total 1")
	page("/metrics/jobs", "bob", `quill_user_pending_jobs{user="bob"} 1`, `quill_user_tasks{state="pending",user="bob"} 4`,
		`quill_user_slots{state="used",user="alice"} 1`, `quill_user_slots{state="requested",user="bob"} 8`,
		`quill_job_slots{host="h1",job="1",project="",queue="all.q",task="",user="alice"} 1`)
	page("/metrics/jobs?alias=grid", "bob", `grid_queue_up{host="h1",queue="all.q"} 1`,
		`grid_queue_state{host="h1",queue="all.q",state=""} 1`,
		`grid_slots_total{host="h2",queue="all.q"} 1`, `grid_slots_running{host="h1",queue="all.q",user="alice"} 1`,
		`grid_jobs_running{host="h1",queue="all.q",user="alice"} 1`, `grid_jobs_pending{user="bob"} 1`,
		`grid_slots_pending{user="bob"} 8`)
}

// TestReasonsAndInstances: the metrics say why jobs wait, and in which state instances of resource maps are.
func TestReasonsAndInstances(t *testing.T) {
	c := newCell(t, 2)
	c.configure("centry", "gpu", "gpu gpu RSMAP <= YES YES NONE 0\n")
	c.configure("exechost", "h2",
		"hostname h2\nload_scaling NONE\ncomplex_values gpu=4(a b c d)\nuser_lists NONE\nxuser_lists NONE\nprojects NONE\nxprojects NONE\nusage_scaling NONE\nreport_variables NONE\n")
	c.submit("alice", "-h", "sleep", "1")
	c.submit("alice", "-l", "gpu=1", "sleep", "1")
	c.run()
	c.ask("root", "", &gdi.Control{Action: "disable", Queues: true, Refs: []string{"gpu:d@h2"}})
	c.step(
		core.Report{Report: report.Report{Host: "h2", Load: &report.Load{Processors: 1, At: c.time(),
			Values: grid.Values{{Name: "num_proc", Text: "1"}, {Name: "gpu.c.state", Text: "E broken"}}}}})
	c.submit("bob", "-l", "gpu=2", "sleep", "1")
	text := c.request("GET", "/metrics", "", nil).Body.String()
	for _, want := range []string{
		`quill_jobs_waiting{reason="held-by-user"} 1`, `quill_jobs_waiting{reason="scheduler"} 1`,
		`quill_jobs_waiting{reason="start-time"} 0`,
		`quill_resource_instances{resource="gpu",state="granted"} 1`,
		`quill_resource_instances{resource="gpu",state="free"} 1`,
		`quill_resource_instances{resource="gpu",state="disabled"} 1`,
		`quill_resource_instances{resource="gpu",state="error"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestProbes: metrics and health are served without a token.
func TestProbes(t *testing.T) {
	c := newCell(t, 1)
	c.request("GET", "/v1/cell", "", as("alice"))
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok",
		"/metrics": `quill_web_requests_total{route="GET /v1/cell",status="200"} 1`} {
		if w := c.request("GET", path, "", nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, no %q", path, w.Code, want)
		}
	}
	empty := New(Options{Accounts: c.account})
	w := &testCell{t: t, server: empty}
	if r := w.request("GET", "/readyz", "", nil); r.Code != http.StatusServiceUnavailable {
		t.Errorf("ready without a state: %d", r.Code)
	}
	if r := w.request("GET", "/v1/cell", "", as("alice")); r.Code != http.StatusServiceUnavailable ||
		!strings.Contains(r.Body.String(), problem.TypeMirror) {
		t.Errorf("%d %s", r.Code, r.Body)
	}
}
