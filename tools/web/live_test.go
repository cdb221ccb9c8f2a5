package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/user"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/daemons/celltest"
	"github.com/quill-grid/quill/tools/web"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestLive: a real cell with tokens of its owner, who is a manager.
func TestLive(t *testing.T) {
	running := celltest.Start(t, 1, 2)
	url := serve(t, running)
	c, err := client.Connect(t.Context(), running.Cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func(method, path, token, body string, status int, want string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s %s: %d %s %v, not %d with %q", method, path, answer.StatusCode, text, err, status, want)
		}
		return answer.Header.Get("Quill-Sequence")
	}
	reads, _ := token(t, running, grid.ScopeRead)
	submits, number := token(t, running, grid.ScopeSubmit)
	ask("GET", "/v1/cell", reads, "", 200, `"user":`) // a token that was made just now
	ask("POST", "/v1/jobs", reads, `{"command": ["true"]}`, 403, "urn:quill:problem:scope")
	seq := ask("POST", "/v1/jobs", submits, `{"options": ["-N", "live"], "command": ["sleep", "0"]}`, 201,
		`Your job 1 (\"live\") has been submitted`)
	ask("GET", "/v1/jobs/1?after="+seq, reads, "", 200, `"job_name":"live"`)
	ask("GET", fmt.Sprintf("/v1/events?from=%s&to=%s", seq, seq), reads, "", 200, `"event":"JOB_ADD"`)
	ask("GET", "/v1/events?from=1&to="+seq+"&kind=JOB", reads, "", 200, `"key":"1"`)
	ask("GET", "/v1/accounting?begin=-1d", reads, "", 200, `{"items":[`) // as far as the log goes
	for range 2 {                                                        // from the log, and from memory
		ask("GET", "/v1/jobs?at="+seq, reads, "", 200, `"name":"live"`)
	}
	ask("PUT", "/v1/config/calendar/night", submits, `{"attributes": {"week": "mon=off"}}`, 403, "urn:quill:problem:")
	operates, _ := token(t, running, grid.ScopeOperate)
	ask("PUT", "/v1/config/calendar/night", operates, `{"attributes": {"week": "mon=off"}}`, 200, "added")
	ask("GET", "/v1/cell", "quill_1_wrong", "", 401, "quill token create")
	if reply, err := c.Do(t.Context(), "quill", &gdi.RevokeTokens{IDs: []uint32{number}}); err != nil || !reply.OK() {
		t.Fatal(err, reply)
	} else {
		ask("GET", fmt.Sprintf("/v1/cell?after=%d", reply.Seq), reads, "", 200, "")
	}
	ask("GET", "/v1/cell", submits, "", 401, "revoked")
	opens, _ := token(t, running, grid.ScopeRead)
	logIn(t, running.Cell, url, opens)
}

// logIn logs in over the socket of the cell and out over the network, after which the token is revoked.
func logIn(t *testing.T, c cell.Cell, url, text string) {
	link, err := web.OpenSession(t.Context(), c, text, true)
	if err != nil || !strings.HasPrefix(link, url+"/login/") {
		t.Fatal(link, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	ask := func(method, url, csrf string, status int, want string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Quill-CSRF", csrf)
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s %s: %d %s %v, not %d with %q", method, url, answer.StatusCode, text, err, status, want)
		}
		return string(text)
	}
	ask("GET", link, "", 200, "Why jobs wait")
	ask("GET", link, "", 401, "quill web --open")
	var session web.Session
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(ask("GET", url+"/v1/session", "", 200, `"user"`)), &session); err != nil ||
		session.User != me.Username {
		t.Error(session.User, err)
	}
	ask("DELETE", url+"/v1/session", session.CSRF, 204, "")
	ask("GET", url+"/v1/session", "", 401, "")
	if link, err := web.OpenSession(t.Context(), c, text, true); err == nil ||
		!strings.Contains(err.Error(), "unknown, revoked or expired") {
		t.Error(link, err)
	}
	if _, err := web.OpenSession(t.Context(), cell.Cell{Root: t.TempDir(), Name: "none"}, text, true); err == nil ||
		!strings.Contains(err.Error(), "no quill web of this cell runs on this host") {
		t.Error(err)
	}
}
