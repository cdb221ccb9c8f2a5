package authorize

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Request returns why a request is not decided on, whatever it wants: for the host that it comes from, or for the
// token of its connection; nil when it is.
func Request(s *state.State, now grid.Time, r gdi.Request) *gdi.Answer {
	if refusal := requestToken(s, now, r); refusal != nil {
		return refusal
	}
	return gdi.Denied(fromWrongHost(s, r))
}

// fromWrongHost returns why a request is not served for the host that it comes from;
// "" when it is. Jobs and reservations are changed from submit hosts, the rest of
// the cell from administrative hosts, and both may ask for listings. Tasks of
// parallel jobs are started from the hosts of their jobs.
func fromWrongHost(s *state.State, r gdi.Request) string {
	key := grid.Key{Name: r.Host}
	submit, admin := s.Get(grid.KindSubmitHost, key) != nil, s.Get(grid.KindAdminHost, key) != nil
	switch r.Body.(type) {
	case *gdi.Submit, *gdi.Resubmit, *gdi.Alter, *gdi.DeleteJobs, *gdi.Reserve, *gdi.DeleteARs:
		if !submit {
			return fmt.Sprintf("denied: host %q is not a submit host", r.Host)
		}
	case *gdi.Control, *gdi.Trigger, *gdi.Add, *gdi.Modify, *gdi.Change, *gdi.Delete:
		if !admin {
			return fmt.Sprintf("denied: host %q is not an admin host", r.Host)
		}
	case *gdi.Get, *gdi.Output, *gdi.Verify, *gdi.History, *gdi.CreateToken, *gdi.RevokeTokens, *gdi.LogIn,
		*gdi.WaysToLogIn, *gdi.Propose, *gdi.Decide, *gdi.Streams, *gdi.Explain:
		if !submit && !admin {
			return fmt.Sprintf("denied: host %q is neither submit nor admin host", r.Host)
		}
	}
	return ""
}

// Configuration denies configuration to everybody but managers (operators may
// change user sets, qconf(1)).
func Configuration(c *cell.Cell, r gdi.Request, k grid.Kind) *gdi.Answer {
	switch {
	case !IsConfigurable(k):
		return gdi.Denied(fmt.Sprintf("denied: %s objects can't be configured", k))
	case k == grid.KindUserset && !c.IsOperator(r):
		return gdi.Denied(fmt.Sprintf("denied: %q must be operator for this operation", r.User))
	case k != grid.KindUserset && !c.IsManager(r):
		return gdi.Denied(fmt.Sprintf("denied: %q must be manager for this operation", r.User))
	}
	return nil
}

// IsConfigurable reports whether users configure objects of a kind.
func IsConfigurable(k grid.Kind) bool {
	s := grid.SpecOf(k)
	return s != nil && s.Configured()
}

// noToken is in place of a scope where no token suffices.
const noToken = grid.ScopeOperate + 1

// Scopes is the scope that a token needs for a request, by the request's verb; with a
// word after it for one that does less or more than others of its verb.
//
// No token creates tokens: one that became known to others ends with its expiry or its
// revocation. Every token may be used to revoke itself.
var Scopes = map[string]grid.Scope{
	"get":                        grid.ScopeRead,
	"history":                    grid.ScopeRead,
	"verify":                     grid.ScopeRead,
	"wait":                       grid.ScopeRead,
	"output":                     grid.ScopeRead,
	"streams":                    grid.ScopeRead,
	"explain":                    grid.ScopeRead,
	"trigger ping":               grid.ScopeRead,
	"trigger show-scheduler":     grid.ScopeRead,
	"trigger show-event-clients": grid.ScopeRead,
	"revoke-tokens":              grid.ScopeRead,
	"ways-to-log-in":             grid.ScopeRead,
	"log-in":                     grid.ScopeRead,

	"propose":         grid.ScopePropose,
	"decide withdraw": grid.ScopePropose,

	"decide":      grid.ScopeSubmit,
	"submit":      grid.ScopeSubmit,
	"resubmit":    grid.ScopeSubmit,
	"alter":       grid.ScopeSubmit,
	"delete-jobs": grid.ScopeSubmit,
	"control":     grid.ScopeSubmit,
	"start-task":  grid.ScopeSubmit,
	"reserve":     grid.ScopeSubmit,
	"delete-ars":  grid.ScopeSubmit,

	"control queues": grid.ScopeOperate,
	"trigger":        grid.ScopeOperate,
	"add":            grid.ScopeOperate,
	"modify":         grid.ScopeOperate,
	"change":         grid.ScopeOperate,
	"delete":         grid.ScopeOperate,

	"create-token": noToken,
}

// scopeOf returns the scope that a token needs for a request.
func scopeOf(b gdi.Body) grid.Scope {
	word := ""
	switch b := b.(type) {
	case *gdi.Trigger:
		word = b.Action
	case *gdi.Decide:
		word = string(b.Decision)
	case *gdi.Control:
		if b.Queues {
			word = "queues"
		}
	}
	if s, ok := Scopes[b.Verb()+" "+word]; ok {
		return s
	}
	if s, ok := Scopes[b.Verb()]; ok {
		return s
	}
	return noToken
}

// Token returns why a token may not be used by a user now; nil when it may, and
// without a token.
func Token(s *state.State, now grid.Time, user string, token uint32) *gdi.Answer {
	if token == 0 {
		return nil
	}
	t := s.Token(token)
	switch {
	case t == nil || t.Owner != user:
		return gdi.Denyf(gdi.StatusToken,
			"denied: token %d has expired or was revoked; make another with `quill token create`", token)
	case t.Expires <= now:
		return gdi.Denyf(gdi.StatusToken, "denied: token %d expired at %s; make another with `quill token create`",
			token, gdi.MomentText(t.Expires))
	}
	return nil
}

// requestToken returns why a request may not be made with the token of its connection.
func requestToken(s *state.State, now grid.Time, r gdi.Request) *gdi.Answer {
	if refusal := Token(s, now, r.User, r.Token); refusal != nil || r.Token == 0 {
		return refusal
	}
	switch has, needs := s.Token(r.Token).Scope, scopeOf(r.Body); {
	case needs == noToken:
		return gdi.Denyf(gdi.StatusScope, "denied: a token is not enough for this request (%s); make it without one",
			r.Body.Verb())
	case has < needs:
		return gdi.Denyf(gdi.StatusScope,
			"denied: token %d has the scope %s, and this request (%s) needs %s; make another token with `quill token create --scope %[4]s`",
			r.Token, has, r.Body.Verb(), needs)
	}
	return nil
}
