package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// validSchedConf holds the scheduler configuration against sched_conf(5).
func validSchedConf(c *cell.Cell, o grid.Object) string {
	s := o.(*grid.SchedConf)
	if text := badAlgorithm(c, s); text != "" {
		return text
	}
	switch s.QueueSortMethod {
	case "load", "seqno":
	default:
		return fmt.Sprintf("denied: unknown queue_sort_method %q", s.QueueSortMethod)
	}
	if text := badTimes(s); text != "" {
		return text
	}
	if d, _ := s.DefaultDuration.Seconds(); d == 0 && s.MaxReservation != 0 {
		return "denied: resource reservation requires valid default duration"
	}
	if s.MaxPendingTasksPerJob == 0 {
		return `invalid setting for param: "max_pending_tasks_per_job"(should be ">0")`
	}
	if !validJobInfo(s.ScheddJobInfo) {
		return `attribute "schedd_job_info" is not a valid parameter`
	}
	if _, err := complex.ParseFormula(c.Cluster.Complex(), s.LoadFormula); err != nil {
		return "denied: " + err.Error()
	}
	if _, err := shares.NewUsagePolicy(s); err != nil {
		return "denied: " + err.Error()
	}
	if err := shares.CheckConfig(s); err != nil {
		return "denied: " + err.Error()
	}
	return badSchedParams(s)
}

func schedConfRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	return gdi.Invalid("job_load_adjustments", badValues(c, o.(*grid.SchedConf).JobLoadAdjustments))
}

// badAlgorithm has the named algorithm, and those that have a section, check it
// and fill in what it does not say. Sections of unknown ones are refused.
func badAlgorithm(c *cell.Cell, s *grid.SchedConf) string {
	var names []string
	known := s.Algorithm == c.State.SchedConf().Algorithm
	for _, a := range c.Algorithms {
		names = append(names, a.Name)
		known = known || a.Name == s.Algorithm
		if a.Name != s.Algorithm && s.Section(a.Name) == nil {
			continue
		}
		var cell grid.Resources = c.State
		if sameParameters(s.Section(a.Name), c.State.SchedConf().Section(a.Name)) {
			cell = nil // what it names may have gone since
		}
		if err := a.Complete(s, cell); err != nil {
			return fmt.Sprintf("denied: algorithm %s: %s", a.Name, strings.TrimPrefix(err.Error(), a.Name+": "))
		}
	}
	if !known {
		return fmt.Sprintf("denied: scheduling algorithm %q is not known; known are: %s", s.Algorithm,
			strings.Join(names, " "))
	}
	for _, section := range s.Sections {
		if len(names) > 0 && !slices.Contains(names, section.Algorithm) {
			return fmt.Sprintf("denied: scheduling algorithm %q is not known; known are: %s", section.Algorithm,
				strings.Join(names, " "))
		}
	}
	return ""
}

// algorithmNeeds reports whether parameters of an algorithm name an attribute that is to become another one, or to go:
// nil.
func algorithmNeeds(c *cell.Cell, old, is *grid.Centry) bool {
	conf := c.State.SchedConf()
	for _, a := range c.Algorithms {
		before, after := *conf, *conf
		if conf.Section(a.Name) == nil || a.Complete(&before, c.State) != nil {
			continue
		}
		if a.Complete(&after, changedCentry{c.State, old.Name, is}) != nil {
			return true
		}
	}
	return false
}

// changedCentry is the attributes of a cell with another one in the place of one; nil: without it.
type changedCentry struct {
	grid.Resources
	name string
	is   *grid.Centry
}

func (c changedCentry) Centry(name string) *grid.Centry {
	if name == c.name {
		return c.is
	}
	return c.Resources.Centry(name)
}

func sameParameters(a, b []grid.Param) bool {
	return slices.EqualFunc(a, b, func(a, b grid.Param) bool { return a.Name == b.Name && a.Text == b.Text })
}

func badTimes(s *grid.SchedConf) string {
	for _, t := range []struct {
		name    string
		text    grid.TimeText
		endless bool
	}{
		{"schedule_interval", s.ScheduleInterval, false},
		{"load_adjustment_decay_time", s.LoadAdjustmentDecayTime, false},
		{"reprioritize_interval", s.ReprioritizeInterval, false},
		{"default_duration", s.DefaultDuration, true},
	} {
		switch n, ok := t.text.Seconds(); {
		case !ok:
			return fmt.Sprintf("attribute %q is not a time value", t.name)
		case n >= grid.Infinity && !t.endless:
			return fmt.Sprintf("attribute %q is not a value that can be set to infinity", t.name)
		case n == 0 && t.name == "schedule_interval":
			return "denied: schedule_interval must be greater than 0"
		}
	}
	return ""
}

// validJobInfo: true, false, or job_list and the jobs.
func validJobInfo(text string) bool {
	switch word, jobs, _ := strings.Cut(text, " "); word {
	case "true", "false":
		return jobs == ""
	case "job_list":
		return strings.Trim(jobs, "0123456789,- ") == "" && strings.Trim(jobs, " ") != ""
	}
	return false
}

// badSchedParams holds the words of params against what they may say, those of
// sched_conf(5) and this system's own.
func badSchedParams(s *grid.SchedConf) string {
	for _, word := range cell.ConfNames(s.Params) {
		key, _, _ := strings.Cut(word, "=")
		if !SchedParams.Has(strings.ToUpper(key)) {
			return fmt.Sprintf("found unknown param: %q", word)
		}
		value, _ := s.Param(key)
		ok := true
		switch strings.ToUpper(key) {
		case "MONITOR", "PROFILE", "IMMEDIATE", "JC_FILTER":
			_, ok = grid.CentryType("BOOL").Parse(value)
		case "DURATION_OFFSET":
			n, is := grid.ParseTimeSpan(value)
			ok = is && n < grid.Infinity
		case "DURATION_LIMIT":
			ok = value == "min" || value == "max"
		case "PE_RANGE_ALG":
			ok = grid.Names{"auto", "least", "bin", "highest"}.Has(value)
		}
		if !ok {
			return fmt.Sprintf("Invalid scheduler param setting: %q", word)
		}
	}
	return ""
}
