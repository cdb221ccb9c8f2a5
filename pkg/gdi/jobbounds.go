package gdi

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Bounds of what a job keeps.
const (
	// PathMax is how many bytes a path may have, as PATH_MAX of Linux, besides a host in front of it.
	PathMax = 4096
	// StringMax is how many bytes a variable with its value, or an argument, may have: the most that execve(2) of Linux
	// takes.
	StringMax = 128 << 10
	// TextsMax is how many bytes the arguments and the environment of a job may have together, as execve takes them.
	TextsMax = 2 << 20
	// ContextMax is how many bytes the context of a job may have.
	ContextMax = 1 << 20
)

// CheckJob returns why a job cannot be submitted or altered so, because something in it is too long; nil otherwise.
// What it does not look at are lists that are looked up one by one, and the length of the whole request.
func CheckJob(j *grid.Job) error {
	if j == nil || j.Spec == nil {
		return nil
	}
	s := j.Spec
	for i, paths := range [...]grid.Names{s.Stdout, s.Stderr, s.Stdin, s.Shell} {
		for _, p := range paths {
			if longPath(p) {
				return pathTooLong([...]string{"o", "e", "i", "S"}[i], p)
			}
		}
	}
	switch {
	case longPath(s.Cwd):
		return pathTooLong("wd", s.Cwd)
	case len(s.Session) > NameMax:
		return fmt.Errorf("name of a DRMAA session too long, maximum allowed length is %d characters", NameMax)
	case len(s.CommandPrefix) > NameMax:
		return fmt.Errorf("-C: prefix too long, maximum allowed length is %d characters", NameMax)
	case len(s.Connect) > PathMax:
		return fmt.Errorf("address of an interactive client too long, maximum allowed length is %d characters", PathMax)
	case len(s.MailOptions) > NameMax || len(s.Verify) > NameMax:
		return fmt.Errorf("-m or -w: value too long, maximum allowed length is %d characters", NameMax)
	case len(s.Command) > StringMax:
		return fmt.Errorf("command too long, maximum allowed length is %d characters", StringMax)
	case len(s.SubmitCommand) > TextsMax:
		return fmt.Errorf("command line too long, maximum allowed length is %d characters", TextsMax)
	}
	return checkTexts(s.Args, s.Env, s.Context)
}

// checkTexts checks arguments, variables and context.
func checkTexts(args []string, env, context grid.Values) error {
	total := 0
	for _, a := range args {
		if total += len(a) + 1; len(a) > StringMax {
			return fmt.Errorf("argument too long (%d bytes), maximum allowed length is %d characters", len(a), StringMax)
		}
	}
	for i := range env {
		n := len(env[i].Name) + len(env[i].Text) + 2
		if total += n; n > StringMax {
			return fmt.Errorf("variable %q too long (%d bytes), maximum allowed length is %d characters",
				shortened(env[i].Name), n, StringMax)
		}
	}
	if total > TextsMax {
		return fmt.Errorf(
			"arguments and environment too long (%d bytes), maximum allowed length is %d characters: put what is long into a file", total, TextsMax)
	}
	total = 0
	for i := range context {
		n := len(context[i].Name) + len(context[i].Text) + 2
		if total += n; n > StringMax {
			return fmt.Errorf("context variable %q too long (%d bytes), maximum allowed length is %d characters",
				shortened(context[i].Name), n, StringMax)
		}
	}
	if total > ContextMax {
		return fmt.Errorf("context too long (%d bytes), maximum allowed length is %d characters", total, ContextMax)
	}
	return nil
}

// longPath reports whether a [[host]:]path is too long.
func longPath(text string) bool {
	if len(text) <= PathMax {
		return false
	}
	host, path, found := strings.Cut(text, ":")
	if !found || strings.Contains(host, "/") {
		return true
	}
	return len(host) > NameMax || len(path) > PathMax
}

func pathTooLong(option, path string) error {
	return fmt.Errorf("-%s: path too long (%d bytes), maximum allowed length is %d characters", option, len(path), PathMax)
}

// shortened is the beginning of a name.
func shortened(name string) string {
	if len(name) > NameMax {
		return name[:NameMax] + "..."
	}
	return name
}
