package qrsh

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/tools/ge/qrsh/session"
)

// caller is a qrsh that waits for its command to call, and then sits in front
// of it.
type caller struct {
	env     opt.Env
	c       client.Client
	command string // qrsh or qlogin
	said    *submit.Submission
	door    *session.Door

	wait gdi.Wait // for the end of what was started
	what string   // job 7; task 1.node2 of job 7
}

// parting is how long qrsh waits for qmaster to receive what it knows already:
// that the command has ended. After that the job is in the accounting, and its slots
// are free.
const parting = 2 * time.Second

// farewell is how long it tries to take back what it started, or to learn why
// it was lost.
const farewell = 10 * time.Second

// listen opens the door: on this host alone in a cell that is this host alone.
func (l *caller) listen() error {
	name := l.env.Host
	if cell, err := cell.FindIn(l.env.Getenv); err == nil && alone(cell) {
		name = ""
	}
	door, err := session.Listen(name)
	l.door = door
	return err
}

// alone reports whether no other host can connect to the cell.
func alone(cell cell.Cell) bool {
	bootstrap, err := cell.ReadBootstrap()
	if err != nil {
		return false
	}
	server, err := url.Parse(bootstrap["server_url"])
	if err != nil {
		return false
	}
	return server.Host == "" || grid.IsLoopback(server.Hostname())
}

// fate is what qmaster says of the job.
type fate struct {
	reply gdi.Reply
	err   error
}

// refused says of an immediate job that it was not started.
func (f fate) refused() bool { return f.err == nil && !f.reply.OK() }

// follow asks for what became of it, "started" or "ended".
func (l *caller) follow(ctx context.Context, until string) <-chan fate {
	fates := make(chan fate, 1)
	go func() {
		w := l.wait
		w.For = until
		reply, err := l.c.Do(ctx, l.command, &w)
		fates <- fate{reply, err}
	}()
	return fates
}

// call waits for the call of the command, and returns its exit status. An
// immediate job is refused when it is not started at once.
func (l *caller) call(ctx context.Context, immediate bool) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	asking, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	var started <-chan fate
	if immediate {
		started = l.follow(asking, "started")
	}
	ended := l.follow(asking, "ended")
	met := make(chan *session.Link, 1)
	go func() {
		if link, err := l.door.Admit(asking); err == nil {
			met <- link
		}
	}()
	for {
		select {
		case link := <-met:
			if l.said.Verbose {
				fmt.Fprintf(l.env.Stderr, "Your interactive %s has been successfully scheduled.\n", l.what)
				fmt.Fprintf(l.env.Stderr, "Establishing builtin session to host %s ...\n", l.host(asking))
			}
			stop()
			return l.sit(link, ended)
		case f := <-started:
			if f.refused() {
				return l.refused()
			}
			started = nil
		case f := <-ended:
			if started != nil && (<-started).refused() { // both are true of a job that was not started
				return l.refused()
			}
			return l.lost(f, fmt.Sprintf("it has ended without a connection to %s, where this command waits for it",
				l.door.Address()))
		case <-ctx.Done():
			return l.interrupted()
		}
	}
}

func (l *caller) refused() int {
	fmt.Fprintf(l.env.Stderr, "Your %q request could not be scheduled, try again later.\n", l.command)
	return 1
}

// host is where the job runs.
func (l *caller) host(ctx context.Context) (host string) {
	if l.wait.PETask != "" {
		return l.said.Command[0]
	}
	key := grid.Key{ID: l.wait.Job, Sub: 1}
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJATask}, Where: gdi.Where{Keys: []grid.Key{key}}}
	l.c.Get(ctx, get, func(o grid.Object) error {
		if t := o.(*grid.JATask); len(t.Grants) > 0 {
			host = t.Grants[0].Host
		}
		return nil
	})
	return host
}

// sit is the session.
func (l *caller) sit(link *session.Link, ended <-chan fate) int {
	defer link.Close()
	t := newTerminal(l.env, link, l.said.Terminal())
	stdin := l.env.Stdin
	if l.said.NoStdin {
		stdin = nil
	}
	stderr := l.env.Stderr
	if l.said.Job.Spec.Merge {
		stderr = l.env.Stdout
	}
	exit, err := t.attend(stdin, l.env.Stdout, stderr)
	link.Close()
	switch {
	case errors.Is(err, session.ErrLost):
		select {
		case f := <-ended:
			return l.lost(f, "the connection to it was lost")
		case <-time.After(farewell):
			fmt.Fprintf(l.env.Stderr, "error: %s: %v\n", l.what, err)
			return 1
		}
	case err != nil:
		fmt.Fprintf(l.env.Stderr, "error: %v\n", err)
		return 1
	}
	if exit.Failure != "" {
		fmt.Fprintln(l.env.Stderr, "qrsh_starter: "+exit.Failure)
	}
	select {
	case <-ended:
	case <-time.After(parting):
	}
	return exit.Code()
}

// lost prints why there is no session, or no more, though the command has not
// said that it has ended; why when nothing else is known.
func (l *caller) lost(f fate, why string) int {
	var r *grid.Accounting
	if n := len(f.reply.Records); f.err == nil && n > 0 {
		r = f.reply.Records[n-1]
	}
	code := 1
	switch {
	case f.err != nil:
		why = f.err.Error()
	case r == nil:
	case r.DeletedBy != "":
		why = "it was deleted by " + r.DeletedBy
	case r.Failed != 0:
		why = report.Failure(r.Failed).String()
	}
	if r != nil && r.ExitStatus != 0 {
		code = int(r.ExitStatus)
	}
	fmt.Fprintf(l.env.Stderr, "error: %s: %s\n", l.what, why)
	return code
}

// interrupted deletes a job that is not waited for any more.
func (l *caller) interrupted() int {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if l.wait.PETask == "" {
		jobs := gdi.Jobs{Refs: []gdi.JobRef{{ID: l.wait.Job}}}
		if _, err := l.c.Do(ctx, l.command, &gdi.DeleteJobs{Jobs: jobs}); err != nil {
			fmt.Fprintln(l.env.Stderr, err)
		}
	}
	return 1
}
