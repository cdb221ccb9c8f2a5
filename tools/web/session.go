package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/problem"
)

// A session is the log-in of a browser. It acts with a token of its user, which was sent once to POST /v1/session; the browser has the
// secret of a link, which it exchanges for that of a cookie. Sessions are in memory only.

// Bounds of sessions.
const (
	linkLife       = time.Minute    // to open a link
	sessionIdle    = 12 * time.Hour // without a request
	linksOfUser    = 10
	sessionsOfUser = 20 // one more ends the one that was not used for the longest time
	sweepEvery     = 30 * time.Second
	unusedWait     = 5 * time.Minute // for which a moment of the past is kept that is not asked for
)

// digest is how a secret is found: the secrets themselves are not stored.
type digest = [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// newSecret returns 256 random bits as text.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// session is the log-in of a browser, before its link is opened or after it.
type session struct {
	user   string
	token  string // what it acts with
	revoke bool   // the token was made for it
	csrf   string // what a request that changes something has to present
	used   time.Time
	over   atomic.Bool
}

// sessions are those that were not ended.
type sessions struct {
	now func() time.Time

	mu     sync.Mutex
	links  map[digest]*session // whose link was not opened yet
	opened map[digest]*session // by the cookie
}

func newSessions(now func() time.Time) sessions {
	return sessions{now: now, links: map[digest]*session{}, opened: map[digest]*session{}}
}

// add stores a session, and returns the secret of its link. The sessions that it takes the place of are ended.
func (s *sessions) add(one *session) (secret string, ended []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.used = s.now()
	ended = one.displace(s.links, linksOfUser)
	secret = newSecret()
	s.links[digestOf(secret)] = one
	return secret, ended
}

// exchange returns the secret of a cookie for that of a link, once; ok is false when there is no such link.
func (s *sessions) exchange(link digest) (cookie string, ended []*session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.links[link]
	if one == nil || s.now().Sub(one.used) > linkLife {
		return "", nil, false
	}
	delete(s.links, link)
	cookie, ended = s.begin(one)
	return cookie, ended, true
}

// open begins a session without a link, and returns the secret of its cookie.
func (s *sessions) open(one *session) (cookie string, ended []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(one)
}

// begin begins a session. It is called with mu held.
func (s *sessions) begin(one *session) (cookie string, ended []*session) {
	one.used, one.csrf = s.now(), newSecret()
	ended = one.displace(s.opened, sessionsOfUser)
	cookie = newSecret()
	s.opened[digestOf(cookie)] = one
	return cookie, ended
}

// displace ends the oldest sessions of the user of one if there are as many as there may be.
func (one *session) displace(kept map[digest]*session, most int) (ended []*session) {
	for {
		var oldest digest
		of := 0
		for d, other := range kept {
			if other.user != one.user {
				continue
			}
			if of++; of == 1 || other.used.Before(kept[oldest].used) {
				oldest = d
			}
		}
		if of < most {
			return ended
		}
		kept[oldest].over.Store(true)
		ended = append(ended, kept[oldest])
		delete(kept, oldest)
	}
}

// find returns the session of a cookie; nil: there is none.
func (s *sessions) find(cookie string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.opened[digestOf(cookie)]
	if one == nil || s.now().Sub(one.used) > sessionIdle {
		return nil
	}
	one.used = s.now()
	return one
}

// end ends sessions: those of a condition.
func (s *sessions) end(is func(one *session, opened bool) bool) (ended []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kept := range []map[digest]*session{s.links, s.opened} {
		for d, one := range kept {
			if is(one, one.csrf != "") {
				one.over.Store(true)
				delete(kept, d)
				ended = append(ended, one)
			}
		}
	}
	return ended
}

// sweep ends the sessions whose link was not opened in time, and those that were not used.
func (s *sessions) sweep() []*session {
	now := s.now()
	return s.end(func(one *session, opened bool) bool {
		if !opened {
			return now.Sub(one.used) > linkLife
		}
		return now.Sub(one.used) > sessionIdle
	})
}

// sessionAccount is the account of a session: it ends with the session.
type sessionAccount struct {
	Account
	session *session
}

func (a sessionAccount) Valid(s *state.State, now grid.Time) bool {
	return !a.session.over.Load() && a.Account.Valid(s, now)
}

// Session is a log-in as its user sees it.
type Session struct {
	User string `json:"user" doc:"who is logged in"`
	CSRF string `json:"csrf,omitempty" doc:"what a request with the cookie that changes something has to have in the header Quill-CSRF; absent for a request with a token"`
}

// Link opens a session.
type Link struct {
	Link    string    `json:"link" doc:"to be opened in a browser: works once"`
	Expires time.Time `json:"expires" doc:"when it stops working"`
}

// errNoSession is the detail of requests to a session without one.
var errNoSession = errors.New("the request was made with a token, without a session")

func (s *Server) registerSession() {
	get := operation(http.MethodGet, "/v1/session", "get-session", "session", "Who is logged in")
	huma.Register(s.api, get, func(ctx context.Context, _ *struct{}) (*struct{ Body Session }, error) {
		c := credentialOf(ctx)
		out := &struct{ Body Session }{Session{User: c.User()}}
		if c.session != nil {
			out.Body.CSRF = c.session.csrf
		}
		return out, nil
	})
	create := operation(http.MethodPost, "/v1/session", "create-session", "session", "Make a link that logs a browser in, with the token of the request")
	create.DefaultStatus = http.StatusCreated
	huma.Register(s.api, create, func(ctx context.Context, in *struct {
		Body struct {
			Revoke bool `json:"revoke,omitempty" doc:"the token was made for this session: it is revoked when the session ends"`
		}
	},
	) (*struct{ Body Link }, error) {
		c := credentialOf(ctx)
		one := &session{user: c.User(), token: c.token, revoke: in.Body.Revoke}
		secret, ended := s.sessions.add(one)
		go s.revoke(ended)
		return &struct{ Body Link }{Link{Link: s.url + "/login/" + secret, Expires: one.used.Add(linkLife).UTC()}}, nil
	})
	end := operation(http.MethodDelete, "/v1/session", "end-session", "session", "Log out")
	end.DefaultStatus = http.StatusNoContent
	huma.Register(s.api, end, func(ctx context.Context, _ *struct{}) (*struct {
		Cookie http.Cookie `header:"Set-Cookie"`
	}, error,
	) {
		cookie, err := s.logOut(ctx, credentialOf(ctx))
		return &struct {
			Cookie http.Cookie `header:"Set-Cookie"`
		}{cookie}, err
	})
}

// logOut ends the session of a request, and returns the cookie that removes its own. The error is a problem.
func (s *Server) logOut(ctx context.Context, c *credential) (http.Cookie, error) {
	one, cookie := c.session, s.cookie("", c.encrypted)
	cookie.MaxAge = -1
	if one == nil {
		return cookie, problem.New(http.StatusNotFound, problem.TypeUnknown, "header.Cookie", errNoSession.Error())
	}
	s.sessions.end(func(other *session, _ bool) bool { return other == one })
	if one.revoke {
		if err := c.Revoke(ctx); err != nil {
			return cookie, problem.Unreachable(err)
		}
		s.accounts.forget(digestOf(one.token))
	}
	return cookie, nil
}

// revoke revokes the tokens that were made for sessions that have ended. One that cannot be revoked now ends with its expiry.
func (s *Server) revoke(ended []*session) {
	ctx, cancel := context.WithTimeout(context.Background(), requestWait)
	defer cancel()
	for _, one := range ended {
		if !one.revoke {
			continue
		}
		h, err := s.accounts.acquire(ctx, one.token)
		if err == nil {
			if err = h.Revoke(ctx); err == nil {
				s.accounts.forget(digestOf(one.token))
			}
			s.accounts.release(h)
		}
		if err != nil && !errors.Is(err, ErrToken) {
			s.options.Logger.Warn("cannot revoke the token of a session that has ended", "user", one.user, "error", err)
		}
	}
}

// sweep ends sessions that are too old until ctx ends.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.revoke(s.sessions.sweep())
			s.wrongs.sweep(s.options.Now())
			s.mirror.Moments.Sweep(unusedWait)
		}
	}
}
