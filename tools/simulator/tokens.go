package simulator

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core"
)

// The identity provider of a world with tokens.
const (
	issuer = "https://id.example.org"
	client = "quill"
)

// signIn is what a client presents: a user, perhaps with a token, or what an ID token proves.
type signIn struct {
	user  string
	token uint32
	proof *core.Proof
}

// credentials are what the users of a world have to present: tokens that were made, whether valid or not, and ID
// tokens.
type credentials struct {
	tokens  []signIn
	idToken *core.Proof // the last one
	made    int         // ID tokens
}

// signIn is what the next request is made with: often a token of the user, which may have been revoked or have expired.
func (c *clients) signIn(user string) signIn {
	if c.world.Tokens && !c.clean && len(c.has.tokens) > 0 && c.world.hasChance(0.5) {
		return c.has.tokens[c.world.rand.IntN(len(c.has.tokens))]
	}
	return signIn{user: user}
}

// tokenRequest makes, uses up and revokes tokens, and logs in with an ID token, which may have been used before.
func (c *clients) tokenRequest(id string) {
	w := c.world
	user := [...]string{"alice", "bob", "root"}[w.rand.IntN(3)]
	digest := sha256.Sum256([]byte(id))
	switch p := w.rand.IntN(10); {
	case p < 4 || len(c.has.tokens) == 0:
		c.askWith(signIn{user: user}, &gdi.CreateToken{Scope: grid.ScopeRead + grid.Scope(w.rand.IntN(4)),
			Seconds: grid.TokenLifeLeast + 60*w.rand.Float64(), Digest: digest[:]}, id)
	case p < 7:
		if c.has.idToken == nil || w.hasChance(0.7) {
			c.has.made++
			c.has.idToken = &core.Proof{Issuer: issuer, Client: client, Subject: user, Name: user,
				ID: fmt.Sprint("id", c.has.made), Expires: w.now.Add(20)}
		}
		c.askWith(signIn{proof: c.has.idToken}, &gdi.LogIn{Digest: digest[:]}, id)
	default:
		one := c.has.tokens[w.rand.IntN(len(c.has.tokens))]
		by := signIn{user: one.user}
		if w.hasChance(0.5) {
			by = one
		}
		c.askWith(by, &gdi.RevokeTokens{IDs: []uint32{one.token}}, id)
	}
}

// noteToken takes the answer to a request that makes a token.
func (c *clients) noteToken(r *gdi.Reply) {
	w := c.world
	if len(r.Answers) > 0 && r.Answers[0].Status == gdi.StatusToken {
		w.expelled++
	}
	if r.Token == 0 {
		return
	}
	owner := w.owners[r.Token]
	if owner == "" {
		w.fail("token %d is acknowledged before it is in the log", r.Token)
	}
	if one := (signIn{user: owner, token: r.Token}); !slices.Contains(c.has.tokens, one) {
		c.has.tokens = append(c.has.tokens, one)
	}
}

// judgeTokens holds a list against the tokens of the log before it: whoever changes something with a token is its
// owner, and it was neither revoked nor had it expired. No ID token makes two tokens.
func (w *World) judgeTokens(l events.List) {
	if n := l.Cause.Token; n != 0 {
		w.tokened++
		t := w.valid[n]
		switch {
		case t == nil:
			w.fail("list %d was made with token %d, which does not exist or was revoked", l.Seq, n)
		case t.Expires <= l.At:
			w.fail("list %d was made with token %d, which had expired", l.Seq, n)
		case l.Cause.Who != t.Owner+"@m":
			w.fail("list %d was made by %s with token %d of %s", l.Seq, l.Cause.Who, n, t.Owner)
		case t.Scope == grid.ScopeRead && !slices.ContainsFunc(l.Events, func(e events.Event) bool {
			return e.Kind == grid.KindToken && e.Op == events.OpDel
		}):
			w.fail("list %d was made with token %d, whose scope is read", l.Seq, n)
		case t.Scope == grid.ScopePropose && slices.ContainsFunc(l.Events, func(e events.Event) bool {
			return e.Kind != grid.KindToken && e.Kind != grid.KindProposal
		}):
			w.fail("list %d was made with token %d, whose scope is propose", l.Seq, n)
		}
	}
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.Token:
			w.valid[o.ID], w.owners[o.ID] = o, o.Owner
		case *grid.Login:
			if w.exchanged[o.ID] {
				w.fail("ID token %s was exchanged twice", o.ID)
			}
			w.exchanged[o.ID] = true
			w.logIns++
		}
		if e.Kind == grid.KindToken && e.Op == events.OpDel {
			delete(w.valid, e.Key.ID)
		}
	}
}
