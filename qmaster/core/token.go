package core

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// createToken makes a token of the user of the request, or answers with the one that has the
// digest already: then the request is repeated.
func (c *Core) createToken(in UserRequest, b *gdi.CreateToken) {
	for _, old := range c.state.Tokens() {
		if old.Owner == in.User && bytes.Equal(old.Digest, b.Digest) {
			c.answerCreated(in.Ref, old)
			return
		}
	}
	c.issue(in, in.User, b)
}

// issue makes a token of a user, and returns it; nil when it is refused.
func (c *Core) issue(in UserRequest, user string, b *gdi.CreateToken) *grid.Token {
	t, text := validate.NewToken(c.cell, user, b)
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
		c.reply(in.Ref,
			gdi.Deny(gdi.StatusLimit,
				fmt.Sprintf("denied: %q has %d tokens, which is the limit; revoke some with `quill token revoke`", user, own)))
	default:
		if refusal := c.refuseMemory(user, nil, t); refusal != nil {
			c.reply(in.Ref, *refusal)
			return nil
		}
		c.emit(events.Add(t))
		c.expires = 0
		c.answerCreated(in.Ref, t)
		return t
	}
	return nil
}

func (s *step) answerCreated(ref uint64, t *grid.Token) {
	s.reply(ref,
		gdi.Done(fmt.Sprintf("created token %d with scope %s; it expires at %s", t.ID, t.Scope, gdi.MomentText(t.Expires))))
	s.lastReply().Token = t.ID
}

// revokeTokens removes tokens: users their own, managers those of others, too. With a
// token that does not have the scope operate only this one.
func (s *step) revokeTokens(r gdi.Request, b *gdi.RevokeTokens) (answers []gdi.Answer) {
	if len(b.IDs) == 0 {
		return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: no token to revoke is named")}
	}
	ordinary := s.cell.IsOrdinary(r) // before it revokes itself
	manager := s.cell.IsManager(r)
	for _, id := range b.IDs {
		t := s.state.Token(id)
		answer := gdi.Done("")
		about := gdi.Subject{Kind: grid.KindToken, Name: strconv.FormatUint(uint64(id), 10)}
		switch {
		case t == nil || t.Owner != r.User && !manager:
			answer = gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: %q has no token %d", r.User, id))
		case ordinary && id != r.Token:
			answer = *gdi.Denyf(gdi.StatusScope,
				"denied: token %d does not have the scope operate, and may be used to revoke no token but itself", r.Token)
		default:
			s.emit(events.Del(grid.KindToken, t.Key()))
			answer.Text, about.Did = fmt.Sprintf("%s@%s has revoked token %d of %s", r.User, r.Host, id, t.Owner), gdi.DidDelete
		}
		answers = append(answers, answer.On(about))
	}
	return answers
}

// expireTokens removes the tokens whose time is over, and the log-ins whose ID token has expired; proposals that are
// open expire.
func (c *Core) expireTokens() {
	if c.expires > c.cell.Now || c.state.Len(grid.KindToken)+c.state.Len(grid.KindLogin)+
		c.state.Len(grid.KindProposal) == 0 {
		return
	}
	c.expires = grid.Never
	review := func(o grid.Object, expires grid.Time) {
		if expires <= c.cell.Now {
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
		case p.Expires <= c.cell.Now:
			c.emit(events.Mod(decided(p, grid.ProposalExpired, grid.Decision{By: "qmaster", At: c.cell.Now})))
		default:
			c.expires = min(c.expires, p.Expires)
		}
	}
}
