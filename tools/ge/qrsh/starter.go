package qrsh

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/tools/ge/qrsh/session"
)

// StarterName is the word by which execd asks for the starter.
const StarterName = report.StarterName

// calling is how long the starter tries to reach qrsh.
const calling = 30 * time.Second

// Starter is the program that execd runs in the place of a command with a
// user in front of it. It calls the user's qrsh, and only when that has let it
// in runs the command; it ends as the command ended. The limits are the
// command's, in the shepherd's words: a Go program would not live under some.
func Starter(env opt.Env, limits string) int {
	outlive()
	exit, err := start(env, limits)
	if err != nil {
		fmt.Fprintf(env.Stderr, "%s: %v\n", StarterName, err)
		return 1
	}
	return exit.Code()
}

func start(env opt.Env, limits string) (session.Exit, error) {
	text, err := os.ReadFile(env.Getenv(report.StarterFile))
	if err != nil {
		return session.Exit{}, err
	}
	what, err := report.ParseStarter(text)
	if err != nil {
		return session.Exit{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), calling)
	defer cancel()
	link, err := session.Connect(ctx, what.Connect)
	if err != nil {
		return session.Exit{}, err
	}
	defer link.Close()
	c := commandOf(env, what)
	if limits != "" {
		c.Through = func(path string, argv []string) (string, []string) {
			return plan.Limited(limits, c.Login, path, argv, c.Env)
		}
	}
	return link.Serve(c)
}

// outlive has the starter outlive what signals the job: the command gets them
// too, and how it ends must still be reported. What is handled here is not
// inherited, as what is ignored would be.
func outlive() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
}

// commandOf is what is run: the user's login shell, or the words by its -c, or
// as they are after QRSH_WRAPPER or with -noshell.
func commandOf(env opt.Env, what report.Starter) session.Command {
	c := session.Command{Dir: env.Dir}
	for _, v := range env.Environ {
		if !strings.HasPrefix(v, report.StarterFile+"=") {
			c.Env = append(c.Env, v)
		}
	}
	wrapper := env.Getenv("QRSH_WRAPPER")
	switch {
	case len(what.Inside) > 0:
		c.Argv = append(slices.Clone(what.Inside), contained(what, wrapper)...)
	case len(what.Args) == 0:
		c.Argv, c.Login = []string{loginShell(env)}, true
	case wrapper != "":
		c.Argv = append([]string{wrapper}, what.Args...)
	case what.NoShell:
		c.Argv = what.Args
	default:
		c.Argv = []string{loginShell(env), "-c", strings.Join(what.Args, " ")}
	}
	return c
}

// contained is what is run in a container, which has no login shell of the user.
func contained(what report.Starter, wrapper string) []string {
	const shell = "/bin/sh"
	switch {
	case len(what.Args) == 0:
		return []string{shell, "-l"}
	case wrapper != "":
		return append([]string{wrapper}, what.Args...)
	case what.NoShell:
		return what.Args
	}
	return []string{shell, "-c", strings.Join(what.Args, " ")}
}

// loginShell is the owner's, passwd(5).
func loginShell(env opt.Env) string {
	shell, err := userdb.Shell(env.Getenv("USER"))
	if err != nil || !filepath.IsAbs(shell) {
		return "/bin/sh"
	}
	return shell
}
