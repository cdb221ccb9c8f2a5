package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// OutCommand returns `quill logout`.
func OutCommand(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "logout", Usage: "end the log-in of quill login: revoke its token and remove it",
		Flags: []cli.Flag{cellFlag(), opt.JSONFlag()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return opt.Usagef("logout: unexpected %q", c.Args().First())
			}
			where, err := cellOf(env, c)
			if err != nil {
				return err
			}
			token, why := where.Login() // one that others could have changed is not sent
			if err := where.RemoveLogin(); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("not logged in to the cell %s: there is no log-in in %s", where.Name, where.LoginFile())
			} else if err != nil {
				return fmt.Errorf("logout: %w", err)
			}
			if why == nil && token != "" {
				why = revoke(c.Context, where, token)
			}
			if why != nil {
				return fmt.Errorf("the log-in was removed, but its token is not revoked and ends with its expiry: %w", why)
			}
			did := document.Result{Did: string(gdi.DidDelete), Text: "logged out of the cell " + where.Name}
			if number, _, ok := bus.ParseToken(token); ok {
				did.Subject = document.OnObject(grid.KindToken, fmt.Sprint(number))
			}
			return env.Did(c, did)
		},
	}
}

// revoke has a token revoke itself. One that has expired or was revoked is no error.
func revoke(ctx context.Context, where cell.Cell, token string) error {
	number, _, ok := bus.ParseToken(token)
	if !ok {
		return bus.ErrToken
	}
	r, err := client.ConnectToken(ctx, where, token)
	if errors.Is(err, bus.ErrToken) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	reply, err := r.Do(ctx, name, &gdi.RevokeTokens{IDs: []uint32{number}})
	if err == nil {
		err = reply.Err()
	}
	return err
}
