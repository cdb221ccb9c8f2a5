package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// Command returns `quill mcp`.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "serve the cell to agents by the Model Context Protocol: they read, simulate and propose",
		Description: "Without --http it speaks on standard input and output, with your credentials. With --http every request\n" +
			"carries a token of its user: Authorization: Bearer TOKEN. Agents need a token of the scope propose.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "http", Usage: "serve streamable HTTP at `HOST:PORT`, a loopback address"},
			&cli.BoolFlag{Name: "any-address",
				Usage: "with --http, accept other addresses than loopback: tokens are sent unencrypted, so put a TLS proxy before it"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("mcp: unexpected %q", c.Args().First())
			}
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			base := session{host: env.Host, now: env.Now,
				busy: fair.NewPlaces("simulations of agents", fair.Limits{Total: 1, Waiting: 4})}
			ctx := c.Context
			if address := c.String("http"); address != "" {
				return serve(ctx, env, where, base, address, c.Bool("any-address"))
			}
			s := base
			s.connect = func(ctx context.Context) (*client.Remote, error) { return client.Connect(ctx, where) }
			s.user = func(context.Context) string { return env.User() }
			err = s.server().Run(ctx, answering{&sdk.StdioTransport{}})
			if ctx.Err() != nil {
				err = nil
			}
			return err
		},
	}
}

// serve serves streamable HTTP until ctx ends.
func serve(ctx context.Context, env opt.Env, where cell.Cell, base session, address string, anywhere bool) error {
	host, _, err := net.SplitHostPort(address)
	if !anywhere && (err != nil || !grid.IsLoopback(host)) {
		return fmt.Errorf("mcp: %s is not a loopback address HOST:PORT; see --any-address", address)
	}
	env.StopsItself()
	raw, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	l := fair.NewListener("connections of agents", raw, fair.Limits{Total: 1024, User: 256, Reserve: 32})
	fmt.Fprintf(env.Stderr, "quill mcp: serving http://%s\n", l.Addr())
	server := &http.Server{Handler: handler(where, base, owners(where)), ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	fair.Serve(server)
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// bodySmall is how much a token sends that cannot propose.
const bodySmall = 64 << 10

// owner returns a token as the cell has it; nil: it is not valid.
type owner func(ctx context.Context, token string) (*grid.Token, error)

func owners(where cell.Cell) owner {
	return func(ctx context.Context, token string) (t *grid.Token, err error) {
		number, _, ok := bus.ParseToken(token)
		if !ok {
			return nil, nil
		}
		c, err := client.ConnectToken(ctx, where, token)
		if errors.Is(err, bus.ErrToken) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		defer c.Close()
		_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindToken}, Where: gdi.Where{Keys: []grid.Key{{ID: number}}}},
			func(o grid.Object) error {
				t = o.(*grid.Token)
				return nil
			})
		return t, err
	}
}

// admission lets in requests whose tokens are valid, so many of each user. Their bodies are read afterwards.
type admission struct {
	of             owner
	asking, inside *fair.Places
}

// admit returns the owner of a token when it is the turn of a request. Else it has answered.
func (a *admission) admit(w http.ResponseWriter, r *http.Request, token string) (owner string, leave func()) {
	refuse := func(status int, text string) (string, func()) {
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
		http.Error(w, text, status)
		return "", nil
	}
	client, ok := fair.UserOf(r.Context())
	if !ok {
		client = fair.UserAt(r.RemoteAddr)
	}
	asked, err := a.asking.Wait(r.Context(), client, 1)
	if err != nil {
		return refuse(http.StatusServiceUnavailable, err.Error())
	}
	t, err := a.of(r.Context(), token)
	asked()
	switch {
	case err != nil:
		return refuse(http.StatusServiceUnavailable, err.Error())
	case t == nil:
		return refuse(http.StatusUnauthorized, "the token is wrong: it is unknown, revoked or expired")
	case t.Scope < grid.ScopePropose && r.ContentLength > bodySmall:
		return refuse(http.StatusForbidden, fmt.Sprintf("a token of the scope %s sends at most %d bytes", t.Scope, bodySmall))
	case t.Scope < grid.ScopePropose:
		r.Body = http.MaxBytesReader(w, r.Body, bodySmall)
	}
	if leave, err = a.inside.Wait(r.Context(), fair.User{Name: t.Owner}, 1); err != nil {
		return refuse(http.StatusServiceUnavailable, err.Error())
	}
	return t.Owner, leave
}

type ownerKey struct{}

// handler serves each request with the token that it carries.
func handler(where cell.Cell, base session, of owner) http.Handler {
	door := admission{
		of:     of,
		asking: fair.NewPlaces("tokens of agents that are checked", fair.Limits{Total: 16, User: 4, Waiting: 64}),
		inside: fair.NewPlaces("requests of agents", fair.Limits{Total: 16, User: 2, Waiting: 32}),
	}
	protocol := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		token := bearer(r)
		s := base
		s.connect = func(ctx context.Context) (*client.Remote, error) { return client.ConnectToken(ctx, where, token) }
		owner, _ := r.Context().Value(ownerKey{}).(string)
		s.user = func(context.Context) string { return owner }
		return s.server()
	}, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case bearer(r) == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: Authorization: Bearer TOKEN, made by quill token create --scope propose",
				http.StatusUnauthorized)
		case r.Header.Get("Origin") != "":
			http.Error(w, "requests of web pages are not served", http.StatusForbidden)
		default:
			owner, leave := door.admit(w, r, bearer(r))
			if leave == nil {
				return
			}
			defer leave()
			protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ownerKey{}, owner)))
		}
	})
}

func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(token)
}
