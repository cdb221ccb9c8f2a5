package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// pageRoles has for each page and action what is sent and the status for each role, as authorizations has it for the
// API. A session may see and do what the commands of its user may.
var pageRoles = map[string]struct{ target, form, want string }{
	"GET /{$}":              {"/", "", "401 200 200 200 200 401 401"},
	"GET /jobs":             {"/jobs", "", "401 200 200 200 200 401 401"},
	"GET /jobs/{id}":        {"/jobs/1", "", "401 200 200 200 200 401 401"},
	"GET /jobs/{id}/output": {"/jobs/1/output", "", "401 200 403 403 200 401 401"},
	"GET /hosts":            {"/hosts", "", "401 200 200 200 200 401 401"},
	"GET /hosts/{name}":     {"/hosts/h1", "", "401 200 200 200 200 401 401"},
	"GET /queues":           {"/queues", "", "401 200 200 200 200 401 401"},
	"GET /quotas":           {"/quotas", "", "401 200 200 200 200 401 401"},
	"GET /reservations":     {"/reservations", "", "401 200 200 200 200 401 401"},
	"GET /plan":             {"/plan", "", "401 200 200 200 200 401 401"},
	"GET /shares":           {"/shares", "", "401 200 200 200 200 401 401"},
	"GET /scheduler":        {"/scheduler", "", "401 200 200 200 200 401 401"},
	"GET /whatif":           {"/whatif", "", "401 200 200 200 200 401 401"},
	// there is none yet; another user's: testdata/console_whatif.txt
	"GET /whatif/{id}": {"/whatif/1", "", "401 404 404 404 404 401 401"},
	// each sees its own, a manager all: testdata/proposals.txt
	"GET /proposals": {"/proposals", "", "401 200 200 200 200 401 401"},
	"GET /config":    {"/config", "", "401 200 200 200 200 401 401"},
	"GET /log":       {"/log", "", "401 200 200 200 200 401 401"},
	// its name has its content; it has nothing of the cell
	"GET /static/{name}": {"/static/console.css", "", "404 404 404 404 404 404 404"},
	// a token has no session; see testdata/session.txt
	"POST /logout":             {"/logout", "x=1", "401 404 404 404 404 401 401"},
	"POST /whatif":             {"/whatif", "from=1", "401 303 303 303 303 401 401"},
	"POST /whatif/{id}/cancel": {"/whatif/1/cancel", "x=1", "401 303 303 303 303 401 401"},
	"POST /act":                {"/act", "verb=hold&ref=1", "401 200 200 200 200 401 401"}, // it asks
	"POST /act/{key}":          {"/act/unknown", "confirmed=1", "401 404 404 404 404 401 401"},
	"GET /act/{key}":           {"/act/unknown", "", "401 404 404 404 404 401 401"},
	"POST /act hold":           {"/act", "verb=hold&ref=1&confirmed=1", "401 200 403 200 200 401 401"},
	"POST /act delete":         {"/act", "verb=delete&ref=1&confirmed=1", "401 200 403 200 200 401 401"},
	"POST /act alter":          {"/act", "verb=alter&ref=1&priority=-9&confirmed=1", "401 200 403 200 200 401 401"},
	"POST /act suspend":        {"/act", "verb=suspend&ref=1&confirmed=1", "401 200 403 200 200 401 401"},
	"POST /act disable":        {"/act", "verb=disable&queues=1&ref=all.q@h1&confirmed=1", "401 403 403 200 200 401 401"},
	"POST /act algorithm":      {"/act", "verb=algorithm&ref=fbsng&confirmed=1", "401 403 403 403 200 401 401"},
	"POST /act approve":        {"/act", "verb=approve&ref=1&confirmed=1", "401 200 404 404 200 401 401"},
	"POST /act reject":         {"/act", "verb=reject&ref=1&confirmed=1", "401 200 404 404 200 401 401"},
	"POST /act shares":         {"/act", "verb=shares&ref=gold=5&confirmed=1", "401 403 403 403 200 401 401"},
}

// TestPageRoles: each page and action answers each role as its row says, there is none without a row, and what is
// refused has changed nothing.
func TestPageRoles(t *testing.T) {
	c := authorizationCell(t)
	for route := range c.server.console.Routes() {
		if _, has := pageRoles[route]; !has {
			t.Errorf("%s has no row", route)
		}
	}
	c.stop()
	c = nil
	for route, row := range pageRoles {
		method, _, _ := strings.Cut(route, " ")
		var got []string
		for _, role := range roles {
			if c == nil {
				c = authorizationCell(t)
			}
			c.gone["maria"], c.gone["zoe"] = true, true
			header := as(role)
			if role == "" {
				header.Del("Authorization")
			}
			before := c.c.Core.State().Seq
			form, err := url.ParseQuery(row.form)
			if err != nil {
				t.Fatal(err)
			}
			w := c.request(http.MethodGet, row.target, "", header)
			if method == http.MethodPost {
				w = c.postForm(row.target, form, header)
			}
			got = append(got, fmt.Sprint(w.Code))
			if w.Code >= 400 && c.c.Core.State().Seq != before {
				t.Errorf("%s as %q: refused, and something has changed", route, role)
			}
			for _, one := range c.server.cell.trials.kept {
				<-one.ended
			}
			c.server.entry.ForgetFailures()
			if c.gone = map[string]bool{}; w.Code < 400 && method != http.MethodGet {
				c.stop()
				c = nil
			}
		}
		if g := strings.Join(got, " "); g != row.want {
			t.Errorf("%s: %s, not %s", route, g, row.want)
		}
	}
}
