package core

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// subjectMax is how long a subject may be, OpenID Connect Core 1.0, section 2.
const subjectMax = 255

func waysOf(l grid.Logins) gdi.Ways {
	return gdi.Ways{Issuer: l.Issuer, Client: l.Client, Cert: l.Cert, Scope: l.Scope, Seconds: l.Seconds}
}

// logIn makes a token of the user that a proof names, or answers with the one that a repeated request has made.
func (c *Core) logIn(in UserRequest, b *gdi.LogIn) {
	l, p := c.cell.Settings().Logins, in.Proof
	if p == nil {
		c.reply(in.Ref, gdi.RefuseLogIn(gdi.ReasonNone, "this cell has no identity provider"))
		return
	}
	user, refusal := c.loggedIn(l, p)
	if refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	if old := c.state.Login(p.ID); old != nil {
		if t := c.state.Token(old.Token); t != nil && bytes.Equal(t.Digest, b.Digest) {
			c.answerCreated(in.Ref, t)
		} else {
			c.reply(in.Ref, gdi.RefuseLogIn(gdi.ReasonReplayed, "the ID token was used before; log in again"))
		}
		return
	}
	c.setCause(user+"@"+in.Host, b.Verb(), p.Subject+"@"+p.Issuer)
	if t := c.issue(in, user, &gdi.CreateToken{Scope: l.Scope, Seconds: l.Seconds, Comment: b.Comment,
		Digest: b.Digest}); t != nil {
		c.emit(events.Add(&grid.Login{ID: p.ID, Token: t.ID, Expires: p.Expires}))
	}
}

// loggedIn returns the user that a proof names, or the refusal.
func (s *step) loggedIn(l grid.Logins, p *Proof) (user string, refusal *gdi.Answer) {
	refuseProof := func(why gdi.Reason, format string, args ...any) (string, *gdi.Answer) {
		a := gdi.RefuseLogIn(why, fmt.Sprintf(format, args...))
		return "", &a
	}
	user, named := grid.MappedUser(l.Users, p.Name)
	switch {
	case p.Issuer != l.Issuer || p.Client != l.Client:
		return refuseProof(gdi.ReasonIssuer, "the identity provider of the cell was changed meanwhile; log in again")
	case p.Expires <= s.cell.Now:
		return refuseProof(gdi.ReasonExpired, "the ID token expired at %s", gdi.MomentText(p.Expires))
	case p.Subject == "" || len(p.Subject) > subjectMax || !grid.PrintableASCII(p.Subject) ||
		strings.ContainsAny(p.Subject, "\n\t"):
		return refuseProof(gdi.ReasonFormat, "the ID token has no subject of at most %d printable characters", subjectMax)
	case p.Name == "":
		return refuseProof(gdi.ReasonClaim, "the ID token does not have the claim %q as a text", l.Claim)
	case !named:
		return refuseProof(gdi.ReasonUser, "%s is %q, which names no user by the pattern %q", l.Claim,
			shortened(p.Name), l.Users)
	case !l.Admits(user, s.state.IsOperator(user)):
		return refuseProof(gdi.ReasonPrivileged, "%q is root, a manager or an operator, and not in LOGIN_PRIVILEGED", user)
	}
	return user, nil
}

// shortened is the printable beginning of a text that a provider has chosen.
func shortened(text string) string {
	const most = 64
	return grid.Printable(text[:min(len(text), most)])
}
