package entry

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/problem"
)

const (
	tokenMax   = 4096 // bytes
	CSRFHeader = "Quill-Csrf"
)

// noSession is the problem of a request whose cookie is worth nothing.
func noSession() *huma.ErrorModel {
	return problem.New(http.StatusUnauthorized, problem.TypeToken, "header.Cookie",
		`the session has ended; "quill web --open" prints the link of another`)
}

// Credential is what a request was authenticated by.
type Credential struct {
	Account
	token   string
	session *session // nil: the request has the token itself
	// encrypted is whether browsers send their requests over TLS.
	encrypted bool
	Release   func() // to be called when the request has ended
}

// Authenticate returns what a request is authenticated by: a token in the header Authorization, or else the cookie of a
// session. The error is a problem or *limited.
func (a *Authenticator) Authenticate(r *http.Request) (*Credential, error) {
	return a.AuthenticateForm(r, r.Header.Get(CSRFHeader))
}

// AuthenticateForm is Authenticate with the csrf of a session as it came with the request: in a header, or in a form of
// the console.
func (a *Authenticator) AuthenticateForm(r *http.Request, csrf string) (*Credential, error) {
	if r.Header.Get("Authorization") == "" {
		if cookie, err := r.Cookie(a.cookieName(a.encrypted(r))); err == nil {
			return a.authenticateSession(r, cookie.Value, csrf)
		}
		return nil, problem.NoToken("the request has no token")
	}
	if len(r.Header["Authorization"]) > 1 {
		return nil, problem.NoToken("the request has more than one header Authorization")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > tokenMax {
		return nil, problem.NoToken("the header Authorization is not Bearer TOKEN")
	}
	var h *held
	err := a.checkTried(r, digestOf(token))
	if err == nil {
		h, err = a.authenticateToken(r, token)
	}
	if errors.Is(err, ErrToken) {
		return nil, problem.NoToken(ErrToken.Error())
	}
	if err != nil {
		return nil, err
	}
	return &Credential{Account: h, token: token, Release: func() { a.accounts.release(h) }}, nil
}

// authenticateSession returns the credential of a cookie. Browsers send cookies whatever page causes the request, so it
// has to come from a page of this server, and if it may change something it has to show that it could read the session.
func (a *Authenticator) authenticateSession(r *http.Request, cookie, csrf string) (*Credential, error) {
	one := a.sessions.find(cookie)
	if one == nil {
		return nil, noSession()
	}
	if from := a.crossSite(r); from != "" {
		return nil, problem.New(http.StatusForbidden, problem.TypeCrossSite, "header."+from,
			"the cookie of a session is accepted from pages of this server only; other programs send a token")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead &&
		subtle.ConstantTimeCompare([]byte(csrf), []byte(one.csrf)) != 1 {
		return nil, problem.New(http.StatusForbidden, problem.TypeCSRF, "header.Quill-CSRF",
			`a request with a cookie that changes something needs the header "Quill-CSRF" with the csrf of GET /v1/session`)
	}
	h, err := a.authenticateToken(r, one.token)
	if errors.Is(err, ErrToken) {
		a.sessions.end(func(other *session, _ bool) bool { return other.token == one.token })
		a.storeSessions()
		return nil, noSession()
	}
	if err != nil {
		return nil, err
	}
	return &Credential{Account: sessionAccount{h, one}, token: one.token, session: one, encrypted: a.encrypted(r),
		Release: func() { a.accounts.release(h) }}, nil
}

// authenticateToken returns the account of a token, to be given back to s.accounts.release. The error is ErrToken or a
// problem.
func (a *Authenticator) authenticateToken(r *http.Request, token string) (*held, error) {
	d := digestOf(token)
	var h *held
	err := within(r.Context(), OpenWait, func(ctx context.Context) (err error) {
		h, err = a.accounts.acquire(ctx, token)
		return err
	})
	switch {
	case errors.Is(err, ErrToken):
		a.countFailure(r, d)
		return nil, err
	case errors.Is(err, errAccounts):
		return nil, problem.New(http.StatusServiceUnavailable, problem.TypeBusy, "", err.Error())
	case err != nil:
		return nil, problem.Unreachable(err)
	}
	at, err := a.options.Mirror.Now()
	if err != nil {
		a.accounts.release(h)
		return nil, problem.NoMirror(err)
	}
	if !h.Valid(at.State, grid.TimeOf(a.options.Now())) && !a.becomesValid(r.Context(), h, at.State.Seq) {
		a.accounts.drop(d, h)
		return nil, ErrToken
	}
	h.valid.Store(true)
	return h, nil
}

// tokenWait is how long a request may wait for the mirror to have a token that the cell has just accepted.
const tokenWait = 2 * time.Second

// becomesValid reports whether a token that was not valid at seq becomes so: it may be newer than the mirror, when the
// cell has accepted it for this request. One that was valid before has been revoked or has expired.
func (a *Authenticator) becomesValid(ctx context.Context, h *held, seq uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	for !h.valid.Load() {
		if !a.options.Mirror.WaitFor(ctx, seq+1, tokenWait) {
			return false
		}
		at, err := a.options.Mirror.Now()
		if err != nil {
			return false
		}
		if seq = at.State.Seq; h.Valid(at.State, grid.TimeOf(a.options.Now())) {
			return true
		}
	}
	return false
}

// CSRF is what a request of the session that changes something has to present; "" without a session.
func (c *Credential) CSRF() string {
	if c.session == nil {
		return ""
	}
	return c.session.csrf
}

type credentialKey struct{}

// WithCredential returns a context of a request that was authenticated; nil: of what the server does for itself.
func WithCredential(ctx context.Context, c *Credential) context.Context {
	return context.WithValue(ctx, credentialKey{}, c)
}

// CredentialOf returns what a request was authenticated by, nil if it was not.
func CredentialOf(ctx context.Context) *Credential {
	c, _ := ctx.Value(credentialKey{}).(*Credential)
	return c
}

// AccountOf returns the account of a request.
func AccountOf(ctx context.Context) Account { return CredentialOf(ctx).Account }

// cookieName is the name of the cookie of sessions. Cookies are common to all ports of an address, so the name has the
// port; the prefix has browsers accept it over TLS and without a domain only.
func (a *Authenticator) cookieName(encrypted bool) string {
	name := "quill-" + a.port()
	if encrypted {
		return "__Host-" + name
	}
	return name
}

// cookie returns the cookie of a session.
func (a *Authenticator) cookie(value string, encrypted bool) http.Cookie {
	return http.Cookie{Name: a.cookieName(encrypted), Value: value, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: encrypted}
}

// ExchangeLink returns the cookie of a session for the secret of its link, once. A link in another page does not log
// in: a stranger's link would log the reader in as the stranger. The error is a problem or *problem.Limited.
func (a *Authenticator) ExchangeLink(r *http.Request, secret string) (*http.Cookie, error) {
	if from := a.crossSite(r); from != "" {
		return nil, problem.New(http.StatusForbidden, problem.TypeCrossSite, "header."+from,
			"the link was opened from another page; copy it into the address bar of the browser")
	}
	d := digestOf(secret)
	if limit := (*problem.Limited)(nil); errors.As(a.checkTried(r, d), &limit) {
		return nil, limit
	}
	secret, ended, ok := a.sessions.exchange(d)
	if !ok {
		a.countFailure(r, d)
		return nil, problem.New(http.StatusUnauthorized, problem.TypeLink, "path.secret",
			`the link is wrong, was used or is older than a minute; "quill web --open" prints another`)
	}
	return a.sessionCookie(r, secret, ended), nil
}

// sessionCookie returns the cookie of a new session. The sessions that it takes the place of have ended.
func (a *Authenticator) sessionCookie(r *http.Request, secret string, ended []*session) *http.Cookie {
	a.storeSessions()
	go a.revoke(ended)
	cookie := a.cookie(secret, a.encrypted(r))
	return &cookie
}
