package submit

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/switches"
)

// Submission is what the words of qsub, qalter, qrsh and qlogin say: the job,
// and what only the command itself needs to know.
type Submission struct {
	Job  *grid.Job // with Spec
	Line []string  // the words, for Spec.SubmitCommand and for reading them again

	// qsub
	Terse, Sync, Verify bool
	Format              switches.Format
	Verifiers           []jsv.URL    // -jsv, in the order in which they were read; they look at the job in the other
	Prefix              string       // of directive lines, -C; empty: there are none
	Command             []string     // script or program, and its arguments
	Warnings            []gdi.Answer // of options without effect

	// qrsh, qlogin
	Inherit, NoStdin, Verbose bool

	// qalter, qhold, qrls
	Set                 []string // switches given, each once
	HoldAdd, HoldRemove string   // letters u o s
	now                 bool     // -when now
	Jobs                gdi.Jobs

	origin  Origin
	table   *switches.Command[Submission]
	program *program       // of a DRMAA job template; nil: the words name it
	soft    bool           // -soft holds
	scope   grid.TaskScope // -scope that holds
	lists   []string       // that -l and -q have added to, by the names of qalter's attributes
	queues  bool           // -q was given in this source
	environ bool           // -V
	vars    grid.Assigned  // -v
	context grid.Assigned  // -ac, -dc, -sc
	hold    bool           // -h
	pty     *bool          // -pty
	display string         // -display

	optionFiles int // read by -@
}

// DefaultPrefix begins the directive lines of a script unless -C says
// otherwise.
const DefaultPrefix = "#$"

func newSubmission(table *switches.Command[Submission], origin Origin, line []string) *Submission {
	s := &Submission{Line: line, origin: origin, table: table}
	s.clearAll()
	return s
}

// clearAll is -clear: everything is as if nothing had been said.
func (s *Submission) clearAll() {
	s.Job = &grid.Job{JobRequest: &grid.JobRequest{}, Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Spec: &grid.JobSpec{}}
	s.Terse, s.Sync, s.Verify, s.Verifiers = false, false, false, nil
	s.Prefix, s.Set = DefaultPrefix, nil
	s.Format = switches.Format{}
	s.soft, s.environ, s.hold = false, false, false
	s.vars, s.context = grid.Assigned{}, grid.Assigned{}
	s.scope, s.lists = grid.AllTasks, nil
	s.Inherit, s.NoStdin, s.Verbose, s.pty, s.display = false, false, false, nil, ""
	s.sitDown()
}

// beginSource opens a source of words: a request file, the script, the command
// line. Requests are hard at first, and its -q takes the place of those of
// earlier sources.
func (s *Submission) beginSource() {
	s.soft, s.scope, s.queues = false, grid.AllTasks, false
	s.Format.Begin()
}

// readFile reads a file of options. One that does not exist has none.
func (s *Submission) readFile(path string, table *switches.Command[Submission]) error {
	lines, err := switches.FileLines(path)
	for _, words := range lines {
		if err := s.readLine(table, words); err != nil {
			return err
		}
	}
	return err
}

// readLine reads a line of a file or a script: there may be no script or program, and its requests are hard at
// first.
func (s *Submission) readLine(table *switches.Command[Submission], words []string) error {
	s.soft, s.scope = false, grid.AllTasks
	return s.readSwitches(table, words)
}

// readSwitches reads words among which there may be no script or program.
func (s *Submission) readSwitches(table *switches.Command[Submission], words []string) error {
	err := table.Parse(s, words)
	switch {
	case errors.Is(err, switches.ErrHelp):
		return &switches.Error{Text: "-help not allowed in this context", Code: 5}
	case err == nil && len(s.Command) > 0:
		return &switches.Error{Text: "Unknown option " + s.Command[0], Code: 5}
	}
	return err
}

// requestFiles are the files of sge_request(5), in the order in which they
// are read.
func (s *Submission) requestFiles() []string {
	if s.origin.Away {
		return nil
	}
	files, here := s.origin.defaultFiles("sge_request"), filepath.Join(s.origin.Dir, ".sge_request")
	if slices.Contains(files, here) { // at home
		return files
	}
	return append(files, here)
}

// readScript takes the switches embedded in a script; without a prefix there
// are none. A -C among them says nothing.
func (s *Submission) readScript(script []byte, prefix string) error {
	if prefix == "" {
		return nil
	}
	s.beginSource()
	prefixes := [2]string{s.Prefix, s.Job.Spec.CommandPrefix}
	for line := range bytes.Lines(script) {
		text, ok := strings.CutPrefix(string(line), prefix)
		if !ok {
			continue
		}
		if err := s.readLine(s.table, switches.LineWords(text)); err != nil {
			return err
		}
	}
	s.Prefix, s.Job.Spec.CommandPrefix = prefixes[0], prefixes[1]
	return nil
}

// setDerived fills what follows from all switches together, and from the script.
func (s *Submission) setDerived(script []byte) {
	j := s.Job
	if s.hold {
		j.UserHold = grid.Ranges{switches.Exact(j.Tasks)}
	}
	j.Pending = grid.Ranges{switches.Exact(j.Tasks)}
	if j.AR != 0 && j.Spec.Verify == "" {
		j.Spec.Verify = "e" // as qsub(1) says of -ar
	}
	s.setContext()
	s.setIdentity(script)
}

// setContext is what the job has of -ac, -dc and -sc, and its environment.
func (s *Submission) setContext() {
	s.Job.Spec.Context = s.context.Values()
	s.setEnvironment()
}

// setEnvironment is the job's: all of qsub's with -V, then what -v says.
func (s *Submission) setEnvironment() {
	var env grid.Assigned
	if s.environ {
		var own grid.Values
		for _, e := range s.origin.Environ {
			name, value, _ := strings.Cut(e, "=")
			if isExported(name) || shellFunction(name) {
				own = append(own, grid.Value{Name: name, Text: value})
			}
		}
		grid.SortValues(own)
		env.Set(own...)
	}
	env.Set(s.vars.Values()...)
	s.Job.Spec.Env = env.Values()
	s.sessionEnvironment()
}

// shellFunction reports whether a variable is a function that a shell has exported. -V takes it along, and no
// submission verifier sees or sets it: the names are none in most languages.
func shellFunction(name string) bool {
	return strings.HasPrefix(name, "BASH_FUNC_") && grid.VariableName(name)
}

// isExported reports whether -V takes a variable along: not those that Grid Engine
// sets itself, nor shell functions, nor names that -v refuses, nor the token of the user, which would get into the log.
func isExported(name string) bool {
	return grid.VariableName(name) && name != grid.TokenVariable && name != grid.RequestVariable &&
		!strings.HasPrefix(name, "SGE_O_") && !strings.HasPrefix(name, "BASH_FUNC_")
}

// noteGiven notes a switch for qalter.
func (s *Submission) noteGiven(name string) {
	if !slices.Contains(s.Set, name) {
		s.Set = append(s.Set, name)
	}
}

// dateTime reads the value of -a and -dl.
func (s *Submission) dateTime(name, text string) (grid.Time, error) {
	at, ok := switches.DateTime(text, s.origin.Now())
	if !ok {
		return 0, switches.Invalidf("Wrong date/time format %q specified to -%s option", text, name)
	}
	return at, nil
}
