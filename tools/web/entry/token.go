package entry

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Tokens are the accounts of a cell: a connection for each token.
func Tokens(c cell.Cell) Accounts {
	return func(ctx context.Context, token string) (Account, error) {
		number, _, ok := bus.ParseToken(token)
		if !ok {
			return nil, ErrToken
		}
		r, err := client.ConnectToken(ctx, c, token)
		if errors.Is(err, bus.ErrToken) {
			return nil, ErrToken
		}
		if err != nil {
			return nil, err
		}
		return &tokenAccount{remote: r, number: number}, nil
	}
}

// tokenAccount is a connection of the owner of a token.
type tokenAccount struct {
	remote *client.Remote
	number uint32
	token  atomic.Pointer[grid.Token] // as the mirror has it
}

// User returns the owner once Valid has been true.
func (a *tokenAccount) User() string {
	if t := a.token.Load(); t != nil {
		return t.Owner
	}
	return ""
}

// Scope returns the scope once Valid has been true.
func (a *tokenAccount) Scope() grid.Scope {
	if t := a.token.Load(); t != nil {
		return t.Scope
	}
	return 0
}

// Valid reports whether the mirror has the token, and it has not expired.
func (a *tokenAccount) Valid(s *state.State, now grid.Time) bool {
	t, ok := s.Get(grid.KindToken, grid.Key{ID: a.number}).(*grid.Token)
	if !ok || t.Expires <= now {
		return false
	}
	a.token.Store(t)
	return true
}

func (a *tokenAccount) Do(ctx context.Context, id, command string, body gdi.Body) (gdi.Reply, error) {
	if id == "" {
		return a.remote.Do(ctx, command, body)
	}
	return a.remote.DoOnce(ctx, id, command, body)
}

func (a *tokenAccount) Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) error {
	_, err := a.remote.Get(ctx, get, each)
	return err
}

func (a *tokenAccount) History(ctx context.Context, h gdi.History, out io.Writer) error {
	return a.remote.History(ctx, h, out)
}

// Revoke has the token revoke itself.
func (a *tokenAccount) Revoke(ctx context.Context) error {
	reply, err := a.remote.Do(ctx, "quill-web", &gdi.RevokeTokens{IDs: []uint32{a.number}})
	if err == nil {
		err = reply.Err()
	}
	return err
}

func (a *tokenAccount) Close() error { return a.remote.Close() }

// LogIns sends log-ins to the qmaster of a cell, over connections without any rights.
func LogIns(c cell.Cell) LogIn {
	return func(ctx context.Context, in *gdi.LogIn) (gdi.Reply, error) {
		guest, err := client.ConnectGuest(ctx, c)
		if err != nil {
			return gdi.Reply{}, err
		}
		defer guest.Close()
		return guest.Do(ctx, "quill-web", in)
	}
}
