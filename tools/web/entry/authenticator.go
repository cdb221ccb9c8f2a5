package entry

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// Options are what an Authenticator is made with.
type Options struct {
	Mirror   *mirror.Mirror // has the tokens and the cell's identity provider
	Accounts Accounts
	LogIn    LogIn // nil: the identity provider of the cell is not used
	// ClientSecret is that of the cell at its identity provider; "": it has none.
	ClientSecret string
	LogInPage    string // path of the page on which log-ins begin, for messages
	Callback     string // path to which the identity provider sends browsers
	Logger       hclog.Logger
	Now          func() time.Time
}

// Authenticator finds out who sends a request: the owner of a token, or of a session of a browser.
type Authenticator struct {
	options     Options // set by NewAuthenticator
	url, public string  // set by SetAddress, before there are requests
	// AnswerWait is how long qmaster may take to answer a request, over connections that are opened later.
	AnswerWait time.Duration
	// LogIn is that of the options; nil: the identity provider of the cell is not used.
	LogIn LogIn
	// Providers keeps what the identity provider says of itself.
	Providers openid.Cache
	accounts  accounts // opened and closed by authenticateToken, logOut and revoke
	sessions  sessions // begun by log-ins and links; one that has ended is found by no request
	flows     flows
	wrongs    wrongs // counted by countFailure
}

// New returns one without sessions.
func New(o Options) *Authenticator {
	a := &Authenticator{options: o, LogIn: o.LogIn, AnswerWait: answerWaitUsual,
		sessions: newSessions(o.Now), flows: newFlows(o.Now)}
	open := func(ctx context.Context, token string) (Account, error) {
		account, err := o.Accounts(ctx, token)
		return timely{account, a.AnswerWait}, err
	}
	a.accounts = accounts{open: open, kept: map[digest]*held{}}
	return a
}

// SetAddress sets the address under which browsers find the server, and the one of --public-url; "": there is none.
func (a *Authenticator) SetAddress(url, public string) { a.url, a.public = url, public }

// URL is the address under which browsers find the server.
func (a *Authenticator) URL() string { return a.url }

// Sweep ends sessions that are too old, and forgets wrong tokens of clients after a while.
func (a *Authenticator) Sweep() {
	a.revoke(a.sessions.sweep())
	a.storeSessions() // also when they were used
	a.wrongs.sweep(a.options.Now())
}

// ForgetFailures forgets the wrong tokens of all clients.
func (a *Authenticator) ForgetFailures() { a.wrongs.forgetAll() }

// Close closes the connections of users, and stores the sessions.
func (a *Authenticator) Close() {
	a.storeSessions()
	a.accounts.close()
}

// NewLink makes a session of the user of a request that is opened with a link, and returns the secret of the link and
// when it ends. With revoke the token was made for the session.
func (a *Authenticator) NewLink(c *Credential, revoke bool) (secret string, expires time.Time) {
	one := &session{user: c.User(), token: c.token, revoke: revoke}
	secret, ended := a.sessions.add(one)
	go a.revoke(ended)
	return secret, one.used.Add(linkLife).UTC()
}

// SessionUser returns the user of the session of a request; ok is false when it has none.
func (a *Authenticator) SessionUser(r *http.Request) (user string, ok bool) {
	cookie, err := r.Cookie(a.cookieName(a.encrypted(r)))
	if err != nil {
		return "", false
	}
	one := a.sessions.find(cookie.Value)
	if one == nil {
		return "", false
	}
	return one.user, true
}

// HasCookie reports whether a request has the cookie of a session, that of one that has ended included.
func (a *Authenticator) HasCookie(r *http.Request) bool {
	_, err := r.Cookie(a.cookieName(a.encrypted(r)))
	return err == nil
}
