package web

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/problem"
)

// TestOutlookPanics: a panic while a start is foreseen is an error of that request, and the next one has its turn.
func TestOutlookPanics(t *testing.T) {
	c := newCell(t, 1)
	c.submit("alice", "-h", "sleep", "1")
	right := c.server.foresee
	c.server.foresee = func(*state.State, *grid.Job, uint32, grid.Time, outlook.Options) *outlook.Outlook {
		panic("a bug")
	}
	if w := c.request("GET", "/v1/jobs/1/start", "", as("alice")); w.Code != 500 ||
		!strings.Contains(w.Body.String(), problem.Prefix+problem.TypeInternal) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.server.foresee = right
	if w := c.request("GET", "/v1/jobs/1/start", "", as("alice")); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
