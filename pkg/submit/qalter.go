package submit

import (
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Qalter is the language of qalter(1): qsub's, with jobs in the place of a script.
func Qalter(o Origin) *switches.Command[Submission] {
	c := commonCommand("qalter", o)
	c.Usage = "[options] job_task_list"
	c.Legend = switches.JobOperandLegend + "\n"
	c.Terms = func() string { return legendOf(c.Switches) + switches.JobTaskListLegend }
	c.Operand = func(s *Submission, rest []string) (int, error) { return switches.JobWord(&s.Jobs.Refs, rest) }
	c.Unknown = unknownToQalter
	c.Prefix, c.Code = "qalter: ", 2
	return c
}

// notAltered are switches of qsub that say nothing about a job that exists.
var notAltered = grid.Names{"-clear", "-terse", "-now", "-display", "-sync", "-jsv", "-C"}

// unknownToQalter refuses a switch. Grid Engine's exit status for those of qsub that
// qalter does not take is 5.
func unknownToQalter(word string) error {
	if notAltered.Has(word) {
		return &switches.Error{Text: "Unknown option " + word, Code: 5}
	}
	return switches.Errorf("invalid option argument %q", word)
}

// Alter is the request that the words of a qalter make. Its Set names what is
// to be changed by the switch that says so; -l and -q after -soft are soft_l
// and soft_q, after -scope master_l, slave_l, masterq and slave_q, -wd is cwd, -V is v.
func (s *Submission) Alter() (*gdi.Alter, error) {
	if err := switches.CheckJobs(s.Jobs); err != nil {
		return nil, err
	}
	a := &gdi.Alter{Jobs: s.Jobs, Job: s.Job, HoldAdd: s.HoldAdd, HoldRemove: s.HoldRemove, Now: s.now}
	if err := s.whenFits(); err != nil {
		return nil, err
	}
	for _, name := range s.Set {
		switch name {
		case "@", "fmt", "hard", "soft", "scope", "h", "t", "u", "when": // they select or qualify, and change nothing
		case "l", "q": // they have noted which lists they change
		case "wd":
			a.Set = append(a.Set, "cwd")
		case "V":
			a.Set = append(a.Set, "v")
		case "bamount", "bfilter", "binstance", "bstrategy", "btype", "bunit":
			a.Set = append(a.Set, "binding")
		default:
			a.Set = append(a.Set, name)
		}
	}
	a.Set = append(a.Set, s.lists...)
	slices.Sort(a.Set)
	a.Set = slices.Compact(a.Set)
	s.setContext()
	return a, tooLong(a.Job)
}

// whenFits returns why -when cannot stand beside the other switches.
func (s *Submission) whenFits() error {
	switch {
	case !slices.Contains(s.Set, "when"):
		return nil
	case !slices.Contains(s.Set, "l"):
		return switches.Errorf("-when says when -l takes effect: it needs -l")
	case s.now && len(s.Job.Soft) > 0:
		return switches.Errorf("-when now changes no soft requests")
	case s.now && len(s.Job.MasterHard)+len(s.Job.SlaveHard) > 0:
		return switches.Errorf("-when now changes limits, which hold in scope global only")
	}
	return nil
}
