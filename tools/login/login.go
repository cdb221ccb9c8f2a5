package login

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/pkg/opt"
)

// name is the command in causes of event lists.
const name = "quill-login"

func cellFlag() cli.Flag {
	return &cli.StringFlag{Name: "cell", Usage: "the cell with this `NAME` in SGE_ROOT",
		DefaultText: "SGE_CELL, else default"}
}

// Command returns `quill login`.
func Command(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "login", Usage: "log in to a cell at its identity provider or with a certificate",
		Description: "It prints an address and a code: open the address in any browser, log in there and confirm the code. The commands\n" +
			"then act as the user whom the identity provider has named, until the log-in ends or `quill logout`.",
		Flags: []cli.Flag{
			cellFlag(),
			&cli.BoolFlag{Name: "status", Usage: "show who is logged in, with which scope and until when"},
			&cli.StringFlag{Name: "cert", Usage: "log in with the TLS certificate in this PEM `FILE` instead"},
			&cli.StringFlag{Name: "key", Usage: "PEM `FILE` with its private key"},
			opt.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return opt.Usagef("login: unexpected %q", c.Args().First())
			}
			where, err := cellOf(env, c)
			if err != nil {
				return err
			}
			if c.Bool("status") {
				return status(c, env, where)
			}
			return logIn(c, env, where)
		},
	}
}

// cellOf returns the cell that --cell or the environment names.
func cellOf(env opt.Env, c *cli.Context) (cell.Cell, error) {
	where, err := cell.FindIn(env.Getenv)
	if of := c.String("cell"); err == nil && of != "" {
		if !grid.UserName(of) {
			return where, fmt.Errorf("%s: %q is no name of a cell", c.Command.Name, of)
		}
		where.Name = of
	}
	return where, err
}

func logIn(c *cli.Context, env opt.Env, where cell.Cell) error {
	if (c.String("cert") == "") != (c.String("key") == "") {
		return opt.Usagef("login: --cert and --key go together")
	}
	old, _ := where.Login() // a file that is not safe is replaced
	ways, guest, err := waysOf(c.Context, where)
	if err != nil {
		return err
	}
	defer guest.Close()
	var token string
	switch {
	case c.String("cert") != "":
		token, err = withCert(c.Context, where, ways, c.String("cert"), c.String("key"))
	case ways.Issuer == "":
		return errors.New(
			"login: this cell has no identity provider (qmaster_params LOGIN_ISSUER); log in with --cert, or use a key or a token")
	default:
		token, err = withDevice(c.Context, env, where, guest, openid.New(ways.Issuer, ways.Client, ways.Client))
	}
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if err := where.SaveLogin(token); err != nil {
		revoke(c.Context, where, token)
		return fmt.Errorf("login: %w", err)
	}
	if old != "" {
		revoke(c.Context, where, old) // else it expires
	}
	for _, variable := range []string{grid.TokenVariable, "QUILL_KEY"} {
		if env.Getenv(variable) != "" {
			fmt.Fprintf(env.Stderr, "%s is set: the commands use it and not the log-in\n", variable)
		}
	}
	return show(c, env, where, token)
}

// waysOf returns how users log in, and the connection that it was asked over.
func waysOf(ctx context.Context, where cell.Cell) (gdi.Ways, *client.Remote, error) {
	guest, err := client.ConnectGuest(ctx, where)
	if err != nil {
		return gdi.Ways{}, nil, err
	}
	reply, err := guest.Do(ctx, name, &gdi.WaysToLogIn{})
	if err == nil {
		err = reply.Err()
	}
	if err != nil {
		guest.Close()
	}
	return reply.Ways, guest, err
}

// progressEvery is how often a point is printed while the user confirms a log-in.
const progressEvery = 5 * time.Second

// withDevice logs in with a device code, and returns the text of the token.
func withDevice(
	ctx context.Context, env opt.Env, where cell.Cell, guest *client.Remote, provider *openid.Provider,
) (string, error) {
	d, err := provider.Begin(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(env.Stderr, "To log in to the cell %s, open\n\n    %s\n\nand enter the code %s\n", where.Name,
		grid.Printable(d.URL), grid.Printable(d.Code))
	if d.Whole != "" {
		fmt.Fprintf(env.Stderr, "or open %s\n", grid.Printable(d.Whole))
	}
	fmt.Fprint(env.Stderr, "waiting for the confirmation ")
	polling, done := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-polling.Done():
				return
			case <-tick.C:
				fmt.Fprint(env.Stderr, ".")
			}
		}
	}()
	idToken, err := provider.Poll(ctx, d)
	done()
	fmt.Fprintln(env.Stderr)
	if err != nil {
		return "", err
	}
	secret := bus.NewSecret()
	reply, err := guest.Do(ctx, name, &gdi.LogIn{IDToken: idToken, Digest: bus.Digest(secret), Comment: comment()})
	if err == nil {
		err = reply.Err()
	}
	return bus.TokenText(reply.Token, secret), err
}

// comment returns what `quill token list` shows of the token of a log-in.
func comment() string {
	host, _ := os.Hostname()
	return grid.Printable("quill login at " + host)
}

// status shows the log-in.
func status(c *cli.Context, env opt.Env, where cell.Cell) error {
	token, err := where.Login()
	if err != nil {
		return err
	}
	if token == "" {
		return fmt.Errorf("not logged in to the cell %s: there is no log-in in %s", where.Name, where.LoginFile())
	}
	return show(c, env, where, token)
}

// show prints what a token is.
func show(c *cli.Context, env opt.Env, where cell.Cell, token string) error {
	number, _, ok := bus.ParseToken(token)
	if !ok {
		return fmt.Errorf("%s has no token; run quill login again", where.LoginFile())
	}
	r, err := client.ConnectToken(c.Context, where, token)
	if errors.Is(err, bus.ErrToken) {
		return fmt.Errorf("the log-in to the cell %s has ended: its token has expired or was revoked; run quill login again",
			where.Name)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	st, err := client.Fetch(c.Context, r, gdi.Get{Kinds: []grid.Kind{grid.KindToken}})
	if err != nil {
		return err
	}
	t := st.Token(number)
	if t == nil {
		return fmt.Errorf("the log-in to the cell %s has ended; run quill login again", where.Name)
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.TokensOf([]*grid.Token{t}))
	}
	_, err = fmt.Fprintf(env.Stdout, "logged in to the cell %s as %s with token %d, scope %s, until %s\n", where.Name,
		t.Owner, t.ID, t.Scope, opt.Stamp(t.Expires))
	return err
}
