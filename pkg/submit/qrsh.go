package submit

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// sessions are the commands whose jobs are a session of their user, and what
// such a job is called when it is one of the login shell.
var sessions = map[string]string{"qrsh": "QRLOGIN", "qlogin": "QLOGIN"}

// Qrsh is the language of qrsh(1).
func Qrsh(o Origin) *switches.Command[Submission] {
	c := sessionCommand("qrsh", o)
	c.Usage = "[options] [command [command_args]]"
	c.Operand = takeCommand
	return c
}

// Qlogin is the language of qlogin(1).
func Qlogin(o Origin) *switches.Command[Submission] {
	c := sessionCommand("qlogin", o)
	c.Usage = "[options]"
	return c
}

func sessionCommand(name string, o Origin) *switches.Command[Submission] {
	c := commonCommand(name, o)
	c.Raw = true
	c.Legend = "\n"
	c.Unknown = func(word string) error { return switches.Errorf("Unknown option %s", word) }
	c.Prefix, c.Code = "error: ", 1
	return c
}

// requestTable is a command's table for the request files, which all commands
// share: what another one understands says nothing.
func requestTable(c *switches.Command[Submission]) *switches.Command[Submission] {
	if sessions[c.Name] == "" {
		return c
	}
	all := *c
	all.Switches = slices.Clone(c.Switches)
	for _, other := range jobSwitches("qsub") {
		if c.Lookup("-"+other.Name) == nil {
			other.Refused, other.Set = "", func(*Submission, []string) error { return nil }
			all.Switches = append(all.Switches, other)
		}
	}
	return &all
}

// isSession reports whether there is no command: the job is one of the user's login
// shell.
func (s *Submission) isSession() bool { return sessions[s.table.Name] != "" && len(s.Command) == 0 }

// Terminal reports whether the job gets one: by default a login shell does and a
// command does not.
func (s *Submission) Terminal() bool {
	if s.pty != nil {
		return *s.pty
	}
	return s.isSession()
}

// Inherited is what a task of a parallel job runs, and where: qrsh -inherit.
// Its Connect is the caller's.
func (s *Submission) Inherited() (host string, launch *grid.Launch, err error) {
	for _, name := range s.Set {
		if !slices.Contains([]string{"inherit", "nostdin", "noshell", "pty", "verbose", "cwd", "wd", "v", "V", "display"},
			name) {
			return "", nil, switches.Errorf("-%s is not supported with -inherit: the job has it already", name)
		}
	}
	if len(s.Command) < 2 {
		return "", nil, switches.Errorf("-inherit needs a host and a command")
	}
	s.setEnvironment()
	spec := s.Job.Spec
	return s.Command[0], &grid.Launch{Args: s.Command[1:], NoShell: spec.NoShell, Env: spec.Env, Cwd: spec.Cwd}, nil
}

// sitDown sets what qrsh and qlogin say by themselves.
func (s *Submission) sitDown() {
	if sessions[s.table.Name] == "" {
		return
	}
	j := s.Job
	j.Binary, j.Immediate, j.Restart = true, true, grid.RestartNo
	j.Spec.Stdout, j.Spec.Stderr = grid.Names{"/dev/null"}, grid.Names{"/dev/null"}
	s.Verbose = s.table.Name == "qlogin"
}

// sessionEnvironment is what the other end of a terminal has to know.
func (s *Submission) sessionEnvironment() {
	if sessions[s.table.Name] == "" {
		return
	}
	env := &s.Job.Spec.Env
	for _, name := range []string{"TERM", "QRSH_WRAPPER"} {
		if _, said := env.Get(name); !said && s.origin.Getenv(name) != "" {
			*env = env.With(name, s.origin.Getenv(name))
		}
	}
	if s.display != "" {
		*env = env.With("DISPLAY", s.display)
	}
	command := s.Command
	if s.Inherit {
		command = command[1:]
	}
	if len(command) > 0 {
		*env = env.With("QRSH_COMMAND", strings.Join(command, " "))
	}
}
