package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/tools/web/mirror"
)

// TestMarks: a moment is the same whether it is made from the log alone, from a state that the mirror had, or from
// another moment.
func TestMarks(t *testing.T) {
	c := newCell(t, 2)
	c.server.mirror.Moments.Every = 5
	begun := c.c.Core.State().Seq
	for range 60 {
		c.submit("alice", "sleep", "1")
		c.run()
	}
	last := c.c.Core.State().Seq
	if !c.server.mirror.WaitFor(t.Context(), last, reachWait) {
		t.Fatal("the mirror does not follow")
	}
	if n, _ := c.server.mirror.Moments.Len(); n != mirror.MarksMost {
		t.Fatalf("%d marks are kept, not %d", n, mirror.MarksMost)
	}
	answer := func(at string) string {
		w := c.request("GET", "/v1/jobs?limit=1000&at="+at, "", http.Header{"Authorization": {"Bearer token-alice"}})
		if w.Code != http.StatusOK {
			t.Fatalf("at %s: %d %s", at, w.Code, w.Body)
		}
		return w.Body.String()
	}
	marked := c.server.mirror.Moments
	for seq := begun; seq < last; seq += 7 {
		for _, at := range []string{fmt.Sprint(seq), c.lists[seq-1].At.Std().UTC().Format(time.RFC3339)} {
			c.server.mirror.Moments = mirror.NewMoments()
			want := answer(at)
			c.server.mirror.Moments = marked
			marked.Sweep(0)
			if got := answer(at); got != want {
				t.Fatalf("at %s, from a mark: %s, not %s", at, got, want)
			}
			c.server.mirror.Moments = mirror.NewMoments()
			answer(fmt.Sprint(max(begun+5, seq) - 5))
			if got := answer(at); got != want {
				t.Fatalf("at %s, from another moment: %s, not %s", at, got, want)
			}
			c.server.mirror.Moments = marked
		}
	}
}

// TestPastIsPublic: what the log has for a manager, who may run the server, is not shown to its users.
func TestPastIsPublic(t *testing.T) {
	c := newCell(t, 1)
	c.submit("alice", "-v", "PASSWORD=hunter2", "sleep", "1")
	job := c.c.Core.State().Seq
	c.submit("alice", "sleep", "1")
	c.server.mirror.WaitFor(t.Context(), job+1, reachWait)
	bob := http.Header{"Authorization": {"Bearer token-bob"}}
	for _, path := range []string{"/v1/jobs/1", fmt.Sprintf("/v1/jobs/1?at=%d", job),
		fmt.Sprintf("/v1/events?from=1&to=%d", job+1)} {
		c.server.mirror.Moments.Restart(nil) // the moment is made from a full state of the log
		w := c.request("GET", path, "", bob)
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, "sleep") ||
			strings.Contains(body, "hunter2") {
			t.Errorf("%s: %d %s", path, w.Code, body)
		}
	}
}
