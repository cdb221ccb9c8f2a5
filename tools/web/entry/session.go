package entry

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

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/problem"
)

// A session is the log-in of a browser. It acts with a token of its user, which was sent once to POST /v1/session; the
// browser has the secret of a link, which it exchanges for that of a cookie. session_file.go has them outlive a
// restart.

// Bounds of sessions.
const (
	linkLife       = time.Minute    // to open a link
	sessionIdle    = 12 * time.Hour // without a request
	LinksOfUser    = 10
	SessionsOfUser = 20               // one more ends the one that was not used for the longest time
	revokeWait     = 30 * time.Second // to revoke the tokens of sessions that have ended
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

// session is the log-in of a browser, before its link is opened or after it. Only sessions writes it, when it begins
// and when it is used; over, which is set when it ends, stays set.
type session struct {
	user   string
	token  string // what it acts with; "": only sealed is known until its cookie is presented
	sealed []byte // token, sealed with the cookie; set when it begins
	revoke bool   // the token was made for it
	csrf   string // what a request that changes something has to present
	used   time.Time
	over   atomic.Bool
}

// sessions are those that were not ended: each is in one of the two maps, by the digest of its secret.
type sessions struct {
	now func() time.Time

	mu     sync.Mutex
	links  map[digest]*session // whose link was not opened yet
	opened map[digest]*session // by the cookie
	file   sessionFile
}

func newSessions(now func() time.Time) sessions {
	return sessions{now: now, links: map[digest]*session{}, opened: map[digest]*session{}}
}

// add stores a session, and returns the secret of its link. The sessions that it takes the place of are ended.
func (s *sessions) add(one *session) (secret string, ended []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.used = s.now()
	ended = one.displace(s.links, LinksOfUser)
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
	cookie = newSecret()
	one.used, one.csrf, one.sealed = s.now(), csrfOf(cookie), newSealer(cookie).Seal(nil, nil, []byte(one.token), nil)
	ended = one.displace(s.opened, SessionsOfUser)
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
	if one == nil || s.now().Sub(one.used) > sessionIdle || !one.unseal(cookie) {
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
			if is(one, one.sealed != nil) {
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

// errNoSession is the detail of requests to a session without one.
var errNoSession = errors.New("the request was made with a token, without a session")

// LogOut ends the session of a request, and returns the cookie that removes its own. The error is a problem.
func (a *Authenticator) LogOut(ctx context.Context, c *Credential) (http.Cookie, error) {
	one, cookie := c.session, a.cookie("", c.encrypted)
	cookie.MaxAge = -1
	if one == nil {
		return cookie, problem.New(http.StatusNotFound, problem.TypeUnknown, "header.Cookie", errNoSession.Error())
	}
	a.sessions.end(func(other *session, _ bool) bool { return other == one })
	a.storeSessions()
	if one.revoke {
		if err := c.Revoke(ctx); err != nil {
			return cookie, problem.Unreachable(err)
		}
		a.accounts.forget(digestOf(one.token))
	}
	return cookie, nil
}

// revoke revokes the tokens that were made for sessions that have ended. One that cannot be revoked now ends with its
// expiry.
func (a *Authenticator) revoke(ended []*session) {
	ctx, cancel := context.WithTimeout(context.Background(), revokeWait)
	defer cancel()
	for _, one := range ended {
		if !one.revoke || one.token == "" {
			continue
		}
		h, err := a.accounts.acquire(ctx, one.token)
		if err == nil {
			if err = h.Revoke(ctx); err == nil {
				a.accounts.forget(digestOf(one.token))
			}
			a.accounts.release(h)
		}
		if err != nil && !errors.Is(err, ErrToken) {
			a.options.Logger.Warn("cannot revoke the token of a session that has ended", "user", one.user, "error", err)
		}
	}
}
