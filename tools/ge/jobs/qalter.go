package jobs

import (
	"context"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

// RunQalter is qalter(1): it changes attributes of jobs that are not finished. The switches are qsub's, of pkg/submit.
// Only what was given is sent as to be changed. It returns the exit status.
func RunQalter(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, submit.Qalter(env.Origin()), alterJobs), args)
}

func alterJobs(ctx context.Context, env opt.Env, s *submit.Submission) int {
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
