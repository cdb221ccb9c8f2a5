package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
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
			&cli.BoolFlag{Name: "any-address", Usage: "with --http, accept other addresses than loopback: tokens are sent unencrypted, so put a TLS proxy before it"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("mcp: unexpected %q", c.Args().First())
			}
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			base := session{host: env.Host, now: env.Now, busy: make(chan struct{}, 1)}
			ctx := c.Context
			if address := c.String("http"); address != "" {
				return serve(ctx, env, where, base, address, c.Bool("any-address"))
			}
			s := base
			s.connect = func(ctx context.Context) (*client.Remote, error) { return client.Connect(ctx, where) }
			s.user = func(context.Context) string { return env.User() }
			err = s.server().Run(ctx, &sdk.StdioTransport{})
			if ctx.Err() != nil {
				err = nil
			}
			return err
		},
	}
}

// loopback reports whether an address is reached from this host only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// serve serves streamable HTTP until ctx ends.
func serve(ctx context.Context, env opt.Env, where cell.Cell, base session, address string, anywhere bool) error {
	if !loopback(address) && !anywhere {
		return fmt.Errorf("mcp: %s is not a loopback address HOST:PORT; see --any-address", address)
	}
	env.StopsItself()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	fmt.Fprintf(env.Stderr, "quill mcp: serving http://%s\n", l.Addr())
	server := &http.Server{Handler: handler(where, base), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler serves each request with the token that it carries.
func handler(where cell.Cell, base session) http.Handler {
	protocol := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		token := bearer(r)
		s := base
		s.connect = func(ctx context.Context) (*client.Remote, error) { return client.ConnectToken(ctx, where, token) }
		s.user = func(ctx context.Context) string {
			c, err := s.connect(ctx)
			if err != nil {
				return ""
			}
			defer c.Close()
			owner, _ := client.TokenOwner(ctx, c, token)
			return owner
		}
		return s.server()
	}, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case bearer(r) == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: Authorization: Bearer TOKEN, made by quill token create --scope propose", http.StatusUnauthorized)
		case r.Header.Get("Origin") != "":
			http.Error(w, "requests of web pages are not served", http.StatusForbidden)
		default:
			protocol.ServeHTTP(w, r)
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
