package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// SchedParams are the words of params of sched_conf(5). PE_RANGE_ALG and JC_FILTER
// say how Grid Engine searches, and what they promise always holds: of a range the
// largest amount that fits is found at once, and a category that cannot start is
// not looked at again.
var SchedParams = grid.Names{"IMMEDIATE", "MONITOR", "PROFILE", "PE_RANGE_ALG", "JC_FILTER", "DURATION_OFFSET",
	"DURATION_LIMIT", "DECAY", "PRIORITY_RANGE",
	"USER_SORT", "WEIGHT_TICKETS_DEADLINE", "SHARE_DEADLINE_TICKETS"}

func validConf(c *cell.Cell, o grid.Object) string {
	entries := o.(*grid.Conf).Entries
	if len(entries) == 0 {
		return fmt.Sprintf("denied: the configuration of %q has no parameters", o.Key())
	}
	for _, e := range entries {
		p := grid.ParameterOf(e.Name)
		switch {
		case p == nil:
			return fmt.Sprintf("denied: unknown configuration parameter %q", e.Name)
		case strings.HasPrefix(e.Name, "jsv_") && o.Key().Name != grid.GlobalConf:
			return fmt.Sprintf("denied: %s stands in the global configuration only", e.Name)
		}
		if t := p.Invalid(e.Text); t != "" {
			return "denied: " + t
		}
		if t := badParameter(c, e); t != "" {
			return t
		}
	}
	return ""
}

// confWithoutEffect returns which parameters of a new configuration, or of those
// that changed, have no effect.
func confWithoutEffect(old, new grid.Object) (out []string) {
	var was grid.Values
	if old != nil {
		was = old.(*grid.Conf).Entries
	}
	for _, e := range new.(*grid.Conf).Entries {
		if before, set := was.Get(e.Name); !set || before != e.Text {
			out = append(out, grid.ParameterOf(e.Name).WithoutEffect(e.Text)...)
		}
	}
	return out
}

// badParameter is what a parameter's text demands of the cell, and what its words
// say.
func badParameter(c *cell.Cell, e grid.Value) string {
	bad := fmt.Sprintf("denied: got invalid value %q for %s", e.Text, e.Name)
	switch e.Name {
	case "qmaster_params":
		conf := &grid.Conf{Entries: grid.Values{e}}
		if _, _, ok := conf.KeptOrders(); !ok {
			return bad
		}
		if _, _, ok := conf.KeptHistory(); !ok {
			return bad
		}
		if _, _, ok := conf.JSV(); !ok {
			return bad
		}
		if _, wrong := conf.Logins(); wrong != "" {
			return "denied: " + wrong
		}
	case "execd_params":
		conf := &grid.Conf{Entries: grid.Values{e}}
		for _, name := range []string{"NOTIFY_KILL", "NOTIFY_SUSP"} {
			if signal, given := conf.Param(e.Name, name); given && !isSignal(strings.TrimPrefix(signal, "SIG")) {
				return fmt.Sprintf("denied: %s=%s in execd_params is no signal", name, signal)
			}
		}
		if by, given := conf.Param(e.Name, "H_VMEM"); given && !slices.Contains([]string{"cgroup", "rlimit", "both"}, by) {
			return fmt.Sprintf("denied: H_VMEM=%s in execd_params is not cgroup, rlimit or both", by)
		}
	case "reporting_params":
		if _, bad := (&grid.Conf{Entries: grid.Values{e}}).Reporting(); bad != "" {
			return "denied: " + bad
		}
	case "jsv_url":
		if _, err := jsv.ServerURL(e.Text); err != nil && !strings.EqualFold(e.Text, "none") {
			return err.Error()
		}
	case "jsv_allowed_mod":
		return unknownMods(cell.ConfNames(e.Text))
	}
	return ""
}

func confRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	for _, e := range o.(*grid.Conf).Entries {
		var refusal *gdi.Answer
		switch e.Name {
		case "user_lists", "xuser_lists":
			refusal = missing(c, e.Name, grid.KindUserset, cell.ConfNames(e.Text))
		case "projects", "xprojects", "auto_user_default_project":
			refusal = missing(c, e.Name, grid.KindProject, cell.ConfNames(e.Text))
		}
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

func confInUse(_ *cell.Cell, o grid.Object) string {
	if o.Key().Name == grid.GlobalConf {
		return "denied: the global configuration can't be deleted"
	}
	return ""
}
