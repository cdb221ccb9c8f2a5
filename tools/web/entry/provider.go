package entry

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/tools/web/problem"
)

// A browser logs in at the identity provider by an authorization code with PKCE: /login/oidc sends it there, and it
// comes back to /login/oidc/callback. What has to match then is in a sealed cookie, so the server stores nothing
// meanwhile. qmaster decides who the user is, by the ID token.

// LogIn sends a log-in to qmaster. The error is that qmaster cannot be reached.
type LogIn func(context.Context, *gdi.LogIn) (gdi.Reply, error)

const (
	flowLife = 10 * time.Minute // to log in at the provider
	CodeMax  = 4096             // bytes
)

// flow is a log-in that has begun in a browser.
type flow struct {
	State, Nonce, Verifier string
	Until                  time.Time
}

// flows seals and opens flows: with a key that this process has made.
type flows struct {
	now  func() time.Time // both are set by newFlows
	seal cipher.AEAD
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
	if err != nil || json.Unmarshal(text, &one) != nil || f.now().After(one.Until) ||
		subtle.ConstantTimeCompare([]byte(one.State), []byte(state)) != 1 {
		return nil
	}
	return &one
}

// Provider returns the identity provider of the cell; nil: there is none.
func (a *Authenticator) Provider() (*openid.Provider, error) {
	at, err := a.options.Mirror.Now()
	if err != nil {
		return nil, problem.NoMirror(err)
	}
	conf := at.State.Conf(grid.GlobalConf)
	if conf == nil || a.LogIn == nil {
		return nil, nil
	}
	l, _ := conf.Logins()
	if l.Issuer == "" {
		return nil, nil
	}
	return a.Providers.Provider(l.Issuer, l.Client, l.Audience), nil
}

// flowCookie returns the cookie of a flow. It is sent with the request that comes from the page of the provider, so it
// is not strict.
func (a *Authenticator) flowCookie(value string, encrypted bool) *http.Cookie {
	c := a.cookie(value, encrypted)
	c.Name += "-login"
	c.SameSite = http.SameSiteLaxMode
	if c.MaxAge = int(flowLife.Seconds()); value == "" {
		c.MaxAge = -1
	}
	return &c
}

// BeginLogIn returns the address of the identity provider to which a browser is sent, and the cookie of the flow. The
// error is a problem.
func (a *Authenticator) BeginLogIn(r *http.Request) (to string, cookie *http.Cookie, err error) {
	p, err := a.Provider()
	if err == nil && p == nil {
		err = noProvider()
	}
	if err != nil {
		return "", nil, err
	}
	one, sealed := a.flows.begin()
	if to, err = p.CodeURL(r.Context(), a.url+a.options.Callback, one.State, one.Nonce, one.Verifier); err != nil {
		return "", nil, a.notLoggedIn(err)
	}
	return to, a.flowCookie(sealed, a.encrypted(r)), nil
}

// EndedFlow returns the cookie that removes that of the flow.
func (a *Authenticator) EndedFlow(r *http.Request) *http.Cookie {
	return a.flowCookie("", a.encrypted(r))
}

// EndLogIn begins the session of a browser that comes back from the identity provider with a code, and returns its
// cookie. The error is a problem or *problem.Limited.
func (a *Authenticator) EndLogIn(r *http.Request) (*http.Cookie, error) {
	token, user, err := a.logInWithCode(r)
	if err != nil {
		return nil, err
	}
	secret, ended := a.sessions.open(&session{user: user, token: token, revoke: true})
	return a.sessionCookie(r, secret, ended), nil
}

func noProvider() error {
	return problem.New(http.StatusNotFound, problem.TypeUnknown, "",
		`this cell has no identity provider; "quill web --open" prints a link that logs you in`)
}

// notLoggedIn is the problem of a log-in that has failed at the identity provider.
func (a *Authenticator) notLoggedIn(err error) *huma.ErrorModel {
	a.options.Logger.Warn("log-in failed", "error", err)
	return problem.New(http.StatusServiceUnavailable, problem.TypeProvider, "", err.Error())
}

// logInWithCode returns the token and the user of a log-in. The error is a problem or *limited.
func (a *Authenticator) logInWithCode(r *http.Request) (token, user string, err error) {
	p, err := a.Provider()
	if err == nil && p == nil {
		err = noProvider()
	}
	if err != nil {
		return "", "", err
	}
	q := r.URL.Query()
	var one *flow
	if cookie, err := r.Cookie(a.flowCookie("x", a.encrypted(r)).Name); err == nil {
		one = a.flows.find(cookie.Value, q.Get("state"))
	}
	code := q.Get("code")
	switch {
	case one == nil:
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.state",
			"the log-in was not begun in this browser, or more than 10 minutes ago; begin again at "+a.url+a.options.LogInPage)
	case q.Get("error") == "access_denied":
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.error",
			"the identity provider has denied the log-in")
	case q.Has("error"):
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.error",
			"the identity provider has not logged you in: "+grid.Printable(q.Get("error")))
	case code == "" || len(code) > CodeMax:
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.code",
			"the identity provider has sent no code")
	}
	d := digestOf(code)
	if why := a.checkTried(r, d); errors.Is(why, ErrToken) {
		return "", "", problem.New(http.StatusForbidden, problem.TypeLogIn, "query.code",
			"the code was refused before; begin again at "+a.url+a.options.LogInPage)
	} else if why != nil {
		return "", "", why
	}
	idToken, err := p.Exchange(r.Context(), a.url+a.options.Callback, a.options.ClientSecret, code, one.Verifier)
	if err != nil {
		a.countFailure(r, d)
		return "", "", a.notLoggedIn(err)
	}
	return a.exchangeIDToken(r, d, &gdi.LogIn{IDToken: idToken, Nonce: one.Nonce, Comment: "session of quill web"})
}

// exchangeIDToken has qmaster make the token of a session.
func (a *Authenticator) exchangeIDToken(r *http.Request, code digest, in *gdi.LogIn) (token, user string, err error) {
	secret := bus.NewSecret()
	in.Digest = bus.Digest(secret)
	reply, err := a.LogIn(r.Context(), in)
	if err != nil {
		return "", "", problem.Unreachable(err)
	}
	if err := problem.OfReply(reply, problem.Nowhere); err != nil {
		a.countFailure(r, code)
		return "", "", err
	}
	token = bus.TokenText(reply.Token, secret)
	h, err := a.authenticateToken(r, token)
	if errors.Is(err, ErrToken) {
		err = problem.New(http.StatusServiceUnavailable, problem.TypeLag, "",
			"the server has not received the log-in yet; begin again")
	}
	if err != nil {
		return "", "", err
	}
	defer a.accounts.release(h)
	return token, h.User(), nil
}
