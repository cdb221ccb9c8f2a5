package submit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/switches"
)

// yesNo makes the Set of a switch that takes y[es]|n[o].
func yesNo(name string, set func(*Submission, bool)) func(*Submission, []string) error {
	return func(s *Submission, w []string) error {
		yes, ok := switches.YesNo(w[0])
		if !ok {
			return switches.Invalidf("invalid option argument \"-%s %s\"", name, w[0])
		}
		set(s, yes)
		return nil
	}
}

// noTerminal is -pty of a job without a user at a terminal. Grid Engine accepts it, too, and the job ends at once.
func noTerminal(s *Submission, w []string) error {
	switch yes, ok := switches.YesNo(w[0]); {
	case !ok:
		return switches.Invalidf("invalid option argument \"-pty %s\"", w[0])
	case yes:
		s.Warnings = append(s.Warnings, gdi.Warn("warning: -pty y has no effect: jobs of qsub have no terminal"))
	}
	return nil
}

// noUser is -u, which selects jobs in other commands. Grid Engine accepts it.
func noUser(s *Submission, _ []string) error {
	s.Warnings = append(s.Warnings, gdi.Warn("warning: -u has no effect: the owner of a job is the user who submits it"))
	return nil
}

// wordsSetter makes the Set of a switch whose lists add up.
func wordsSetter(what, name string, list func(*Submission) *grid.Names) func(*Submission, []string) error {
	return func(s *Submission, w []string) error {
		more := switches.Names(w[0])
		if len(more) == 0 {
			return switches.Invalidf("Wrong %s format %q specified to -%s option", what, w[0], name)
		}
		l := list(s)
		*l = switches.Union(*l, more)
		return nil
	}
}

// pathsSetter makes the Set of a switch that takes a path_list.
func pathsSetter(what, name string, list func(*Submission) *grid.Names) func(*Submission, []string) error {
	return func(s *Submission, w []string) error {
		l := list(s)
		more := switches.Paths(*l, w[0])
		if len(switches.Names(w[0])) == 0 {
			return switches.Invalidf("Wrong %s list format %q specified to -%s option", what, w[0], name)
		}
		*l = more
		return nil
	}
}

// parseCount reads an unsigned number or refuses it with the text.
func parseCount(text, refusal string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, switches.Errorf("%s", refusal)
	}
	return uint32(n), nil
}

// setContext makes the Set of -ac, -dc and -sc. For qsub they work on one
// list, in order; qalter sends the list and says what to do with it.
func setContext(name string) func(*Submission, []string) error {
	return func(s *Submission, w []string) error {
		values, ok := switches.Values(w[0])
		if !ok || w[0] == "" {
			return switches.Invalidf("Wrong context list format -%s %q", name, w[0])
		}
		for _, other := range []string{"ac", "dc", "sc"} {
			if s.table.Name == "qalter" && other != name && s.isGiven(other) {
				return switches.Errorf("-%s and -%s together are not supported: change the context in two steps", other, name)
			}
		}
		if name == "sc" {
			s.context = grid.Assigned{}
		}
		if name == "dc" && s.table.Name == "qsub" {
			s.context.Drop(values)
		} else {
			s.context.Set(values...)
		}
		return nil
	}
}

// setOccasions reads -c: when a job is checkpointed, as letters or an interval.
func (s *Submission) setOccasions(text string) error {
	switch seconds, ok := grid.ParseTimeSpan(text); {
	case ok && seconds > 0 && seconds < grid.Infinity:
		s.Job.CkptSeconds = uint32(seconds)
	case text == "n" || text != "" && strings.Trim(text, "smxr") == "":
		s.Job.CkptWhen = text
	default:
		return switches.Errorf("-c specifier invalid")
	}
	return nil
}

// mailOptions reads the letters of -m; several -m add up, n alone is none.
func (s *Submission) mailOptions(text string) error {
	if strings.Trim(text, ",") == "" || strings.Trim(text, "abesn,") != "" {
		return switches.Invalidf("Wrong mail options list format %q specified to -m option", text)
	}
	letters := ""
	for _, l := range "abes" {
		if strings.ContainsRune(text+s.Job.Spec.MailOptions, l) {
			letters += string(l)
		}
	}
	if strings.Contains(text, "n") {
		letters = "n"
	}
	s.Job.Spec.MailOptions = letters
	return nil
}

// taskRange is -t: the tasks of an array.
func (s *Submission) taskRange(text string) error {
	tasks, err := switches.TaskRange(text)
	if err != nil {
		return err
	}
	s.Job.Array, s.Job.Tasks = true, tasks
	return nil
}

