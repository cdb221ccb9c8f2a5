package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
)

// unread is a body that counts what is read of it.
type unread struct{ n int }

func (u *unread) Read(b []byte) (int, error) {
	u.n += len(b)
	return len(b), nil
}

// TestBodies: no body is read without a valid token, nor a large one with a token that cannot propose.
func TestBodies(t *testing.T) {
	tokens := map[string]*grid.Token{"reads": {Owner: "alice", Scope: grid.ScopeRead},
		"proposes": {Owner: "bob", Scope: grid.ScopePropose}}
	h := handler(cell.Cell{}, session{}, func(_ context.Context, token string) (*grid.Token, error) {
		return tokens[token], nil
	})
	for _, c := range []struct {
		token string
		want  int
		reads bool
	}{{"", 401, false}, {"wrong", 401, false}, {"reads", 403, false}, {"proposes", 400, true}} {
		body := &unread{}
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", body)
		r.ContentLength = 1 << 20
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want && !(c.reads && w.Code >= 400) || body.n > 0 != c.reads {
			t.Errorf("%q: %d, and %d bytes were read: %s", c.token, w.Code, body.n, w.Body)
		}
	}
}
