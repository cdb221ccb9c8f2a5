package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/problem"
)

// roles are the columns of authorizations. alice owns the job, bob is another user. maria's token was revoked after it
// was used, that of zoe has expired.
var roles = []string{"", "alice", "bob", "olga", "root", "maria", "zoe"}

// authorizations has for each route what is sent, and the status for each role: none, owner, another user, operator,
// manager, revoked and expired.
var authorizations = map[string]struct{ target, body, want string }{
	"GET /v1/cell":                 {"/v1/cell", "", "401 200 200 200 200 401 401"},
	"GET /v1/jobs":                 {"/v1/jobs", "", "401 200 200 200 200 401 401"},
	"GET /v1/jobs/{id}":            {"/v1/jobs/1", "", "401 200 200 200 200 401 401"},
	"GET /v1/accounting":           {"/v1/accounting", "", "401 200 200 200 200 401 401"},
	"GET /v1/jobs/{id}/start":      {"/v1/jobs/1/start", "", "401 200 200 200 200 401 401"},
	"GET /v1/jobs/{id}/output":     {"/v1/jobs/1/output?tail=10", "", "401 200 403 403 200 401 401"},
	"GET /v1/jobs/{id}/accounting": {"/v1/jobs/1/accounting", "", "401 200 200 200 200 401 401"},
	"GET /v1/queues":               {"/v1/queues", "", "401 200 200 200 200 401 401"},
	"GET /v1/hosts":                {"/v1/hosts", "", "401 200 200 200 200 401 401"},
	"GET /v1/quotas":               {"/v1/quotas", "", "401 200 200 200 200 401 401"},
	"GET /v1/reservations":         {"/v1/reservations", "", "401 200 200 200 200 401 401"},
	"GET /v1/reservations/{id}":    {"/v1/reservations/1", "", "401 200 200 200 200 401 401"},
	// each sees its own, a manager all: testdata/proposals.txt
	"GET /v1/proposals":      {"/v1/proposals", "", "401 200 200 200 200 401 401"},
	"GET /v1/proposals/{id}": {"/v1/proposals/1", "", "401 200 404 404 200 401 401"},
	"POST /v1/proposals/{id}/decision": {"/v1/proposals/1/decision", `{"decision": "approve"}`,
		"401 200 404 404 200 401 401"},
	"GET /v1/config/{kind}":        {"/v1/config/pe", "", "401 200 200 200 200 401 401"},
	"GET /v1/kinds":                {"/v1/kinds", "", "401 200 200 200 200 401 401"},
	"GET /v1/kinds/{kind}":         {"/v1/kinds/pe", "", "401 200 200 200 200 401 401"},
	"GET /v1/config/{kind}/{name}": {"/v1/config/pe/make", "", "401 200 200 200 200 401 401"},
	"GET /metrics/jobs":            {"/metrics/jobs", "", "401 200 200 200 200 401 401"},
	"GET /v1/events":               {"/v1/events?from=1&to=2", "", "401 200 200 200 200 401 401"},
	// a client that logs in has no user yet: provider_test.go
	"GET /login":               {"/login", "", "200 200 200 200 200 200 200"},
	"GET /login/oidc":          {"/login/oidc", "", "404 404 404 404 404 404 404"},
	"GET /login/oidc/callback": {"/login/oidc/callback?code=x&state=y", "", "404 404 404 404 404 404 404"},
	"GET /v1/session":          {"/v1/session", "", "401 200 200 200 200 401 401"},
	"POST /v1/session":         {"/v1/session", `{}`, "401 201 201 201 201 401 401"},
	// a token has none; see testdata/session.txt
	"DELETE /v1/session":         {"/v1/session", "", "401 404 404 404 404 401 401"},
	"POST /v1/jobs":              {"/v1/jobs", `{"command": ["true"]}`, "401 201 201 201 201 401 401"},
	"PATCH /v1/jobs/{id}":        {"/v1/jobs/1", `{"options": ["-N", "x"]}`, "401 200 403 200 200 401 401"},
	"POST /v1/jobs/{id}/hold":    {"/v1/jobs/1/hold", `{}`, "401 200 403 200 200 401 401"},
	"POST /v1/jobs/{id}/release": {"/v1/jobs/1/release", `{}`, "401 200 403 200 200 401 401"},
	"POST /v1/jobs/{id}/signal":  {"/v1/jobs/1/signal", `{"action": "suspend"}`, "401 200 403 200 200 401 401"},
	"DELETE /v1/jobs/{id}":       {"/v1/jobs/1", "", "401 200 403 200 200 401 401"},
	"POST /v1/queues/{name}/signal": {"/v1/queues/all.q@h1/signal", `{"action": "disable"}`,
		"401 403 403 200 200 401 401"},
	"POST /v1/reservations": {"/v1/reservations",
		`{"options": ["-a", "203612241200", "-d", "60", "-q", "all.q@h2"]}`, "401 403 403 201 201 401 401"},
	"DELETE /v1/reservations/{id}": {"/v1/reservations/1", "", "401 403 403 200 200 401 401"},
	"PUT /v1/config/{kind}/{name}": {"/v1/config/calendar/day", `{"attributes": {"week": "NONE"}}`,
		"401 403 403 403 200 401 401"},
	"DELETE /v1/config/{kind}/{name}": {"/v1/config/calendar/night", "", "401 403 403 403 200 401 401"},
	"POST /v1/config": {"/v1/config", `{"put": [{"kind": "calendar", "name": "day"}]}`,
		"401 403 403 403 200 401 401"},
	"POST /v1/config validate": {"/v1/config?validate=true", `{"put": [{"kind": "calendar", "name": "day"}]}`,
		"401 403 403 403 200 401 401"},
	"DELETE /v1/config/{kind} validate": {"/v1/config/calendar/night?validate=true", "", "401 403 403 403 200 401 401"},
}

