package opt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/userdb"
)

// Env is everything a command needs from around it, so that tests can run
// commands without a process or a cell.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        []string
	Dir            string                                      // working directory, "": it has been removed
	Host           string                                      // this machine's name
	Resolve        func(ctx context.Context, host string) bool // whether the resolver of this machine knows a host
	Connect        func(context.Context) (client.Client, error)
	Now            func() time.Time
	Context        context.Context // ends when the user interrupts; nil: never

	json    bool         // see In
	orderly *atomic.Bool // see StopsItself
	talking *atomic.Bool // see Converse

	completing bool // see Completing
}

// StopsItself sets that from now on the program ends by itself when its context
// has ended, however long that takes: as daemons do, and commands that wait for a
// job. Others are ended by the signal; see Main.
func (e Env) StopsItself() {
	if e.orderly != nil {
		e.orderly.Store(true)
	}
}

// Here is what this process gives its command.
func Here(ctx context.Context) Env {
	dir, _ := os.Getwd()
	here, _ := os.Hostname()
	var once sync.Once
	notice := func(text string) { once.Do(func() { fmt.Fprintln(os.Stderr, text) }) }
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Dir: dir, Host: here,
		Connect: func(ctx context.Context) (client.Client, error) { return client.ConnectHere(ctx, notice) },
		Now:     time.Now, Context: ctx,
		Resolve: func(ctx context.Context, host string) bool {
			_, err := net.DefaultResolver.LookupHost(ctx, host)
			return err == nil || host == here // which only nss-myhostname(8) may know
		},
	}
}

// WithEnviron returns the environment with these variables, NAME=VALUE; of several with one name the last counts.
func (e Env) WithEnviron(list []string) Env {
	e.Environ, e.Getenv = list, submit.Variables(list)
	return e
}

// Log prints a line that is neither an answer nor an error: beside a document, on stderr.
func (e Env) Log(text string) {
	out := e.Stdout
	if e.json {
		out = e.Stderr
	}
	fmt.Fprintln(out, text)
}

func (e Env) context() context.Context {
	if e.Context == nil {
		return context.Background()
	}
	return e.Context
}

// Origin returns what a submission reads of this environment.
func (e Env) Origin() submit.Origin {
	return submit.Origin{Stdin: e.Stdin, Getenv: e.Getenv, Environ: e.Environ, Dir: e.Dir, Host: e.Host,
		Common: e.common(), Now: e.Now}
}

// common is the directory of the files that all hosts of the cell share; empty when the environment names no cell.
func (e Env) common() string {
	cell, err := cell.FindIn(e.Getenv)
	if err != nil {
		return ""
	}
	return cell.Common()
}

// User returns the name of the user that commands act as: the owner of the token that they connect with, else the user
// who runs this process.
func (e Env) User() string {
	if owner := e.tokenOwner(); owner != "" {
		return owner
	}
	if u, err := userdb.Current(); err == nil {
		return u.Username
	}
	return e.Getenv("USER")
}

// tokenOwner returns the owner of the token in the environment; "" without one, or when qmaster does not know it.
func (e Env) tokenOwner() string {
	token := e.Getenv(grid.TokenVariable)
	if token == "" {
		return ""
	}
	c, err := e.Connect(e.context())
	if err != nil {
		return "" // which the command reports
	}
	defer c.Close()
	owner, _ := client.TokenOwner(e.context(), c, token)
	return owner
}

// Do connects, sends one request and returns the reply. Without a qmaster it prints the
// error and ok is false; the command exits 1.
func (e Env) Do(ctx context.Context, command string, body gdi.Body) (reply gdi.Reply, ok bool) {
	c, err := e.Connect(ctx)
	if err == nil {
		defer c.Close()
		reply, err = c.Do(ctx, command, body)
	}
	if err != nil {
		e.Report(err, 1)
	}
	return reply, err == nil
}

// Fetch connects and returns what a Get asks for as a state, which is no more than these objects.
func (e Env) Fetch(ctx context.Context, get gdi.Get) (*state.State, error) {
	c, err := e.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return client.Fetch(ctx, c, get)
}

// Owners returns the users of a listing's -u: the caller without it, and the caller's name for $user.
func (e Env) Owners(users grid.Names) grid.Names {
	if len(users) == 0 {
		return grid.Names{e.User()}
	}
	users = slices.Clone(users)
	for i, u := range users {
		if u == "$user" {
			users[i] = e.User()
		}
	}
	return users
}

// Fail prints an error, unless it has no text, and returns the exit status of a listing
// that failed: 1. An unreachable qmaster is reported in two lines.
func (e Env) Fail(err error) int {
	if away := (*client.Unreachable)(nil); errors.As(err, &away) && !e.json {
		fmt.Fprintf(e.Stderr, "error: %s\nerror: %s\n", away.Commlib(), away.Send())
		e.PrintHint(err)
		return 1
	}
	return e.Report(err, 1)
}

// Print prints the answers, errors too on stdout as qdel, qmod and qalter do, and returns
// the exit status: 0, or 1 when something was refused.
func (e Env) Print(answers []gdi.Answer) int { return e.printAnswers(e.Stdout, answers) }

// PrintHints prints on stderr what may be done about refusals.
func (e Env) PrintHints(answers ...gdi.Answer) {
	for _, a := range answers {
		if a.Hint != "" {
			fmt.Fprintln(e.Stderr, "hint:", a.Hint)
		}
	}
}

// PrintHint prints on stderr what may be done about an error.
func (e Env) PrintHint(err error) {
	var refusal *gdi.Refusal
	var away *client.Unreachable
	var none *cell.NotFound
	switch {
	case errors.As(err, &refusal):
		e.PrintHints(refusal.Answer)
	case errors.As(err, &away):
		e.PrintHints(gdi.Answer{Hint: fmt.Sprintf(
			"on host %s look at systemctl status quill-qmaster and journalctl -u quill-qmaster, or start the cell with quill up",
			away.Host)})
	case errors.As(err, &none):
		e.PrintHints(gdi.Answer{Hint: "set SGE_ROOT and SGE_CELL to those of a cell, or make one with quill up"})
	}
}

// RefusedCode is the exit status of a submission that qmaster has refused: 25
// when only as many jobs as there are may be, else 1.
func RefusedCode(reply gdi.Reply) int {
	for _, a := range reply.Answers {
		if a.Status == gdi.StatusLimit {
			return 25
		}
	}
	return 1
}

// PrintErrors is Print for commands that print errors and warnings on stderr, as qconf
// does.
func (e Env) PrintErrors(answers []gdi.Answer) int {
	code := 0
	for _, a := range answers {
		w := e.Stderr
		if a.Quality == gdi.Info {
			w = e.Stdout
		}
		code = max(code, e.printAnswers(w, []gdi.Answer{a}))
	}
	return code
}

func (e Env) printAnswers(w io.Writer, answers []gdi.Answer) int {
	code := 0
	for _, a := range answers {
		if a.Text != "" {
			fmt.Fprintln(w, a.Text)
		}
		e.PrintHints(a)
		if a.Status != gdi.StatusOK {
			code = 1
		}
	}
	return code
}

// Count is so many of something in words: 1 job, 2 jobs.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
