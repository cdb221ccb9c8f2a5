package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// TestSilentMaster: a request whose answer does not come ends in time, with the number under which it can be sent
// again: nothing is made twice.
func TestSilentMaster(t *testing.T) {
	c := newCell(t, 1)
	h := as("alice")
	h.Set("Content-Type", "application/json")
	wait := c.server.entry.AnswerWait
	if wait+entry.OpenWait >= answerWait {
		t.Errorf("qmaster has %v to answer, and the answer %v", wait, answerWait)
	}
	c.server.entry.AnswerWait, c.silent = time.Millisecond, true
	w := c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h)
	key := w.Header().Get(keyHeader)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || key == "" ||
		!strings.Contains(w.Body.String(), problem.Prefix+problem.TypeQMaster) {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	c.server.entry.Close()
	c.server.entry.AnswerWait, c.silent = wait, false
	h.Set(keyHeader, key)
	if w = c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h); w.Code != http.StatusCreated ||
		w.Header().Get("Location") != "/v1/jobs/1" {
		t.Errorf("the same again: %d %v %s", w.Code, w.Header(), w.Body)
	}
	h.Add(keyHeader, "another")
	if w = c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h); w.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(w.Body.String(), "a request has one number") {
		t.Errorf("two numbers: %d %s", w.Code, w.Body)
	}
	if n := c.c.Core.State().Len(grid.KindJob); n != 1 {
		t.Errorf("%d jobs were made", n)
	}
}