// TestAuthorization: each route answers each role as its row says, and there is no route without a row. A role that may
// not change something has changed nothing.
func TestAuthorization(t *testing.T) {
	first := newCell(t, 1)
	for _, r := range routes(first.server.api.OpenAPI()) {
		if _, has := authorizations[r.Method+" "+r.Path]; !has {
			t.Errorf("%s %s has no row", r.Method, r.Path)
		}
	}
	var c *testCell
	for route, row := range authorizations {
		method, _, _ := strings.Cut(route, " ")
		var got []string
		for _, role := range roles {
			if c == nil { // nothing was changed in the one before
				c = authorizationCell(t)
			}
			header := as(role)
			if role == "" {
				header.Del("Authorization")
			}
			header.Set("Content-Type", "application/json")
			if role == "maria" { // the connection is open when the token is revoked
				if w := c.request("GET", "/v1/cell", "", header); w.Code != 200 {
					t.Fatal(w.Code, w.Body)
				}
			}
			c.gone["maria"], c.gone["zoe"] = true, true
			before := c.c.Core.State().Seq
			w := c.request(method, row.target, row.body, header)
			got = append(got, fmt.Sprint(w.Code))
			if w.Code >= 400 && c.c.Core.State().Seq != before {
				t.Errorf("%s as %q: refused, and something has changed", route, role)
			}
			if w.Code >= 400 && !strings.Contains(w.Body.String(), problem.Prefix) {
				t.Errorf("%s as %q: %s is no problem", route, role, w.Body)
			}
			if w.Code == 401 && !strings.Contains(w.Body.String(), "quill token create") {
				t.Errorf("%s as %q: %s does not explain how to make a token", route, role, w.Body)
			}
			c.server.entry.ForgetFailures()
			if delete(c.gone, "maria"); w.Code < 400 && method != "GET" {
				c.stop()
				c = nil
			}
		}
		if g := strings.Join(got, " "); g != row.want {
			t.Errorf("%s: %s, not %s", route, g, row.want)
		}
	}
}

// authorizationCell has what the rows are about: job 1 of alice, which runs, reservation 1 of root and the calendar
// night.
func authorizationCell(t *testing.T) *testCell {
	c := newCell(t, 2)
	if reply := c.ask("root", "", &gdi.Reserve{AR: &grid.AR{Start: c.now.Add(1e6), Duration: 60}}); !reply.OK() {
		t.Fatal(reply.Answers)
	}
	if reply := c.ask("root", "", &gdi.Add{Objects: []grid.Object{grid.DefaultCalendar("night")}}); !reply.OK() {
		t.Fatal(reply.Answers)
	}
	c.submit("alice", "-N", "one", "-l", "h_rt=60", "sleep", "1")
	c.run()
	c.runs(1)
	c.writes("/out", "begun\n")
	c.propose("alice", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, HoldAdd: "u"})
	return c
}
