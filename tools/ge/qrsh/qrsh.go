package qrsh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

// App is qrsh for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, submit.Qrsh(env.Origin()), qrsh) }

// LoginApp is qlogin.
func LoginApp(env opt.Env) *cli.App {
	return opt.App(env, submit.Qlogin(env.Origin()), interactive("qlogin"))
}

// Run is the whole command qrsh; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// RunLogin is the whole command qlogin.
func RunLogin(env opt.Env, args []string) int { return opt.RunApp(env, LoginApp(env), args) }

func qrsh(ctx context.Context, env opt.Env, said *submit.Submission) int {
	if said.Inherit {
		env.StopsItself() // the task ends with it
		return inherit(ctx, env, said)
	}
	return interactive("qrsh")(ctx, env, said)
}

// interactive is the command that makes a job.
func interactive(command string) func(context.Context, opt.Env, *submit.Submission) int {
	return func(ctx context.Context, env opt.Env, said *submit.Submission) int {
		if env.Dir == "" { // it has been removed
			return unable(env, errors.New(submit.NoDirectory))
		}
		s, err := said.Complete()
		switch {
		case err != nil:
			return opt.Complain(env, submit.Qrsh(env.Origin()), err)
		case s.Verify:
			fmt.Fprint(env.Stdout, s.Describe())
			return 0
		}
		if s.Job, err = s.Verified(ctx, command, env.Log); err != nil {
			fmt.Fprintln(env.Stderr, err)
			return 1
		}
		c, err := env.Connect(ctx)
		if err != nil {
			return unable(env, err)
		}
		defer c.Close()
		if mode := s.Job.Spec.Verify; mode == "v" || mode == "p" {
			reply, err := c.Do(ctx, command, &gdi.Verify{Job: s.Job, Mode: mode})
			if err != nil {
				return unable(env, err)
			}
			return env.PrintErrors(reply.Answers)
		}
		env.StopsItself() // an interrupt deletes the job
		l := caller{env: env, c: c, command: command, said: s}
		if err := l.listen(); err != nil {
			return unable(env, err)
		}
		defer l.door.Close()
		spec := s.Job.Spec
		spec.Connect = l.door.Invitation()
		spec.Env = spec.Env.With("QRSH_PORT", l.door.Address())
		reply, err := c.Do(ctx, command, &gdi.Submit{Job: s.Job})
		if err != nil {
			return unable(env, err)
		}
		for _, a := range reply.Answers {
			if a.Quality != gdi.Info {
				fmt.Fprintln(env.Stderr, a.Text)
			}
		}
		if !reply.OK() {
			return opt.RefusedCode(reply)
		}
		l.wait = gdi.Wait{Job: reply.Job, For: "ended"}
		l.what = fmt.Sprintf("job %d", reply.Job)
		if s.Verbose {
			fmt.Fprintf(env.Stdout, "Your job %d (%q) has been submitted\n", reply.Job, s.Job.Name)
			fmt.Fprintln(env.Stderr, "waiting for interactive job to be scheduled ...")
		}
		return l.call(ctx, s.Job.Immediate)
	}
}

// unable returns why nothing was submitted.
func unable(env opt.Env, err error) int {
	var none *cell.NotFound
	var no syscall.Errno
	switch {
	case errors.As(err, &none):
		fmt.Fprintf(env.Stderr, "Unable to initialize environment because of error: %s\n", none.Text)
	case errors.As(err, &no) && no == syscall.EMFILE:
		fmt.Fprintln(env.Stderr, "error: too many open files")
	default:
		fmt.Fprintln(env.Stderr, "error: "+strings.TrimPrefix(err.Error(), "error: "))
	}
	return 1
}
