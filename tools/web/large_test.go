package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/console"
)

// largePages are the pages of listings and of the whole cell, in their largest form.
var largePages = []string{"/", "/jobs", "/jobs?limit=1000", "/jobs?why=busy", "/hosts", "/queues", "/quotas",
	"/reservations", "/plan", "/shares", "/shares?by=project", "/scheduler", "/whatif", "/proposals", "/config", "/log",
	"/log?since=1"}

// largeRoutes are the pages that have something large of their own, by route; the others are among largePages.
var largeRoutes = map[string][]string{
	"GET /jobs/{id}":        {"/jobs/1", "/jobs/1?after.steps=500", "/jobs/2", "/jobs/3", "/jobs/1020"},
	"GET /jobs/{id}/output": {"/jobs/2/output?task=1"},
	"GET /hosts/{name}":     {"/hosts/h1"},
	"GET /whatif/{id}":      {"/whatif/1"},
	"GET /act/{key}":        nil, // testdata/console_act.txt: at most 1000 jobs
	"GET /static/{name}":    nil,
}

const largeMost = 200_000 // bytes of a page

// large makes a cell in which everything is in great number, many, and has a long name, and job 1 was requeued again
// and again.
func large(t testing.TB, many int) *testCell {
	c := newCell(t, 2)
	word := func(n int) string { return fmt.Sprint(strings.Repeat("name-", 12), n) }
	c.submit("alice", "-N", "loop", "-r", "y", "sleep", "1")
	for range 300 {
		c.run()
		c.end(1, 99)
	}
	c.submit("alice", "-N", word(2), "-t", "1-5000", "cmd", strings.Repeat("argument ", 9000))
	c.submit("alice", "-N", "last", "-hold_jid", "2", "sleep", "1")
	c.writes("/out", strings.Repeat(strings.Repeat("x", 2000)+"\n", 500))
	c.run()
	c.runs(2)
	for n := range 20 {
		if reply := c.propose("root", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 2}}}, HoldAdd: "u"}); !reply.OK() {
			t.Fatal(n, reply.Answers)
		}
	}
	l := events.List{}
	request := &grid.JobRequest{Hard: grid.Requests{{Name: "num_proc", Value: "1"}}}
	var names, hosts grid.Names
	for n := range many {
		host, name := fmt.Sprintf("%s.example.org", word(n)), word(n)
		names, hosts = append(names, name), append(hosts, host)
		tasks := grid.Range{First: 1, Last: 1, Step: 1}
		l.Events = append(l.Events, events.Add(&grid.ExecHost{Name: host}),
			events.Add(&grid.QInstance{Queue: "all.q", Host: host}),
			events.Add(&grid.Load{Host: host, Processors: 4, Reported: c.now,
				Values: grid.Values{{Name: "load_avg", Text: "1.5"}, {Name: "num_proc", Text: "4"}}}),
			events.Add(&grid.Job{JobRequest: request, ID: uint32(n + 10_000), Name: name, Owner: word(n % 100), Submit: c.now,
				Tasks: tasks}),
			events.Add(&grid.JATask{Job: uint32(n + 10_000), ID: 1, Attempt: 1, Status: grid.Running, Start: c.now,
				Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}),
			events.Add(&grid.User{Name: name, FShare: 10}), events.Add(&grid.Project{Name: name, FShare: 10}),
			events.Add(&grid.AR{ID: uint32(n + 1), Name: name, Owner: name, Start: c.now, End: c.now.Add(3600), Duration: 3600,
				Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}}))
		if n < 30 {
			l.Events = append(l.Events,
				events.Add(&grid.Job{JobRequest: request, ID: uint32(n + 1000), Name: name, Owner: word(n % 100), Submit: c.now,
					Tasks: tasks, Pending: grid.Ranges{tasks}}),
				events.Add(&grid.RQS{Name: name, Enabled: true, Limits: grid.Names{"users {*} to slots=100"}}))
		}
	}
	queue := *c.c.Core.State().CQueue("all.q")
	queue.HostList = hosts
	all := *c.c.Core.State().HGroup("@allhosts")
	all.HostList = append(all.HostList, hosts...)
	l.Events = append(l.Events, events.Mod(&all), events.Mod(&queue),
		events.Add(&grid.Userset{Name: "all", Type: "ACL", Entries: names}))
	l.Seq, l.At = c.c.Core.State().Seq+1, c.now
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists = append(c.lists, l)
	c.sink.Apply(l)
	return c
}

