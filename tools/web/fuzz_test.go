package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/web/problem"
)

// FuzzRequests: whatever is sent, nothing panics, and every error has a type.
func FuzzRequests(f *testing.F) {
	for route, row := range authorizations {
		method, _, _ := strings.Cut(route, " ")
		f.Add(method, row.target, row.body, "application/x-ndjson")
	}
	f.Add("GET", "/v1/jobs?sort=name&cursor=eyJpIjoyfQ", "", "")
	f.Add("POST", "/v1/jobs", `{"options": ["-N", "x", "-t", "1-4294967295"], "script": "#$ -l a=b\n"}`, "")
	f.Add("PUT", "/v1/config/rqs/x", `{"text": "{\nname x\nlimit users * to slots=1\n}\n"}`, "")
	f.Add("GET", "/v1/events?from=2&to=4&user=*&has=x", "", "text/event-stream")
	c := newCell(f, 1) // of all inputs
	f.Fuzz(func(t *testing.T, method, target, body, accept string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") || u.Host != "" || strings.ContainsAny(method, " \t\r\n") ||
			!validMethod(method) {
			t.Skip()
		}
		now, q := c.c.Core.State().Seq, u.Query()
		from, _ := strconv.ParseUint(q.Get("from"), 10, 64)
		to, _ := strconv.ParseUint(q.Get("to"), 10, 64)
		if strings.HasPrefix(u.Path, "/v1/events") && (to == 0 || max(from, to) > now) || q.Get("after") != "" {
			t.Skip() // it waits
		}
		r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		r.URL, r.RequestURI = u, target
		r.Header = as("root")
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		c.server.handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
		}
		if w.Code >= 400 {
			var p struct{ Type string }
			if err := json.Unmarshal(w.Body.Bytes(), &p); method != "HEAD" &&
				(err != nil || !strings.HasPrefix(p.Type, problem.Prefix)) {
				t.Errorf("%s %s: %d without a type: %s", method, target, w.Code, w.Body)
			}
		}
	})
}

func validMethod(m string) bool {
	return m != "" && strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && m != "CONNECT"
}
