package token

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// causeName is the command in causes of event lists.
const causeName = "quill-token"

// Wanted returns the token that the options --scope and --expires of a command ask for.
func Wanted(c *cli.Context) (want gdi.CreateToken, err error) {
	scope, ok := grid.ParseScope(c.String("scope"))
	if !ok {
		return want, opt.Usagef("there is no scope %q: it is %s", c.String("scope"), grid.ScopeNames)
	}
	life, err := opt.ParseSpan(c.String("expires"))
	if err != nil || life <= 0 {
		return want, fmt.Errorf("--expires %q is no time span such as 90m, 12h or 30d", c.String("expires"))
	}
	return gdi.CreateToken{Scope: scope, Seconds: life.Seconds()}, nil
}

// Make makes a token as wanted, and returns it and what qmaster reports. A refusal is an error.
func Make(ctx context.Context, env opt.Env, want gdi.CreateToken) (text string, reply gdi.Reply, err error) {
	secret := bus.NewSecret()
	want.Digest = bus.Digest(secret)
	reply, err = sendChecked(ctx, env, &want)
	return bus.TokenText(reply.Token, secret), reply, err
}

// Revoke revokes tokens, and returns what qmaster reports. A refusal of the only one is an error.
func Revoke(ctx context.Context, env opt.Env, numbers ...uint32) (gdi.Reply, error) {
	return sendChecked(ctx, env, &gdi.RevokeTokens{IDs: numbers})
}

// send sends a request about tokens.
func send(ctx context.Context, env opt.Env, body gdi.Body) (gdi.Reply, error) {
	master, err := env.Connect(ctx)
	if err != nil {
		return gdi.Reply{}, err
	}
	defer master.Close()
	return master.Do(ctx, causeName, body)
}

// sendChecked sends a request. A refusal is an error.
func sendChecked(ctx context.Context, env opt.Env, body gdi.Body) (gdi.Reply, error) {
	reply, err := send(ctx, env, body)
	if err == nil && !reply.OK() && len(reply.Answers) == 1 {
		err = reply.Err()
	}
	return reply, err
}
