package entry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

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
	// Scope is what the token may be used for, as the mirror had it when Valid was true.
	Scope() grid.Scope
	// Do sends a request. id is the request number: with one that was used before nothing is done again; empty: a new one.
	Do(ctx context.Context, id, command string, body gdi.Body) (gdi.Reply, error)
	// Get calls each with objects as the owner may read them, private fields included.
	Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) error
	// History writes a stretch of the log as an archive, as the owner may read it.
	History(ctx context.Context, h gdi.History, out io.Writer) error
	// Revoke revokes the token.
	Revoke(context.Context) error
	Close() error
}

// Accounts opens the cell as the owner of a token. The error is ErrToken when the token is not valid, else qmaster
// cannot be reached.
type Accounts func(ctx context.Context, token string) (Account, error)

// ErrToken means that a token is unknown, revoked or expired.
var ErrToken = errors.New("the token is unknown, revoked or expired")

// How many connections of users are kept, and how long without a request.
const (
	accountsMax  = 1000
	accountsIdle = 5 * time.Minute
)

// How long a request waits for qmaster: for a new connection of its user, which a client of the cell tries for about as
// long, and for the answer. The commands wait for up to a minute when qmaster may have taken a request; a client of the
// API can send it again under its number.
const (
	OpenWait        = 5 * time.Second
	answerWaitUsual = 10 * time.Second
)

// errSilent means that qmaster has not answered in time: it may have carried out the request, or will.
var errSilent = errors.New("qmaster has not answered in time, and may have carried out the request: send it again, with the same Idempotency-Key if it makes a job or a reservation")

// timely is an account whose requests end in time.
type timely struct {
	Account
	wait time.Duration
}

func (t timely) Do(ctx context.Context, id, command string, body gdi.Body) (reply gdi.Reply, err error) {
	err = within(ctx, t.wait, func(ctx context.Context) error {
		reply, err = t.Account.Do(ctx, id, command, body)
		return err
	})
	return reply, err
}

func (t timely) Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) error {
	return within(ctx, t.wait, func(ctx context.Context) error { return t.Account.Get(ctx, get, each) })
}

func (t timely) Revoke(ctx context.Context) error { return within(ctx, t.wait, t.Account.Revoke) }

// within calls f with a context that ends after a while. The error is that of f, or errSilent.
func within(ctx context.Context, wait time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errSilent)
	defer cancel()
	err := f(ctx)
	if errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == errSilent {
		return errSilent
	}
	return err
}

// accounts keeps the connections of users between their requests. Tokens themselves are not stored.
type accounts struct {
	open Accounts

	mu   sync.Mutex
	kept map[digest]*held // by tokens; acquire adds, drop, forget, prune and close remove
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
	d := digestOf(token)
	a.mu.Lock()
	h := a.kept[d]
	if h == nil {
		if a.prune(); len(a.kept) >= accountsMax {
			a.mu.Unlock()
			return nil, errAccounts
		}
		h = &held{ready: make(chan struct{})}
		a.kept[d] = h
		go func() {
			account, err := a.open(context.WithoutCancel(ctx), token)
			h.Account, h.err = account, err
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
		a.drop(d, h)
		return nil, h.err
	}
	return h, nil
}

// accepted reports whether the account of a token is open, and was valid for a request.
func (a *accounts) accepted(d digest) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.kept[d]
	return h != nil && h.valid.Load()
}

func (a *accounts) release(h *held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.users--
}

// drop closes an account whose token is not valid any more.
func (a *accounts) drop(d digest, h *held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.users--
	if a.kept[d] == h {
		delete(a.kept, d)
		if h.err == nil {
			h.Close()
		}
	}
}

// forget closes the account of a token that was revoked: qmaster, which knows that before the mirror does, decides on
// the next request.
func (a *accounts) forget(d digest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.kept[d]
	if h == nil {
		return
	}
	select {
	case <-h.ready:
		delete(a.kept, d)
		if h.err == nil {
			h.Close()
		}
	default: // it is being opened, by a request after the revocation
	}
}

// prune closes accounts that were not used for a while or could not be opened, and when there are too many any that no
// request uses. Those that are being opened stay, also when their request has ended. It is called with mu held.
func (a *accounts) prune() {
	for d, h := range a.kept {
		select {
		case <-h.ready:
		default:
			continue
		}
		if h.users == 0 && (h.err != nil || time.Since(h.used) > accountsIdle || len(a.kept) >= accountsMax) {
			delete(a.kept, d)
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
	for d, h := range a.kept {
		delete(a.kept, d)
		go func() {
			if <-h.ready; h.err == nil {
				h.Close()
			}
		}()
	}
}
