package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestActOnce: an action whose answer was lost can be confirmed again, and is done once; another user cannot see it.
func TestActOnce(t *testing.T) {
	c := newCell(t, 2)
	c.submit("alice", "sleep", "1")
	c.logIn("alice")
	header := http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/html"},
		"Content-Type": {"application/x-www-form-urlencoded"}}
	form := url.Values{"csrf": {c.browser.csrf}, "verb": {"resubmit"}, "ref": {"1"}}.Encode()
	page := c.request(http.MethodPost, "/act", form, header).Header().Get("Location")
	see := func(status int, want string) {
		t.Helper()
		if w := c.request(http.MethodGet, page, "", header); w.Code != status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d, not %d: %s", w.Code, status, seenOf(w))
		}
	}
	see(http.StatusOK, "Submit again 1 job?")
	c.silent = true
	c.server.entry.AnswerWait = 1
	confirm := func() {
		t.Helper()
		if w := c.request(http.MethodPost, page, form, header); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != page {
			t.Error(w.Code, w.Header())
		}
	}
	confirm()
	see(http.StatusServiceUnavailable, "qmaster has not answered in time")
	c.silent = false
	for range 3 {
		confirm()
		see(http.StatusOK, "Done")
	}
	if n := c.c.Core.State().Len(grid.KindJob); n != 2 {
		t.Errorf("there are %d jobs", n)
	}
	c.logIn("root")
	header.Set("Cookie", c.browser.cookie)
	see(http.StatusNotFound, "not known any more")
}
