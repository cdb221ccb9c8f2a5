package qhold

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// App is qhold for urfave/cli.
func App(env opt.Env) *cli.App {
	return appOf(env, "qhold", func(h *commandLine) *gdi.Alter { return &gdi.Alter{Jobs: h.jobs, HoldAdd: h.letters} })
}

// ReleaseApp is qrls for urfave/cli.
func ReleaseApp(env opt.Env) *cli.App {
	return appOf(env, "qrls", func(h *commandLine) *gdi.Alter { return &gdi.Alter{Jobs: h.jobs, HoldRemove: h.letters} })
}

// Run is the whole command qhold; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// RunRelease is the whole command qrls.
func RunRelease(env opt.Env, args []string) int { return opt.RunApp(env, ReleaseApp(env), args) }

func appOf(env opt.Env, name string, change func(*commandLine) *gdi.Alter) *cli.App {
	command := newCommand(name)
	return opt.App(env, command, func(ctx context.Context, env opt.Env, h *commandLine) int {
		if err := switches.CheckJobs(h.jobs); err != nil {
			return opt.Complain(env, command, err)
		}
		replies, code := env.Request(ctx, h.format, name, change(h))
		return exitStatus(replies, code)
	})
}

// exitStatus is by what was refused first: 3 a job that does not exist, 10 a hold that
// only operators or managers may touch, 18 a job of another user; else code.
func exitStatus(replies []gdi.Reply, code int) int {
	for _, a := range opt.Answers(replies) {
		switch a.Status {
		case gdi.StatusUnknown:
			return 3
		case gdi.StatusDenied:
			return 10
		case gdi.StatusNotOwner:
			return 18
		}
	}
	return code
}
