package submit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kballard/go-shellquote"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Qsub is the language of qsub(1).
func Qsub(o Origin) *switches.Command[Submission] {
	c := commonCommand("qsub", o)
	c.Usage = "[options]"
	c.Legend = "   [command [command_args]]\n\n"
	c.Operand = takeCommand
	c.Prefix, c.Code = "qsub: ", 2
	return c
}

// commonCommand returns what the commands of submit(1) have in common.
func commonCommand(name string, o Origin) *switches.Command[Submission] {
	c := &switches.Command[Submission]{Name: name, Indent: 3, Column: 44, Switches: jobSwitches(name),
		Seen: (*Submission).noteGiven}
	c.Terms = func() string { return legendOf(c.Switches) }
	c.New = func(line []string) *Submission { return newSubmission(c, o, line) }
	return c
}

// takeCommand takes the script or program and its arguments: all words that are left.
func takeCommand(s *Submission, rest []string) (int, error) {
	s.Command = rest
	return len(rest), nil
}

// ScriptError is what keeps a job script from being read. Grid Engine exits
// with 14 when it cannot be opened and 4 when it is empty.
type ScriptError struct {
	Text string
	Code int
}

func (e *ScriptError) Error() string {
	return "Unable to read script file because of error: " + e.Text
}

// Complete makes the whole job of a qsub: s holds what the command line says;
// the result also what the request files and the script say, in the order of
// qsub(1), each later source winning over those before. The script is read
// from its file, or from Stdin without one.
func (s *Submission) Complete() (*Submission, error) {
	all, err := s.completeJob()
	if err == nil {
		err = tooLong(all.Job)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// tooLong returns what qmaster would refuse as too long.
func tooLong(j *grid.Job) error {
	if err := gdi.CheckJob(j); err != nil {
		return switches.Errorf("%v", err)
	}
	return nil
}

// completeJob is Complete without the bounds of a job.
func (s *Submission) completeJob() (*Submission, error) {
	said, err := s.readSources(nil, "")
	if err != nil {
		return nil, err
	}
	var script []byte
	all := said
	if !said.Job.Binary && !said.isSession() {
		if script, err = said.loadScript(); err != nil {
			return nil, err
		}
		if all, err = s.readSources(script, said.Prefix); err != nil {
			return nil, err
		}
	}
	if all.Job.Binary { // -b y may also be in the script, which is then executed where it is
		if len(all.Command) == 0 && !all.isSession() {
			return nil, switches.Errorf("command required for a binary job")
		}
		script = nil
	}
	all.setDerived(script)
	return all, nil
}

// readSources reads the request files, the script and the command line, in
// this order.
func (s *Submission) readSources(script []byte, prefix string) (*Submission, error) {
	all := newSubmission(s.table, s.origin, s.Line)
	if all.program = s.program; all.program != nil {
		if err := all.table.Parse(all, templateDefaults); err != nil {
			return nil, err
		}
	}
	for _, file := range s.requestFiles() {
		all.beginSource()
		if err := all.readFile(file, requestTable(all.table)); err != nil {
			return nil, err
		}
	}
	if err := all.readScript(script, prefix); err != nil {
		return nil, s.scriptError(err)
	}
	all.beginSource()
	if all.program != nil {
		return all, all.takeProgram()
	}
	return all, all.table.Parse(all, s.Line)
}

func (s *Submission) scriptError(err error) error {
	var usage *switches.Error
	if errors.As(err, &usage) {
		return &ScriptError{usage.Text, cmp.Or(usage.Code, s.table.Code)}
	}
	return &ScriptError{err.Error(), s.table.Code}
}

// loadScript reads the job script.
func (s *Submission) loadScript() ([]byte, error) {
	if len(s.Command) == 0 {
		text, err := io.ReadAll(s.origin.Stdin)
		if err != nil {
			return nil, &ScriptError{fmt.Sprintf("error reading stdin: %v", err), 14}
		}
		if len(text) == 0 {
			return nil, &ScriptError{"no input read from stdin", 4}
		}
		return text, nil
	}
	if err := s.origin.notAway("a script file"); err != nil {
		return nil, err
	}
	path := s.Command[0]
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.scriptDir(), file)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, syscall.EISDIR) {
		return nil, &ScriptError{"error reading from file " + path, 4}
	}
	if err != nil {
		return nil, &ScriptError{fmt.Sprintf("error opening %s: %s", path, systemText(err)), 14}
	}
	if len(text) == 0 {
		return nil, &ScriptError{"script file " + path + " is empty", 1}
	}
	return text, nil
}

// systemText is the system's word for an error, as strerror(3) prints it.
func systemText(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// nameOf is the job's name after its command: of a line for a shell, as qrsh
// gets it, the first word.
func (s *Submission) nameOf(command string) string {
	if sessions[s.table.Name] != "" {
		words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == ';' })
		if len(words) > 0 {
			command = words[0]
		}
	}
	if command == "" { // qmaster refuses a job without a name
		return ""
	}
	return filepath.Base(command)
}

// setIdentity sets the attributes that identify the job: command, name, where it came from.
func (s *Submission) setIdentity(script []byte) {
	j, spec := s.Job, s.Job.Spec
	spec.Script = script
	name := "STDIN"
	switch {
	case len(s.Command) > 0:
		spec.Command = s.Command[0]
		spec.Args = append(spec.Args, s.Command[1:]...)
		name = s.nameOf(spec.Command)
	case s.isSession():
		name = sessions[s.table.Name]
	default:
		spec.Command = name
	}
	if j.Name == "" && !s.isGiven("N") {
		j.Name = name
	}
	spec.SubmitCommand = shellquote.Join(slices.Concat([]string{s.table.Name}, s.Line, s.programWords())...)
	spec.SubmitHost = s.origin.Host
	for _, o := range []grid.Value{
		{Name: "SGE_O_HOME", Text: s.origin.Getenv("HOME")},
		{Name: "SGE_O_LOGNAME", Text: s.origin.userName()},
		{Name: "SGE_O_PATH", Text: s.origin.Getenv("PATH")},
		{Name: "SGE_O_SHELL", Text: s.origin.Getenv("SHELL")},
		{Name: "SGE_O_MAIL", Text: s.origin.Getenv("MAIL")},
		{Name: "SGE_O_TZ", Text: s.origin.Getenv("TZ")},
		{Name: "SGE_O_WORKDIR", Text: s.origin.Dir},
		{Name: "SGE_O_HOST", Text: s.origin.Host},
	} {
		if o.Text != "" {
			spec.Env = append(spec.Env, o)
		}
	}
}
