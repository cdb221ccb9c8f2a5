package qsub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, submit.Qsub(env.Origin()), qsub) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int {
	if env.Dir == "" { // it has been removed
		return env.In(submit.Qsub(env.Origin()).Requested(args)).Report(errors.New(submit.NoDirectory), noDirectory)
	}
	return opt.RunApp(env, App(env), args)
}

// noDirectory is Grid Engine's exit status where the working directory cannot be
// determined.
const noDirectory = 14

func qsub(ctx context.Context, env opt.Env, said *submit.Submission) int {
	s, err := said.Complete()
	var script *submit.ScriptError
	switch {
	case errors.As(err, &script):
		return env.Report(err, script.Code)
	case err != nil:
		return opt.Complain(env, submit.Qsub(env.Origin()), err)
	}
	env = env.In(s.Format)
	if s.Verify {
		if s.Format.JSON() {
			return env.Results(nil, gdi.Reply{Answers: []gdi.Answer{gdi.Done(s.Describe())}})
		}
		fmt.Fprint(env.Stdout, s.Describe())
		return 0
	}
	if s.Job, err = s.Verified(ctx, "qsub", env.Log); err != nil {
		return unable(env, s.Format, err)
	}
	c, err := env.Connect(ctx)
	if err != nil {
		return unable(env, s.Format, err)
	}
	defer c.Close()
	if mode := s.Job.Spec.Verify; mode == "v" || mode == "p" {
		reply, err := c.Do(ctx, "qsub", &gdi.Verify{Job: s.Job, Mode: mode})
		if err != nil {
			return unable(env, s.Format, err)
		}
		if !reply.OK() {
			return refused(env, s.Format, reply)
		}
		if s.Format.JSON() {
			return env.Results(nil, reply)
		}
		return env.Print(reply.Answers)
	}
	reply, err := c.Do(ctx, "qsub", &gdi.Submit{Job: s.Job})
	if err != nil {
		return unable(env, s.Format, err)
	}
	if !reply.OK() {
		return refused(env, s.Format, reply)
	}
	reply.Answers = append(s.Warnings, reply.Answers...)
	job := handle{reply.Job, reply.Array, reply.Tasks}
	if s.Format.JSON() {
		env.Results(nil, reply)
		env.Stdout = env.Stderr // of what -sync reports
	} else {
		printSubmitted(env, s.Terse, job, reply)
	}
	w := waiter{env, c, job}
	if s.Job.Immediate || s.Sync {
		env.StopsItself() // an interrupt deletes the job
	}
	if s.Job.Immediate {
		if code := w.started(ctx); code != 0 {
			return code
		}
	}
	if s.Sync {
		return w.ended(ctx)
	}
	return 0
}

// printSubmitted prints the answers about the job as it is: not only the user has a say.
func printSubmitted(env opt.Env, terse bool, job handle, reply gdi.Reply) {
	for _, a := range reply.Answers {
		switch {
		case a.Quality == gdi.Warning:
			fmt.Fprintln(env.Stderr, a.Text)
		case !terse:
			fmt.Fprintln(env.Stdout, a.Text)
		}
	}
	if terse {
		fmt.Fprintln(env.Stdout, job)
	}
}

// handle names the new job as qsub prints it: 7, or 7.1-10:2 for an array.
type handle struct {
	id    uint32
	array bool
	tasks grid.Range
}

func (h handle) String() string {
	if !h.array {
		return fmt.Sprint(h.id)
	}
	return fmt.Sprintf("%d.%d-%d:%d", h.id, h.tasks.First, h.tasks.Last, max(h.tasks.Step, 1))
}

// missing are the tasks of an array that are not there.
func (h handle) missing(there map[uint32]bool) (out grid.Ranges) {
	if !h.array {
		return nil
	}
	return grid.Ranges{h.tasks}.Filter(func(task uint32) bool { return !there[task] })
}

// unable prints why no job was submitted, or that this is not known.
func unable(env opt.Env, format switches.Format, err error) int {
	if format.JSON() {
		return env.Results(err)
	}
	var none *cell.NotFound
	var gone *client.Unreachable
	var unanswered *client.Unanswered
	switch {
	case errors.As(err, &none):
		fmt.Fprintf(env.Stderr, "Unable to initialize environment because of error: %s\nExiting.\n", none.Text)
	case errors.As(err, &gone):
		fmt.Fprintf(env.Stderr, "error: %s\nUnable to run job: %s\nExiting.\n", gone.Commlib(), gone.Send())
	case errors.As(err, &unanswered):
		fmt.Fprintf(env.Stderr, "%s\nExiting.\n", err)
	default:
		fmt.Fprintf(env.Stderr, "Unable to run job: %s\nExiting.\n", strings.TrimPrefix(err.Error(), "error: "))
	}
	env.PrintHint(err)
	return 1
}

// refused prints qmaster's reasons.
func refused(env opt.Env, format switches.Format, reply gdi.Reply) int {
	if format.JSON() {
		env.Results(nil, reply)
		return opt.RefusedCode(reply)
	}
	before := "Unable to run job: "
	for _, a := range reply.Answers {
		fmt.Fprintln(env.Stderr, before+a.Text)
		before = ""
	}
	fmt.Fprintln(env.Stderr, "Exiting.")
	env.PrintHints(reply.Answers...)
	return opt.RefusedCode(reply)
}
