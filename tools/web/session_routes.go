package web

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/tools/web/entry"
)

// Paths of log-ins that the package entry has to know.
const (
	logInPath    = "/login"
	callbackPath = "/login/oidc/callback"
)

const (
	sweepEvery = 30 * time.Second
	unusedWait = 5 * time.Minute // for which a moment of the past is kept that is not asked for
)

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

func (s *handlers) registerSession() {
	get := operation(http.MethodGet, "/v1/session", "get-session", "session", "Who is logged in")
	huma.Register(s.api, get, func(ctx context.Context, _ *struct{}) (*struct{ Body Session }, error) {
		c := entry.CredentialOf(ctx)
		out := &struct{ Body Session }{Session{User: c.User()}}
		out.Body.CSRF = c.CSRF()
		return out, nil
	})
	create := operation(http.MethodPost, "/v1/session", "create-session", "session",
		"Make a link that logs a browser in, with the token of the request")
	create.DefaultStatus = http.StatusCreated
	huma.Register(s.api, create, func(ctx context.Context, in *struct {
		Body struct {
			Revoke bool `json:"revoke,omitempty" doc:"the token was made for this session: it is revoked when the session ends"`
		}
	},
	) (*struct{ Body Link }, error) {
		secret, expires := s.entry.NewLink(entry.CredentialOf(ctx), in.Body.Revoke)
		return &struct{ Body Link }{Link{Link: s.entry.URL() + logInPath + "/" + secret, Expires: expires}}, nil
	})
	end := operation(http.MethodDelete, "/v1/session", "end-session", "session", "Log out")
	end.DefaultStatus = http.StatusNoContent
	huma.Register(s.api, end, func(ctx context.Context, _ *struct{}) (*struct {
		Cookie http.Cookie `header:"Set-Cookie"`
	}, error,
	) {
		cookie, err := s.entry.LogOut(ctx, entry.CredentialOf(ctx))
		return &struct {
			Cookie http.Cookie `header:"Set-Cookie"`
		}{cookie}, err
	})
}

// sweep ends sessions that are too old until ctx ends.
func (s *handlers) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.entry.Sweep()
			s.mirror.Moments.Sweep(unusedWait)
		}
	}
}
