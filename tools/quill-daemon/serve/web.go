package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/token"
	"github.com/quill-grid/quill/tools/web"
)

func webCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "web", Usage: "serve the HTTP API of the cell in the foreground, or log in to it with --open",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "user", Usage: "account `NAME` that serves, once what only root may open is open; as root"},
			&cli.StringFlag{Name: "listen", Value: web.DefaultListen,
				Usage: "`HOST:PORT`; other addresses than those of loopback need --tls-cert and --tls-key"},
			&cli.StringFlag{Name: "tls-cert", Usage: "PEM `FILE` with the certificate of this host"},
			&cli.StringFlag{Name: "tls-key", Usage: "PEM `FILE` with its private key"},
			&cli.StringFlag{Name: "client-ca",
				Usage: "PEM `FILE` with authorities: clients need a certificate of one of them, beside their token"},
			&cli.StringFlag{Name: "client-crl",
				Usage: "`FILE`, PEM or DER, with certificate revocation lists of these authorities; it is read again when it changes"},
			&cli.StringFlag{Name: "public-url",
				Usage: "`URL`, as https://HOST, under which browsers find the server when a proxy is before it"},
			&cli.StringFlag{
				Name: "oidc-secret", Usage: "`FILE` with the secret of the cell at its identity provider, if it has one there"},
			&cli.BoolFlag{Name: "open",
				Usage: "serve nothing: print a link that logs a browser in as you, once, to the quill web that runs on this host"},
			&cli.StringFlag{Name: "scope", Value: grid.ScopeOperate.String(), Usage: "with --open, `SCOPE` of the session: " +
				grid.ScopeNames},
			&cli.StringFlag{Name: "expires", Value: "12h",
				Usage: "with --open, how long the session lasts: `SPAN` such as 90m, 12h or 30d"},
		}, logFlags()...),
		Action: func(c *cli.Context) error {
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			if err := ofOpen(c); err != nil {
				return err
			}
			if c.Bool("open") {
				return openSession(c, env, where)
			}
			secret, err := clientSecret(c.String("oidc-secret"))
			if err != nil {
				return err
			}
			as, err := servingAccount(c.String("user"))
			if err != nil {
				return err
			}
			ready := newNotifier(c.Context).awaits(where.Dir())
			qmaster.LimitMemory()
			return daemons.Web(c.Context, where, as, web.Options{Listen: c.String("listen"), Cert: c.String("tls-cert"),
				Key:      c.String("tls-key"),
				ClientCA: c.String("client-ca"), ClientCRL: c.String("client-crl"), PublicURL: c.String("public-url"),
				ClientSecret: secret, Logger: logger(env, c, "web"), Ready: func(string) { ready() }})
		},
	}
}

// servingAccount returns the account of --user; nil: that of this process.
func servingAccount(name string) (*userdb.Account, error) {
	if name == "" {
		return nil, nil
	}
	u, err := userdb.Lookup(name)
	switch {
	case userdb.NoEntry(err):
		return nil,
			fmt.Errorf(
				"web: --user %s: there is no such account: make it, as useradd --system --no-create-home --shell /usr/sbin/nologin %s", name, name)
	case err != nil:
		return nil, fmt.Errorf("web: --user %s: %w", name, err)
	case u.Uid == strconv.Itoa(os.Getuid()):
		return nil, nil
	case os.Getuid() != 0:
		return nil, fmt.Errorf("web: --user %s: only root can start it as another account", name)
	}
	return u, nil
}

// clientSecret reads the file of --oidc-secret, which others must not read; "": there is none.
func clientSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("--oidc-secret: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("--oidc-secret %s: others may read or change the file (mode %04o); chmod 600", path,
			info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if secret := strings.TrimSpace(string(text)); err == nil && secret != "" {
		return secret, nil
	}
	return "", errors.Join(fmt.Errorf("--oidc-secret %s: there is no secret in the file", path), err)
}

// ofOpen fails when options are used that --open excludes, or that it is missing for.
func ofOpen(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("web: unexpected %q", c.Args().First())
	}
	for _, name := range c.LocalFlagNames() {
		switch of := slices.Contains([]string{"scope", "expires"}, name); {
		case name == "open":
		case of && !c.Bool("open"):
			return fmt.Errorf("web: --%s is for --open", name)
		case !of && c.Bool("open"):
			return fmt.Errorf("web: --%s is not for --open, which serves nothing", name)
		}
	}
	return nil
}

// openSession prints the link of a session of the user: with the token that the user has chosen, or else with one that
// is made for it.
func openSession(c *cli.Context, env opt.Env, where cell.Cell) error {
	text, login, err := where.UserToken()
	if err != nil {
		return err
	}
	if text != "" {
		of := "in " + grid.TokenVariable
		if login {
			of = "of quill login"
		}
		for _, name := range []string{"scope", "expires"} {
			if c.IsSet(name) {
				return fmt.Errorf("web: --%s has no effect on the token %s, which the session would use", name, of)
			}
		}
		return printLink(c.Context, env, where, text, false)
	}
	want, err := token.Wanted(c)
	if err != nil {
		return fmt.Errorf("web: %w", err)
	}
	want.Comment = "session of quill web"
	text, made, err := token.Make(c.Context, env, want)
	if err != nil {
		return err
	}
	if err = printLink(c.Context, env, where, text, true); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context), 5*time.Second)
		defer cancel()
		_, _ = token.Revoke(ctx, env, made.Token) // else it expires
	}
	return err
}

func printLink(ctx context.Context, env opt.Env, where cell.Cell, text string, revoke bool) error {
	link, err := web.OpenSession(ctx, where, text, revoke)
	if err == nil {
		_, err = fmt.Fprintln(env.Stdout, link)
	}
	return err
}
