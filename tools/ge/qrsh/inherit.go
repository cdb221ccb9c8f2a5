package qrsh

import (
	"context"
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

// inherit starts a task of the parallel job that it is called in, and sits in
// front of it.
func inherit(ctx context.Context, env opt.Env, s *submit.Submission) int {
	host, launch, err := s.Inherited()
	if err != nil {
		return opt.Complain(env, submit.Qrsh(env.Origin()), err)
	}
	job, err := strconv.ParseUint(env.Getenv("JOB_ID"), 10, 32)
	if err != nil {
		fmt.Fprintln(env.Stderr, `error: "qrsh" called with option "-inherit", but "JOB_ID" not set in environment`)
		return 1
	}
	task, err := taskOf(env)
	if err != nil {
		fmt.Fprintf(env.Stderr, "error: executing task of job %d failed: %v\n", job, err)
		return 1
	}
	c, err := env.Connect(ctx)
	if err != nil {
		return unable(env, err)
	}
	defer c.Close()
	l := caller{env: env, c: c, command: "qrsh", said: s}
	if err := l.listen(); err != nil {
		return unable(env, err)
	}
	defer l.door.Close()
	launch.Connect = l.door.Invitation()
	launch.Env = launch.Env.With("QRSH_PORT", l.door.Address())
	reply, err := c.Do(ctx, "qrsh", &gdi.StartTask{Job: uint32(job), Task: task, Host: host, Launch: launch})
	if err != nil {
		return unable(env, err)
	}
	if !reply.OK() {
		for _, a := range reply.Answers {
			fmt.Fprintf(env.Stderr, "error: executing task of job %d failed: %s\n", job, a.Text)
		}
		return 1
	}
	l.wait = gdi.Wait{Job: uint32(job), Task: task, PETask: reply.PETask, For: "ended"}
	l.what = fmt.Sprintf("task %s of job %d", reply.PETask, job)
	return l.call(ctx, false)
}

// taskOf is the task of an array job, 1 of another.
func taskOf(env opt.Env) (uint32, error) {
	text := env.Getenv("SGE_TASK_ID")
	if text == "undefined" {
		return 1, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf(`missing "SGE_TASK_ID" in environment`)
	}
	return uint32(n), nil
}
