package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/daemons/celltest"
	"github.com/quill-grid/quill/tools/web"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestLive: a real cell with tokens of its owner, who is a manager.
func TestLive(t *testing.T) {
	cell := celltest.Start(t, 1, 2)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- daemons.Web(ctx, cell.Cell, web.Options{Listen: "127.0.0.1:0", Logger: hclog.NewNullLogger(), Ready: func(url string) { ready <- url }})
	}()
	var url string
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	c, err := client.Connect(ctx, cell.Cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	token := func(scope grid.Scope) (string, uint32) {
		secret := bus.NewSecret()
		reply, err := c.Do(ctx, "quill", &gdi.CreateToken{Scope: scope, Digest: bus.Digest(secret)})
		if err != nil || !reply.OK() {
			t.Fatal(err, reply)
		}
		return bus.TokenText(reply.Token, secret), reply.Token
	}
	ask := func(method, path, token, body string, status int, want string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
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
	reads, _ := token(grid.ScopeRead)
	submits, number := token(grid.ScopeSubmit)
	ask("GET", "/v1/cell", reads, "", 200, `"user":`) // a token that was made just now
	ask("POST", "/v1/jobs", reads, `{"command": ["true"]}`, 403, "urn:quill:problem:scope")
	seq := ask("POST", "/v1/jobs", submits, `{"options": ["-N", "live"], "command": ["sleep", "0"]}`, 201, `Your job 1 (\"live\") has been submitted`)
	ask("GET", "/v1/jobs/1?after="+seq, reads, "", 200, `"job_name":"live"`)
	ask("GET", fmt.Sprintf("/v1/events?from=%s&to=%s", seq, seq), reads, "", 200, `"event":"JOB_ADD"`)
	ask("GET", "/v1/events?from=1&to="+seq+"&kind=JOB", reads, "", 200, `"key":"1"`)
	ask("GET", "/v1/accounting?begin=-1d", reads, "", 200, `{"items":[`) // as far as the log goes
	for range 2 {                                                        // from the log, and from memory
		ask("GET", "/v1/jobs?at="+seq, reads, "", 200, `"name":"live"`)
	}
	ask("PUT", "/v1/config/calendar/night", submits, `{"attributes": {"week": "mon=off"}}`, 403, "urn:quill:problem:")
	operates, _ := token(grid.ScopeOperate)
	ask("PUT", "/v1/config/calendar/night", operates, `{"attributes": {"week": "mon=off"}}`, 200, "added")
	ask("GET", "/v1/cell", "quill_1_wrong", "", 401, "quill token create")
	if reply, err := c.Do(ctx, "quill", &gdi.RevokeTokens{IDs: []uint32{number}}); err != nil || !reply.OK() {
		t.Fatal(err, reply)
	} else {
		ask("GET", fmt.Sprintf("/v1/cell?after=%d", reply.Seq), reads, "", 200, "")
	}
	ask("GET", "/v1/cell", submits, "", 401, "revoked")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
