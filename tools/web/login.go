package web

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
	csrfHeader = "Quill-Csrf"
)

// noSession is the problem of a request whose cookie is worth nothing.
func noSession() *huma.ErrorModel {
	return problem.New(http.StatusUnauthorized, problem.TypeToken, "header.Cookie", `the session has ended; "quill web --open" prints the link of another`)
}

// credential is what a request was authenticated by.
type credential struct {
	Account
	token   string
	session *session // nil: the request has the token itself
	// encrypted is whether browsers send their requests over TLS.
	encrypted bool
	release   func()
}

// authenticate returns what a request is authenticated by: a token in the header Authorization, or else the cookie of a session. The error is
// a problem or *limited.
func (s *Server) authenticate(r *http.Request) (*credential, error) {
	return s.authenticateWith(r, r.Header.Get(csrfHeader))
}

// authenticateWith is authenticate with the csrf of a session as it came with the request: in a header, or in a form of the console.
func (s *Server) authenticateWith(r *http.Request, csrf string) (*credential, error) {
	if r.Header.Get("Authorization") == "" {
		if cookie, err := r.Cookie(s.cookieName(s.encrypted(r))); err == nil {
			return s.authenticateSession(r, cookie.Value, csrf)
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
	err := s.tried(r, digestOf(token))
	if err == nil {
		h, err = s.authenticateToken(r, token)
	}
	if errors.Is(err, ErrToken) {
		return nil, problem.NoToken(ErrToken.Error())
	}
	if err != nil {
		return nil, err
	}
	return &credential{Account: h, token: token, release: func() { s.accounts.release(h) }}, nil
}

// authenticateSession returns the credential of a cookie. Browsers send cookies whatever page causes the request, so it has to come from a page of
// this server, and if it may change something it has to show that it could read the session.
func (s *Server) authenticateSession(r *http.Request, cookie, csrf string) (*credential, error) {
	one := s.sessions.find(cookie)
	if one == nil {
		return nil, noSession()
	}
	if from := s.crossSite(r); from != "" {
		return nil, problem.New(http.StatusForbidden, problem.TypeCrossSite, "header."+from, "the cookie of a session is accepted from pages of this server only; other programs send a token")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead &&
		subtle.ConstantTimeCompare([]byte(csrf), []byte(one.csrf)) != 1 {
		return nil, problem.New(http.StatusForbidden, problem.TypeCSRF, "header.Quill-CSRF", `a request with a cookie that changes something needs the header "Quill-CSRF" with the csrf of GET /v1/session`)
	}
	h, err := s.authenticateToken(r, one.token)
	if errors.Is(err, ErrToken) {
		s.sessions.end(func(other *session, _ bool) bool { return other.token == one.token })
		return nil, noSession()
	}
	if err != nil {
		return nil, err
	}
	return &credential{Account: sessionAccount{h, one}, token: one.token, session: one, encrypted: s.encrypted(r), release: func() { s.accounts.release(h) }}, nil
}

// authenticateToken returns the account of a token, to be given back to s.accounts.release. The error is ErrToken or a problem.
func (s *Server) authenticateToken(r *http.Request, token string) (*held, error) {
	d := digestOf(token)
	var h *held
	err := within(r.Context(), openWait, func(ctx context.Context) (err error) {
		h, err = s.accounts.acquire(ctx, token)
		return err
	})
	switch {
	case errors.Is(err, ErrToken):
		s.failed(r, d)
		return nil, err
	case errors.Is(err, errAccounts):
		return nil, problem.New(http.StatusServiceUnavailable, problem.TypeBusy, "", err.Error())
	case err != nil:
		return nil, problem.Unreachable(err)
	}
	at, err := s.mirror.Now()
	if err != nil {
		s.accounts.release(h)
		return nil, problem.NoMirror(err)
	}
	if !h.Valid(at.State, grid.TimeOf(s.options.Now())) && !s.expected(r.Context(), h, at.State.Seq) {
		s.accounts.drop(d, h)
		return nil, ErrToken
	}
	h.valid.Store(true)
	return h, nil
}

// tokenWait is how long a request may wait for the mirror to have a token that the cell has just accepted.
const tokenWait = 2 * time.Second

// expected reports whether a token that was not valid at seq becomes so: it may be newer than the mirror, when the cell has accepted it
// for this request. One that was valid before has been revoked or has expired.
func (s *Server) expected(ctx context.Context, h *held, seq uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	for !h.valid.Load() {
		if !s.mirror.WaitFor(ctx, seq+1, tokenWait) {
			return false
		}
		at, err := s.mirror.Now()
		if err != nil {
			return false
		}
		if seq = at.State.Seq; h.Valid(at.State, grid.TimeOf(s.options.Now())) {
			return true
		}
	}
	return false
}

type credentialKey struct{}

// credentialOf returns what the middleware has authenticated the request by.
func credentialOf(ctx context.Context) *credential { return ctx.Value(credentialKey{}).(*credential) }

// accountOf returns the account of a request.
func accountOf(ctx context.Context) Account { return credentialOf(ctx).Account }

// cookieName is the name of the cookie of sessions. Cookies are common to all ports of an address, so the name has the port; the prefix has
// browsers accept it over TLS and without a domain only.
func (s *Server) cookieName(encrypted bool) string {
	name := "quill-" + s.port()
	if encrypted {
		return "__Host-" + name
	}
	return name
}

// cookie returns the cookie of a session.
func (s *Server) cookie(value string, encrypted bool) http.Cookie {
	return http.Cookie{Name: s.cookieName(encrypted), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: encrypted}
}

// login exchanges the secret of a link for a cookie. A link in another page does not log in: whoever made it would be the user.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.explain(w, r, problem.Unrouted(r, http.StatusMethodNotAllowed))
		return
	}
	if from := s.crossSite(r); from != "" {
		s.explain(w, r, problem.New(http.StatusForbidden, problem.TypeCrossSite, "header."+from, "the link was opened from another page; copy it into the address bar of the browser"))
		return
	}
	d := digestOf(r.PathValue("secret"))
	if limit := (*problem.Limited)(nil); errors.As(s.tried(r, d), &limit) {
		s.explain(w, r, limit)
		return
	}
	secret, ended, ok := s.sessions.exchange(d)
	if !ok {
		s.failed(r, d)
		s.explain(w, r, problem.New(http.StatusUnauthorized, problem.TypeLink, "path.secret", `the link is wrong, was used or is older than a minute; "quill web --open" prints another`))
		return
	}
	s.setSession(w, r, secret, ended)
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// setSession gives a browser the cookie of a new session. The sessions that it takes the place of have ended.
func (s *Server) setSession(w http.ResponseWriter, r *http.Request, secret string, ended []*session) {
	go s.revoke(ended)
	cookie := s.cookie(secret, s.encrypted(r))
	http.SetCookie(w, &cookie)
}
