package qalter

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, submit.Qalter(env.Origin()), alter) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func alter(ctx context.Context, env opt.Env, s *submit.Submission) int {
	if len(s.Set) > 0 && len(s.Jobs.Refs) == 0 && len(s.Jobs.Users) == 0 {
		return 0 // changes of no job, as Grid Engine has it
	}
	request, err := s.Alter()
	if err != nil {
		return opt.Complain(env, submit.Qalter(env.Origin()), err)
	}
	_, code := env.Request(ctx, s.Format, "qalter", request)
	return code
}
