package core

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// noToken is in place of a scope where no token suffices.
const noToken = grid.ScopeOperate + 1

// scopes is the scope that a token needs for a request, by the request's verb; with a
// word after it for one that does less or more than others of its verb.
//
// No token creates tokens: one that became known to others ends with its expiry or its
// revocation. Every token may be used to revoke itself.
var scopes = map[string]grid.Scope{
	"get":                        grid.ScopeRead,
	"history":                    grid.ScopeRead,
	"verify":                     grid.ScopeRead,
	"wait":                       grid.ScopeRead,
	"output":                     grid.ScopeRead,
	"streams":                    grid.ScopeRead,
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
	if s, ok := scopes[b.Verb()+" "+word]; ok {
		return s
	}
	if s, ok := scopes[b.Verb()]; ok {
		return s
	}
	return noToken
}

// RefuseToken returns why a token may not be used by a user now; nil when it may, and
// without a token.
func RefuseToken(s *state.State, now grid.Time, user string, token uint32) *gdi.Answer {
	if token == 0 {
		return nil
	}
	t := s.Token(token)
	switch {
	case t == nil || t.Owner != user:
		return refusal(gdi.StatusToken, "denied: token %d has expired or was revoked; make another with `quill token create`", token)
	case t.Expires <= now:
		return refusal(gdi.StatusToken, "denied: token %d expired at %s; make another with `quill token create`", token, moment(t.Expires))
	}
	return nil
}

// refuseToken returns why a request may not be made with the token of its connection.
func refuseToken(s *state.State, now grid.Time, r gdi.Request) *gdi.Answer {
	if refusal := RefuseToken(s, now, r.User, r.Token); refusal != nil || r.Token == 0 {
		return refusal
	}
	switch has, needs := s.Token(r.Token).Scope, scopeOf(r.Body); {
	case needs == noToken:
		return refusal(gdi.StatusScope, "denied: a token is not enough for this request (%s); make it without one", r.Body.Verb())
	case has < needs:
		return refusal(gdi.StatusScope, "denied: token %d has the scope %s, and this request (%s) needs %s; make another token with `quill token create --scope %[4]s`",
			r.Token, has, r.Body.Verb(), needs)
	}
	return nil
}

func refusal(status gdi.Status, format string, args ...any) *gdi.Answer {
	a := gdi.Deny(status, fmt.Sprintf(format, args...))
	return &a
}

// moment prints a time in UTC.
func moment(t grid.Time) string { return t.Std().UTC().Format("2006-01-02 15:04:05 UTC") }

// ordinary reports whether a request has the rights of an ordinary user only, whatever
// its user is: its token does not have the scope operate.
func (c *Core) ordinary(r gdi.Request) bool {
	if r.Token == 0 {
		return false
	}
	t := c.state.Token(r.Token)
	return t == nil || t.Scope < grid.ScopeOperate
}

// isManager and isOperator report whether a request has the rights of a manager and of
// an operator. Managers are operators, too.
func (c *Core) isManager(r gdi.Request) bool { return c.state.IsManager(r.User) && !c.ordinary(r) }
func (c *Core) isOperator(r gdi.Request) bool {
	return c.state.IsOperator(r.User) && !c.ordinary(r)
}

// createToken makes a token of the user of the request, or answers with the one that has the
// digest already: then the request is repeated.
func (c *Core) createToken(in Request, b *gdi.CreateToken) {
	for _, old := range c.state.Tokens() {
		if old.Owner == in.User && bytes.Equal(old.Digest, b.Digest) {
			c.created(in.Ref, old)
			return
		}
	}
	c.issue(in, in.User, b)
}

// issue makes a token of a user, and returns it; nil when it is refused.
func (c *Core) issue(in Request, user string, b *gdi.CreateToken) *grid.Token {
	t, text := c.newToken(user, b)
	own := 0
	for _, old := range c.state.Tokens() {
		if old.Owner == user {
			own++
		}
	}
	switch {
	case text != "":
		c.reply(in.Ref, gdi.Deny(gdi.StatusInvalid, "denied: "+text))
	case own >= grid.TokensOfUser:
		c.reply(in.Ref, gdi.Deny(gdi.StatusLimit, fmt.Sprintf("denied: %q has %d tokens, which is the limit; revoke some with `quill token revoke`", user, own)))
	default:
		if refusal := c.noRoom(user, nil, t); refusal != nil {
			c.reply(in.Ref, *refusal)
			return nil
		}
		c.emit(events.Add(t))
		c.expires = 0
		c.created(in.Ref, t)
		return t
	}
	return nil
}

