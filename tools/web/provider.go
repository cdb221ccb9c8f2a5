package web

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/tools/web/problem"
)

// A browser logs in at the identity provider by an authorization code with PKCE: /login/oidc sends it there, and it comes back to
// /login/oidc/callback. What has to match then is in a sealed cookie, so the server stores nothing meanwhile. qmaster decides
// who the user is, by the ID token.

// LogIn sends a log-in to qmaster. The error is that qmaster cannot be reached.
type LogIn func(context.Context, *gdi.LogIn) (gdi.Reply, error)

const (
	callbackPath = "/login/oidc/callback"
	flowLife     = 10 * time.Minute // to log in at the provider
	codeMax      = 4096             // bytes
)

// flow is a log-in that has begun in a browser.
type flow struct {
	State, Nonce, Verifier string
	Until                  time.Time
}

// flows seals and opens flows: with a key that this process has made.
type flows struct {
	now       func() time.Time
	seal      cipher.AEAD
	providers openid.Cache
}

func newFlows(now func() time.Time) flows {
	var key [32]byte
	rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return flows{now: now, seal: seal}
}

// begin returns a new flow, and the value of its cookie.
func (f *flows) begin() (*flow, string) {
	one := &flow{newSecret(), newSecret(), openid.NewVerifier(), f.now().Add(flowLife)}
	text, err := json.Marshal(one)
	if err != nil {
		panic(err)
	}
	return one, base64.RawURLEncoding.EncodeToString(f.seal.Seal(nil, nil, text, nil))
}

// find returns the flow of a cookie and a state; nil: there is none.
func (f *flows) find(cookie, state string) *flow {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return nil
	}
	text, err := f.seal.Open(nil, nil, sealed, nil)
	var one flow
	if err != nil || json.Unmarshal(text, &one) != nil || f.now().After(one.Until) || subtle.ConstantTimeCompare([]byte(one.State), []byte(state)) != 1 {
		return nil
	}
	return &one
}

// provider returns the identity provider of the cell; nil: there is none.
func (s *Server) provider() (*openid.Provider, error) {
	at, err := s.mirror.Now()
	if err != nil {
		return nil, problem.NoMirror(err)
	}
	conf := at.State.Conf(grid.GlobalConf)
	if conf == nil || s.options.LogIn == nil {
		return nil, nil
	}
	l, _ := conf.Logins()
	if l.Issuer == "" {
		return nil, nil
	}
	return s.flows.providers.Provider(l.Issuer, l.Client, l.Audience), nil
}

var loginPages = template.Must(template.ParseFS(files, "page/login.html", "page/entered.html"))

// page sends one of the pages of a log-in.
func (s *Server) page(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pageSecurity)
	if err := loginPages.ExecuteTemplate(w, name, data); err != nil {
		s.options.Logger.Debug("page was not sent", "error", err)
	}
}

// loginPage shows the ways to log in.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	p, err := s.provider()
	if err != nil {
		s.explain(w, r, err)
		return
	}
	page := struct{ Cell, Provider string }{Cell: s.options.Cell}
	if p != nil {
		page.Provider = p.Issuer
		if u, err := url.Parse(p.Issuer); err == nil {
			page.Provider = u.Host
		}
	}
	s.page(w, "login.html", page)
}

// flowCookie returns the cookie of a flow. It is sent with the request that comes from the page of the provider, so it is not strict.
func (s *Server) flowCookie(value string, encrypted bool) *http.Cookie {
	c := s.cookie(value, encrypted)
	c.Name += "-login"
	c.SameSite = http.SameSiteLaxMode
	if c.MaxAge = int(flowLife.Seconds()); value == "" {
		c.MaxAge = -1
	}
	return &c
}

