package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Account is a connection to the cell that acts as the owner of a token: qmaster decides what it may do.
type Account interface {
	// User is the owner, as the server authenticated it.
	User() string
	// Valid reports whether the token is still accepted, by what the mirror knows at a time.
	Valid(*state.State, grid.Time) bool
	// Do sends a request. id is the request number: with one that was used before nothing is done again; empty: a new one.
	Do(ctx context.Context, id, command string, body gdi.Body) (gdi.Reply, error)
	Close() error
}

// Accounts opens the cell as the owner of a token. The error is ErrToken when the token is not valid, else qmaster cannot be reached.
type Accounts func(ctx context.Context, token string) (Account, error)

// ErrToken means that a token is unknown, revoked or expired.
var ErrToken = errors.New("the token is unknown, revoked or expired")

// challenge is the header WWW-Authenticate.
const challenge = `Bearer realm="quill"`

// How many connections of users are kept, and how long without a request.
const (
	accountsMax  = 1000
	accountsIdle = 5 * time.Minute
	tokenMax     = 4096 // bytes
)

// accounts keeps the connections of users between their requests. Tokens themselves are not stored.
type accounts struct {
	open Accounts

	mu   sync.Mutex
	kept map[[sha256.Size]byte]*held
}

// held is an account with the requests that use it.
type held struct {
	ready chan struct{} // closed when account or err is set
	Account
	err   error
	valid atomic.Bool // the token was valid for a request
	users int
	used  time.Time // the last request
}

// errAccounts means that too many connections of users are in use or being opened.
var errAccounts = fmt.Errorf("%d connections of users are in use, try again later", accountsMax)

// acquire returns the account of a token, to be given to release. It fails as Accounts do, or with errAccounts.
func (a *accounts) acquire(ctx context.Context, token string) (*held, error) {
	digest := sha256.Sum256([]byte(token))
	a.mu.Lock()
	h := a.kept[digest]
	if h == nil {
		if a.prune(); len(a.kept) >= accountsMax {
			a.mu.Unlock()
			return nil, errAccounts
		}
		h = &held{ready: make(chan struct{})}
		a.kept[digest] = h
		go func() {
			h.Account, h.err = a.open(context.WithoutCancel(ctx), token)
			close(h.ready)
		}()
	}
	h.users++
	h.used = time.Now()
	a.mu.Unlock()
	select {
	case <-h.ready: // also when the request has ended: its streams have a last word
	default:
		select {
		case <-h.ready:
		case <-ctx.Done():
			a.release(h)
			return nil, ctx.Err()
		}
	}
	if h.err != nil {
		a.drop(digest, h)
		return nil, h.err
	}
	return h, nil
}

func (a *accounts) release(h *held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.users--
}

// drop closes an account whose token is not valid any more.
func (a *accounts) drop(digest [sha256.Size]byte, h *held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.users--
	if a.kept[digest] == h {
		delete(a.kept, digest)
		if h.err == nil {
			h.Close()
		}
	}
}

// prune closes accounts that were not used for a while or could not be opened, and when there are too many any that no request uses.
// Those that are being opened stay, also when their request has ended. It is called with mu held.
func (a *accounts) prune() {
	for digest, h := range a.kept {
		select {
		case <-h.ready:
		default:
			continue
		}
		if h.users == 0 && (h.err != nil || time.Since(h.used) > accountsIdle || len(a.kept) >= accountsMax) {
			delete(a.kept, digest)
			if h.err == nil {
				h.Close()
			}
		}
	}
}

// close closes all.
func (a *accounts) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for digest, h := range a.kept {
		delete(a.kept, digest)
		go func() {
			if <-h.ready; h.err == nil {
				h.Close()
			}
		}()
	}
}

// noToken is the problem of a request without a valid token.
func noToken(why string) *huma.ErrorModel {
	return problem(http.StatusUnauthorized, problemToken, "header.Authorization",
		why+`; make one with "quill token create" and send the header "Authorization: Bearer TOKEN"`)
}

// authenticate returns the account of a request. The error is a problem.
func (s *Server) authenticate(r *http.Request) (*held, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case scheme == "":
		return nil, noToken("the request has no token")
	case !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > tokenMax:
		return nil, noToken("the header Authorization is not Bearer TOKEN")
	}
	h, err := s.accounts.acquire(r.Context(), token)
	switch {
	case errors.Is(err, ErrToken):
		return nil, noToken(ErrToken.Error())
	case errors.Is(err, errAccounts):
		return nil, problem(http.StatusServiceUnavailable, problemBusy, "", err.Error())
	case err != nil:
		return nil, unreachable(err)
	}
	at, err := s.mirror.now()
	if err != nil {
		s.accounts.release(h)
		return nil, problem(http.StatusServiceUnavailable, problemMirror, "", err.Error())
	}
	if !h.Valid(at.state, grid.TimeOf(s.options.Now())) && !s.expected(r.Context(), h, at.state.Seq) {
		s.accounts.drop(sha256.Sum256([]byte(token)), h)
		return nil, noToken(ErrToken.Error())
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
		if !s.mirror.reach(ctx, seq+1, tokenWait) {
			return false
		}
		at, err := s.mirror.now()
		if err != nil {
			return false
		}
		if seq = at.state.Seq; h.Valid(at.state, grid.TimeOf(s.options.Now())) {
			return true
		}
	}
	return false
}

type accountKey struct{}

// accountOf returns the account that the middleware found.
func accountOf(ctx context.Context) Account { return ctx.Value(accountKey{}).(Account) }