func (c *Core) created(ref uint64, t *grid.Token) {
	c.reply(ref, gdi.Done(fmt.Sprintf("created token %d with scope %s; it expires at %s", t.ID, t.Scope, moment(t.Expires))))
	c.lastReply().Token = t.ID
}

// newToken returns the token of a user that a request wants; the text is not empty when it is
// refused.
func (c *Core) newToken(user string, b *gdi.CreateToken) (*grid.Token, string) {
	life := b.Seconds
	if life == 0 {
		life = grid.TokenLife
	}
	switch {
	case !b.Scope.Known():
		return nil, "a token needs a scope: " + grid.ScopeNames
	case math.IsNaN(life) || life < grid.TokenLifeLeast || life > grid.TokenLifeMost:
		return nil, fmt.Sprintf("a token lasts at least %v and at most %d days", time.Second*grid.TokenLifeLeast, grid.TokenLifeMost/(24*60*60))
	case len(b.Digest) != grid.TokenDigest:
		return nil, fmt.Sprintf("the digest of a token's secret has %d bytes", grid.TokenDigest)
	case len(b.Comment) > grid.TokenCommentMax || strings.ContainsAny(b.Comment, "\n\t") || grid.Printable(b.Comment) != b.Comment:
		return nil, fmt.Sprintf("the comment of a token has at most %d bytes, all printable", grid.TokenCommentMax)
	}
	return &grid.Token{
		ID: uint32(c.state.Counter(grid.TokenSeqNum)) + 1, Owner: user, Scope: b.Scope,
		Created: c.now, Expires: c.now.Add(life), Comment: b.Comment, Digest: b.Digest,
	}, ""
}

// revokeTokens removes tokens: users their own, managers those of others, too. With a
// token that does not have the scope operate only this one.
func (c *Core) revokeTokens(r gdi.Request, b *gdi.RevokeTokens) (answers []gdi.Answer) {
	if len(b.IDs) == 0 {
		return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: no token to revoke is named")}
	}
	ordinary := c.ordinary(r) // before it revokes itself
	manager := c.isManager(r)
	for _, id := range b.IDs {
		t := c.state.Token(id)
		answer := gdi.Done("")
		about := gdi.Subject{Kind: grid.KindToken, Name: strconv.FormatUint(uint64(id), 10)}
		switch {
		case t == nil || t.Owner != r.User && !manager:
			answer = gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: %q has no token %d", r.User, id))
		case ordinary && id != r.Token:
			answer = *refusal(gdi.StatusScope, "denied: token %d does not have the scope operate, and may be used to revoke no token but itself", r.Token)
		default:
			c.emit(events.Del(grid.KindToken, t.Key()))
			answer.Text, about.Did = fmt.Sprintf("%s@%s has revoked token %d of %s", r.User, r.Host, id, t.Owner), gdi.DidDelete
		}
		answers = append(answers, answer.On(about))
	}
	return answers
}

// expireTokens removes the tokens whose time is over, and the log-ins whose ID token has expired; proposals that are open expire.
func (c *Core) expireTokens() {
	if c.expires > c.now || c.state.Len(grid.KindToken)+c.state.Len(grid.KindLogin)+c.state.Len(grid.KindProposal) == 0 {
		return
	}
	c.expires = grid.Never
	review := func(o grid.Object, expires grid.Time) {
		if expires <= c.now {
			c.emit(events.Del(o.Kind(), o.Key()))
		} else {
			c.expires = min(c.expires, expires)
		}
	}
	for _, t := range c.state.Tokens() {
		review(t, t.Expires)
	}
	for _, l := range c.state.Logins() {
		review(l, l.Expires)
	}
	for _, p := range c.state.Proposals() {
		switch {
		case p.Status != grid.ProposalOpen:
		case p.Expires <= c.now:
			c.emit(events.Mod(decided(p, grid.ProposalExpired, grid.Decision{By: "qmaster", At: c.now})))
		default:
			c.expires = min(c.expires, p.Expires)
		}
	}
}