// beginLogIn sends a browser to the identity provider.
func (s *Server) beginLogIn(w http.ResponseWriter, r *http.Request) {
	p, err := s.provider()
	if err == nil && p == nil {
		err = noProvider()
	}
	if err != nil {
		s.explain(w, r, err)
		return
	}
	one, cookie := s.flows.begin()
	to, err := p.CodeURL(r.Context(), s.url+callbackPath, one.State, one.Nonce, one.Verifier)
	if err != nil {
		s.explain(w, r, s.notLoggedIn(err))
		return
	}
	http.SetCookie(w, s.flowCookie(cookie, s.encrypted(r)))
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

func noProvider() error {
	return problem.New(http.StatusNotFound, problem.TypeUnknown, "", `this cell has no identity provider; "quill web --open" prints a link that logs you in`)
}

// notLoggedIn is the problem of a log-in that has failed at the identity provider.
func (s *Server) notLoggedIn(err error) *huma.ErrorModel {
	s.options.Logger.Warn("log-in failed", "error", err)
	return problem.New(http.StatusServiceUnavailable, problem.TypeProvider, "", err.Error())
}

// endLogIn takes a browser that comes back from the identity provider with a code. A redirection would be part of the navigation that a page of the
// provider has begun: browsers send no strict cookies with it, and a Sec-Fetch-Site for which the session is refused. So a page of this server leads on.
func (s *Server) endLogIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.flowCookie("", s.encrypted(r))) // whatever comes of it
	token, user, err := s.logInWithCode(r)
	if err != nil {
		s.explain(w, r, err)
		return
	}
	secret, ended := s.sessions.open(&session{user: user, token: token, revoke: true})
	s.setSession(w, r, secret, ended)
	s.page(w, "entered.html", s.options.Cell)
}

// logInWithCode returns the token and the user of a log-in. The error is a problem or *limited.
func (s *Server) logInWithCode(r *http.Request) (token, user string, err error) {
	p, err := s.provider()
	if err == nil && p == nil {
		err = noProvider()
	}
	if err != nil {
		return "", "", err
	}
	q := r.URL.Query()
	var one *flow
	if cookie, err := r.Cookie(s.flowCookie("x", s.encrypted(r)).Name); err == nil {
		one = s.flows.find(cookie.Value, q.Get("state"))
	}
	code := q.Get("code")
	switch {
	case one == nil:
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.state", "the log-in was not begun in this browser, or more than 10 minutes ago; begin again at "+s.url+"/login")
	case q.Get("error") == "access_denied":
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.error", "the identity provider has denied the log-in")
	case q.Has("error"):
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.error", "the identity provider has not logged you in: "+grid.Printable(q.Get("error")))
	case code == "" || len(code) > codeMax:
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.code", "the identity provider has sent no code")
	}
	d := digestOf(code)
	if why := s.tried(r, d); errors.Is(why, ErrToken) {
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.code", "the code was refused before; begin again at "+s.url+"/login")
	} else if why != nil {
		return "", "", why
	}
	idToken, err := p.Exchange(r.Context(), s.url+callbackPath, s.options.ClientSecret, code, one.Verifier)
	if err != nil {
		s.failed(r, d)
		return "", "", s.notLoggedIn(err)
	}
	return s.exchangeIDToken(r, d, &gdi.LogIn{IDToken: idToken, Nonce: one.Nonce, Comment: "session of quill web"})
}

// exchangeIDToken has qmaster make the token of a session.
func (s *Server) exchangeIDToken(r *http.Request, code digest, in *gdi.LogIn) (token, user string, err error) {
	secret := bus.NewSecret()
	in.Digest = bus.Digest(secret)
	reply, err := s.options.LogIn(r.Context(), in)
	if err != nil {
		return "", "", problem.Unreachable(err)
	}
	if err := problem.OfReply(reply, problem.Nowhere); err != nil {
		s.failed(r, code)
		return "", "", err
	}
	token = bus.TokenText(reply.Token, secret)
	h, err := s.authenticateToken(r, token)
	if errors.Is(err, ErrToken) {
		err = problem.New(http.StatusServiceUnavailable, problem.TypeLag, "", "the server has not received the log-in yet; begin again")
	}
	if err != nil {
		return "", "", err
	}
	defer s.accounts.release(h)
	return token, h.User(), nil
}