// TestLargePages: whatever a cell has, a page has at most 200 kB.
func TestLargePages(t *testing.T) {
	c := large(t, 300)
	if _, err := c.server.cell.Try(person{user: "root"}, console.WhatIf{From: "1", To: "5"}); err != nil {
		t.Fatal(err)
	}
	<-c.server.cell.trials.kept[0].ended
	cookie := c.logIn("root").cookie
	targets := map[string][]string{}
	for _, p := range largePages {
		path, _, _ := strings.Cut(p, "?")
		route := "GET " + path
		if path == "/" {
			route += "{$}"
		}
		targets[route] = append(targets[route], p)
	}
	for i := range grid.Kinds {
		if k := &grid.Kinds[i]; k.Configured() {
			targets["GET /config"] = append(targets["GET /config"], "/config?kind="+strings.ToLower(k.Name))
		}
	}
	for route, all := range largeRoutes {
		targets[route] = all
	}
	for route := range c.server.console.Routes() {
		all, has := targets[route]
		if !has && strings.HasPrefix(route, "GET ") {
			t.Errorf("%s is not tested", route)
		}
		for _, p := range all {
			w := c.request("GET", p, "", http.Header{"Cookie": {cookie}, "Accept": {"text/html"}})
			if n := w.Body.Len(); w.Code != http.StatusOK || n > largeMost {
				t.Errorf("%s: %d, %d bytes", p, w.Code, n)
			}
		}
	}
}

// TestLateParts: a page does not wait for a part that takes long, says so, and has it later; a page of the present then
// shows the part before until the next one is there.
func TestLateParts(t *testing.T) {
	c := newCell(t, 1)
	c.submit("alice", "-h", "sleep", "1")
	cookie := c.logIn("root").cookie
	see := func(path string) string {
		return c.request("GET", path, "", http.Header{"Cookie": {cookie}, "Accept": {"text/html"}}).Body.String()
	}
	leave, err := c.server.outlooks.Wait(t.Context(), fair.User{Name: "another"}, 1) // a start is foreseen for another
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{"/jobs/1": "Why it waits", "/plan": "waits in line", "/scheduler": "no view of its own"}
	c.server.cell.partWait = 0
	for path := range parts {
		if page := see(path); !strings.Contains(page, "This is being worked out") {
			t.Errorf("%s: %s", path, page)
		}
	}
	leave()
	c.server.cell.partWait = time.Hour
	for path, want := range parts {
		if page := see(path); !strings.Contains(page, want) {
			t.Errorf("%s has no %q: %s", path, want, page)
		}
	}
	if leave, err = c.server.outlooks.Wait(t.Context(), fair.User{Name: "another"}, 1); err != nil {
		t.Fatal(err)
	}
	defer leave()
	c.server.cell.partWait = 0
	c.ask("alice", "", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, HoldAdd: "u"})
	if page := see("/jobs/1"); !strings.Contains(page, parts["/jobs/1"]) {
		t.Errorf("the story before is not shown: %s", page)
	}
}

var nextPage = regexp.MustCompile(`<a class="button primary" href="([^"]*)">Next`)

// TestAllRows: what a page has no room for is on the next ones.
func TestAllRows(t *testing.T) {
	c := large(t, 1000)
	cookie := c.logIn("root").cookie
	for path, row := range map[string]string{"/hosts": `<span class="hostname">`, "/queues": `name="ref"`,
		"/reservations": `data-label="Number"`, "/jobs?limit=1000": `name="ref"`} {
		seen := map[string]bool{}
		rows := 0
		for p := path; p != ""; {
			if seen[p] {
				t.Fatalf("%s leads to itself", p)
			}
			seen[p] = true
			w := c.request("GET", p, "", http.Header{"Cookie": {cookie}, "Accept": {"text/html"}})
			rows += strings.Count(w.Body.String(), row)
			p = ""
			if next := nextPage.FindStringSubmatch(w.Body.String()); next != nil {
				p = strings.ReplaceAll(next[1], "&amp;", "&")
			}
		}
		if rows < 1000 || len(seen) < 3 {
			t.Errorf("%s: %d rows on %d pages", path, rows, len(seen))
		}
	}
}
