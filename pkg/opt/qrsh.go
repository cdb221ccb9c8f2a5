package opt

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// sessions are the commands whose jobs are a session of their user, and what
// such a job is called when it is one of the login shell.
var sessions = map[string]string{"qrsh": "QRLOGIN", "qlogin": "QLOGIN"}

// Qrsh is the language of qrsh(1).
func Qrsh() *Command[Submission] {
	c := session("qrsh")
	c.Usage = "[options] [command [command_args]]"
	c.Operand = func(s *Submission, rest []string) (int, error) {
		s.Command = rest
		return len(rest), nil
	}
	return c
}

// Qlogin is the language of qlogin(1).
func Qlogin() *Command[Submission] {
	c := session("qlogin")
	c.Usage = "[options]"
	return c
}

func session(name string) *Command[Submission] {
	c := &Command[Submission]{
		Name:     name,
		Raw:      true,
		Indent:   3,
		Column:   44,
		Switches: jobSwitches(name),
		Unknown:  func(word string) error { return Errorf("Unknown option %s", word) },
		Seen:     (*Submission).given,
		Prefix:   "error: ",
		Code:     1,
	}
	c.Legend = "\n"
	c.Terms = func() string { return legendOf(c.Switches) }
	c.New = func(env Env, line []string) *Submission { return newSubmission(c, env, line) }
	return c
}

// requestTable is a command's table for the request files, which all commands
// share: what another one understands says nothing.
func requestTable(c *Command[Submission]) *Command[Submission] {
	if sessions[c.Name] == "" {
		return c
	}
	all := *c
	all.Switches = slices.Clone(c.Switches)
	for _, other := range jobSwitches("qsub") {
		if c.lookup("-"+other.Name) == nil {
			other.Refused, other.Set = "", func(*Submission, []string) error { return nil }
			all.Switches = append(all.Switches, other)
		}
	}
	return &all
}

// session says whether there is no command: the job is one of the user's login
// shell.
func (s *Submission) session() bool { return sessions[s.table.Name] != "" && len(s.Command) == 0 }

// Terminal says whether the job gets one: by default a login shell does and a
// command does not.
func (s *Submission) Terminal() bool {
	if s.pty != nil {
		return *s.pty
	}
	return s.session()
}

// Inherited is what a task of a parallel job runs, and where: qrsh -inherit.
// Its Connect is the caller's.
func (s *Submission) Inherited() (host string, launch *grid.Launch, err error) {
	for _, name := range s.Set {
		if !slices.Contains([]string{"inherit", "nostdin", "noshell", "pty", "verbose", "cwd", "wd", "v", "V", "display"}, name) {
			return "", nil, Errorf("-%s is not supported with -inherit: the job has it already", name)
		}
	}
	if len(s.Command) < 2 {
		return "", nil, Errorf("-inherit needs a host and a command")
	}
	s.environment()
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
		if _, said := env.Get(name); !said && s.env.Getenv(name) != "" {
			*env = env.With(name, s.env.Getenv(name))
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
