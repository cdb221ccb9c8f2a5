package qhold

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

var command = opt.HoldCommand("qhold")

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command, add) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func add(ctx context.Context, env opt.Env, h *opt.Holds) int {
	if err := switches.CheckJobs(h.Jobs); err != nil {
		return opt.Complain(env, command, err)
	}
	replies, code := env.Request(ctx, h.Format, command.Name, &gdi.Alter{Jobs: h.Jobs, HoldAdd: h.Letters})
	return opt.HoldsCode(replies, code)
}
