package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/web/problem"
)

// TestHeaders: no answer lets pages of other servers read it, embed it or run a script in it, whatever the answer is,
// and none says where it was.
func TestHeaders(t *testing.T) {
	c := newCell(t, 1)
	type request struct{ method, target string }
	requests := []request{{"GET", "/"}, {"GET", "/v1/docs"}, {"GET", "/v1/docs.css"}, {"GET", "/v1/openapi.json"},
		{"GET", "/login/wrong"}, {"GET", "/metrics"}, {"GET", "/none"}}
	for route, row := range authorizations {
		method, _, _ := strings.Cut(route, " ")
		requests = append(requests, request{method, row.target}, request{"OPTIONS", row.target})
	}
	for _, r := range requests {
		h := as("bob")
		h.Set("Origin", "https://example.org")
		h.Set("Access-Control-Request-Method", "POST")
		h.Set("Access-Control-Request-Headers", "authorization")
		w := c.request(r.method, r.target, "", h)
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %s: %s", r.method, r.target, name)
			}
		}
		csp := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s %s: Content-Security-Policy %q lacks %s", r.method, r.target, csp, part)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") && r.target != "/" {
			t.Errorf("%s %s: Content-Security-Policy %q", r.method, r.target, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": map[bool]string{
			false: "no-referrer", true: "same-origin"}[r.target == "/" && r.method == "GET"], "Cache-Control": "no-store"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, not %q", r.method, r.target, name, got, want)
			}
		}
		if r.method == "OPTIONS" && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("OPTIONS %s: %d", r.target, w.Code)
		}
	}
}

// TestUnbuffered: a proxy before the server passes on events, output and pages when they are sent.
func TestUnbuffered(t *testing.T) {
	c := newCell(t, 1)
	c.submit("alice", "sleep", "1")
	c.run()
	c.end(1, 0)
	c.writes("/home/alice/sleep.o1", "done\n")
	c.makeLink("alice", false)
	c.openLink()
	server := c.serve()
	pages := http.Header{"Cookie": {c.browser.cookie}, "Accept": {typeEvents}}
	for _, one := range []struct {
		path string
		h    http.Header
		want string
	}{
		{"/v1/events?from=1", as("alice"), "no"}, {"/v1/jobs/1/output?follow=true", as("alice"), "no"},
		{"/jobs", pages, "no"},
		{"/v1/jobs/1/output", as("alice"), ""}, {"/v1/jobs", as("alice"), ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+one.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = one.h
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := answer.Header.Get("X-Accel-Buffering"); got != one.want || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, X-Accel-Buffering is %q, not %q", one.path, answer.StatusCode, got, one.want)
		}
		answer.Body.Close()
	}
}

// TestLargeHeader: a header that is too large is a problem.
func TestLargeHeader(t *testing.T) {
	c := newCell(t, 1)
	for size, want := range map[int]int{headerMax / 2: http.StatusOK, headerMax: http.StatusRequestHeaderFieldsTooLarge} {
		h := as("bob")
		h.Set("X-Large", strings.Repeat("x", size))
		w := c.request("GET", "/v1/cell", "", h)
		if w.Code != want || want != http.StatusOK && !strings.Contains(w.Body.String(), problem.Prefix+problem.TypeLarge) {
			t.Errorf("%d bytes: %d %s", size, w.Code, w.Body)
		}
	}
}