// setHolds reads qalter's -h: small letters set a hold, capitals and n remove it.
func (s *Submission) setHolds(text string) error {
	if text == "" || strings.Trim(text, "usonUSO") != "" {
		return switches.UnknownHolds(text)
	}
	for _, l := range text {
		switch l {
		case 'u', 's', 'o':
			s.HoldAdd += string(l)
		case 'U', 'S', 'O':
			s.HoldRemove += strings.ToLower(string(l))
		case 'n':
			s.HoldRemove = "uos"
		}
	}
	return nil
}

// setVariables is -v: a variable without a value takes that of the environment.
func (s *Submission) setVariables(text string) error {
	wrong := fmt.Sprintf("Wrong variable list format -v %q or environment variable not set", text)
	words := switches.Assignments(text)
	if len(words) == 0 {
		return switches.Invalidf("%s", wrong)
	}
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		if name == "" {
			return switches.Invalidf("%s", wrong)
		}
		if err := grid.BadVariable(name); err != nil {
			return switches.Invalidf("-v: %v", err)
		}
		if !given {
			value = s.origin.Getenv(name)
		}
		s.vars.Set(grid.Value{Name: name, Text: value})
	}
	return nil
}

// optionFile is -@: the switches in a file stand where -@ stands.
func (s *Submission) optionFile(path string) error {
	if err := s.origin.notAway("-@"); err != nil {
		return err
	}
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.origin.Dir, file)
	}
	if _, err := os.Stat(file); err != nil {
		return switches.Errorf("error opening %s: %s", path, systemText(err))
	}
	if s.optionFiles++; s.optionFiles > mostOptionFiles {
		return switches.Errorf("more than %d files of options: -@ %s names itself, or others that do", mostOptionFiles, path)
	}
	soft, scope := s.soft, s.scope
	defer func() { s.soft, s.scope = soft, scope }()
	return s.readFile(file, s.table)
}

// mostOptionFiles is how many files -@ may name altogether.
const mostOptionFiles = 100

// softList is the place of the soft list among those that -l and -q add to; that of a hard one is its grid.TaskScope.
const softList = 3

// listPlace returns the place of the list to which a switch adds, and notes its name, by which qalter changes it.
func (s *Submission) listPlace(names [softList + 1]string) (place int, err error) {
	switch place = int(s.scope); {
	case s.soft && s.scope != grid.AllTasks:
		return 0, switches.Invalidf("soft requests can be made in scope global only")
	case s.soft:
		place = softList
	}
	s.lists = append(s.lists, names[place])
	return place, nil
}

// resourceList is the list that -l adds to.
func (s *Submission) resourceList() (*grid.Requests, error) {
	i, err := s.listPlace([...]string{grid.AllTasks: "l", grid.MasterTask: "master_l", grid.SlaveTasks: "slave_l",
		softList: "soft_l"})
	j := s.Job
	return [...]*grid.Requests{grid.AllTasks: &j.Hard, grid.MasterTask: &j.MasterHard, grid.SlaveTasks: &j.SlaveHard,
		softList: &j.Soft}[i], err
}

// queueList is the list that -q adds to.
func (s *Submission) queueList() (*grid.Names, error) {
	j := s.Job
	if !s.queues {
		j.HardQueues, j.SoftQueues, j.SlaveQueues, s.queues = nil, nil, nil, true
	}
	i, err := s.listPlace([...]string{grid.AllTasks: "q", grid.MasterTask: "masterq", grid.SlaveTasks: "slave_q",
		softList: "soft_q"})
	return [...]*grid.Names{grid.AllTasks: &j.HardQueues, grid.MasterTask: &j.MasterQueues,
		grid.SlaveTasks: &j.SlaveQueues, softList: &j.SoftQueues}[i], err
}

// isGiven reports whether a switch was given.
func (s *Submission) isGiven(name string) bool { return slices.Contains(s.Set, name) }

// setVerifier is -jsv: a submission verifier that is to look at the job.
func (s *Submission) setVerifier(text string) error {
	if err := s.origin.notAway("-jsv"); err != nil {
		return err
	}
	url, err := jsv.ClientURL(text)
	if err == nil {
		if file, failed := os.Stat(url.Path); failed != nil || !file.Mode().IsRegular() || file.Mode()&0o111 == 0 {
			err = jsv.Unusable(text)
		}
	}
	if err != nil {
		return &switches.Error{Text: err.Error(), Code: 3}
	}
	s.Verifiers = append(s.Verifiers, url)
	return nil
}
