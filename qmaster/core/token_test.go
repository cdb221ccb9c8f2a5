package core

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/authorize"
)

func digest(n byte) []byte { return bytes.Repeat([]byte{n}, grid.TokenDigest) }

// token creates and revokes tokens. A digest is a byte, repeated; fill makes tokens until
// one is refused.
func (h *harness) token(d *datadriven.TestData) string {
	switch d.CmdArgs[0].Key {
	case "create":
		b := &gdi.CreateToken{}
		scope, n := "", byte(0)
		d.ScanArgs(h.t, "scope", &scope)
		b.Scope, _ = grid.ParseScope(scope)
		seconds := 0
		d.MaybeScanArgs(h.t, "life", &seconds)
		b.Seconds = float64(seconds)
		if d.HasArg("comment") {
			d.ScanArgs(h.t, "comment", &b.Comment)
			b.Comment = unquoted(b.Comment)
		}
		if d.MaybeScanArgs(h.t, "digest", &n) {
			b.Digest = digest(n)
		}
		return h.step(h.request(d, "quill token", b))
	case "revoke":
		b := &gdi.RevokeTokens{}
		for _, v := range d.CmdArgs {
			if v.Key == "ids" {
				for _, id := range v.Vals {
					b.IDs = append(b.IDs, uint32(h.number(id)))
				}
			}
		}
		return h.step(h.request(d, "quill token", b))
	}
	for n := byte(100); ; n++ {
		r := h.core.Step(h.now, h.request(d, "quill token", &gdi.CreateToken{Scope: grid.ScopeRead, Digest: digest(n)}))
		h.keep(r)
		if answer := r.Answers[0].Reply.Answers[0]; answer.Status != gdi.StatusOK {
			return fmt.Sprintf("%d made; then [%d] %s\n", n-100, answer.Status, answer.Text)
		}
	}
}

func (h *harness) tokens() string {
	var b strings.Builder
	for _, t := range h.core.state.Tokens() {
		fmt.Fprintf(&b, "%d of %s: %s, expires in %.0f s %s\n", t.ID, t.Owner, t.Scope, t.Expires.Sub(h.now), t.Comment)
	}
	return b.String()
}

// TestScopes holds the table of scopes: each verb has a row, and there is no row without a
// verb; a request is refused for its scope exactly when the row requires a higher one.
func TestScopes(t *testing.T) {
	var verbs []string
	for _, b := range gdi.Bodies() {
		verbs = append(verbs, b.Verb())
		if _, ok := authorize.Scopes[b.Verb()]; !ok {
			t.Errorf("%s: no scope is in the table", b.Verb())
		}
	}
	for row := range authorize.Scopes {
		if verb, _, _ := strings.Cut(row, " "); !slices.Contains(verbs, verb) {
			t.Errorf("%s: there is no such request", row)
		}
	}
	bodies := map[string]gdi.Body{
		"trigger ping": &gdi.Trigger{Action: "ping"}, "trigger show-scheduler": &gdi.Trigger{Action: "show-scheduler"},
		"trigger show-event-clients": &gdi.Trigger{Action: "show-event-clients"},
		"control queues":             &gdi.Control{Queues: true},
		"decide withdraw":            &gdi.Decide{Decision: gdi.Withdraw},
	}
	for _, b := range gdi.Bodies() {
		bodies[b.Verb()] = b
	}
	s := state.New()
	l := events.List{
		Seq: 1, Events: []events.Event{events.Add(&grid.SubmitHost{Name: "h"}), events.Add(&grid.AdminHost{Name: "h"})}}
	for scope := grid.ScopeRead; scope <= grid.ScopeOperate; scope++ {
		l.Events = append(l.Events, events.Add(&grid.Token{ID: uint32(scope), Owner: "alice", Scope: scope, Expires: 1000}))
	}
	s.Apply(l)
	for row, needs := range authorize.Scopes {
		b := bodies[row]
		if b == nil {
			t.Errorf("%s: the test has no such request", row)
			continue
		}
		for scope := grid.ScopeRead; scope <= grid.ScopeOperate; scope++ {
			r := gdi.Request{User: "alice", Token: uint32(scope), Host: "h", Body: b}
			refused := authorize.Request(s, 999, r)
			if may := scope >= needs; may != (refused == nil) || !may && refused.Status != gdi.StatusScope {
				t.Errorf("%s with the scope %s: %+v", row, scope, refused)
			}
			if late := authorize.Request(s, 1000, r); late == nil || late.Status != gdi.StatusToken {
				t.Errorf("%s with an expired token: %+v", row, late)
			}
			r.User = "bob"
			if other := authorize.Request(s, 999, r); other == nil || other.Status != gdi.StatusToken {
				t.Errorf("%s with the token of another user: %+v", row, other)
			}
		}
		if refused := authorize.Request(s, 999, gdi.Request{User: "alice", Host: "h", Body: b}); refused != nil {
			t.Errorf("%s without a token: %+v", row, refused)
		}
	}
}
