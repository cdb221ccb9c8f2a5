package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
)

// unread is a body that counts what is read of it.
type unread struct{ n int }

func (u *unread) Read(b []byte) (int, error) {
	u.n += len(b)
	return len(b), nil
}

// TestBodies: no body is read without a valid token, nor a large one with a token that changes nothing, nor one that is
// too large; and a user whose requests take all memory that one may have does not delay another one.
func TestBodies(t *testing.T) {
	c := newCell(t, 1)
	c.scopes = map[string]grid.Scope{"reader": grid.ScopeRead, "agent": grid.ScopePropose}
	cookie, _, _ := strings.Cut(c.logIn("alice").cookie, "=")
	send := func(path string, header http.Header, length int64) (*httptest.ResponseRecorder, int) {
		body := &unread{}
		r := httptest.NewRequest("POST", path, body)
		r.ContentLength = length
		r.Header = header.Clone()
		r.Header.Set("Content-Type", typeJSON)
		w := httptest.NewRecorder()
		c.server.handler.ServeHTTP(w, r)
		return w, body.n
	}
	for _, one := range []struct {
		path   string
		header http.Header
		length int64
		want   int
	}{
		{"/v1/jobs", http.Header{}, 1 << 20, 401},
		{"/v1/jobs", as("reader"), 1 << 20, 403},
		{"/v1/jobs", as("agent"), 1 << 20, 403},
		{"/v1/jobs", as("alice"), 1 << 40, 413},
		{"/act", http.Header{}, 1 << 20, 401},
		{"/whatif", http.Header{"Cookie": {cookie + "=x"}}, 1 << 20, 401},
	} {
		if w, n := send(one.path, one.header, one.length); w.Code != one.want || n > 0 {
			t.Errorf("%s, %v, %d bytes: %d, and %d bytes of it were read: %s", one.path, one.header, one.length,
				w.Code, n, w.Body)
		}
	}
	if w, n := send("/v1/jobs", as("reader"), -1); w.Code < 400 || n > 2*bodySmall {
		t.Errorf("of a body of unknown length %d bytes were read: %s", n, w.Body)
	}
	if w := c.request("POST", "/v1/jobs", `{"command": ["true"], "options": ["-w", "v"]}`, as("reader")); w.Code >= 500 {
		t.Error(w.Body)
	}
	all := c.server.bodies
	if err := all.Enter(fair.User{Name: "mallory"}, all.User); err != nil {
		t.Fatal(err)
	}
	if w := c.request("POST", "/v1/jobs", `{"command": ["true"]}`, as("alice")); w.Code != 201 {
		t.Error(w.Code, w.Body)
	}
	if all.Count() != all.User {
		t.Errorf("something is left of requests that have ended: %d", all.Count()-all.User)
	}
}

// TestManyValues: what a body becomes in memory is bounded before it is decoded.
func TestManyValues(t *testing.T) {
	for text, want := range map[string]int{`1`: 1, `{"a": [1, 2]}`: 5, `"a,b:[{\",,"`: 1, `["\\", "x"]`: 3} {
		if n := valuesOf([]byte(text)); n != want {
			t.Errorf("%s: %d, not %d", text, n, want)
		}
	}
	c := newCell(t, 1)
	bomb := `{"command": ["true"], "x": [` + strings.Repeat(`{"":0},`, 200_000) + `0]}`
	if w := c.request("POST", "/v1/jobs", bomb, as("alice")); w.Code < 400 || w.Code >= 500 ||
		!strings.Contains(w.Body.String(), "values") {
		t.Errorf("%d %.300s", w.Code, w.Body)
	}
	words := strings.Repeat(`"--frame",`, 19_998)
	if w := c.request("POST", "/v1/jobs", fmt.Sprintf(`{"command": [%s "true"]}`, words), as("alice")); strings.Contains(
		w.Body.String(), "values") {
		t.Errorf("%.300s", w.Body)
	}
}
