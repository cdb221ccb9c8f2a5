package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// paramsOf are the parameters of a submission verifier after the switches of
// qalter that are called otherwise, jsv_script_interface(3).
var paramsOf = map[string]grid.Names{
	"l": {"l_hard"}, "soft_l": {"l_soft"}, "q": {"q_hard"}, "soft_q": {"q_soft"},
	"master_l": {"master_l_hard"}, "slave_l": {"slave_l_hard"}, "slave_q": {"slave_q_hard"}, "dc": {"ac"}, "sc": {"ac"},
	"pe": {"pe_name", "pe_min", "pe_max"}, "c": {"c_interval", "c_occasion"}, "args": {"CMDARGS"},
}

// mayAllow are the names that jsv_allowed_mod may have: those of whatever qalter
// changes, and of what it never does.
var mayAllow = func() grid.Names {
	names := grid.Names{"h", "p", "ot", "js", "t", "t_min", "t_max", "t_step", "b", "display", "shell", "CMDNAME"}
	for name := range maps.Keys(Attributes) {
		names = append(names, modified(name)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}()

func modified(name string) grid.Names {
	if names := paramsOf[name]; names != nil {
		return names
	}
	return grid.Names{name}
}

// setsParam reports whether a job sets the parameter, which shares its switch with
// others.
func setsParam(j *grid.Job, param string) bool {
	switch {
	case param == "pe_max": // of a range
		return len(j.PERange) == 0 || j.PERange[0].First != j.PERange[len(j.PERange)-1].Last
	case param == "c_interval":
		return j.CkptSeconds > 0
	case param == "c_occasion":
		return j.CkptSeconds == 0
	}
	return true
}

// unknownMods refuses a jsv_allowed_mod that allows what there is not.
func unknownMods(names grid.Names) string {
	for _, name := range names {
		if !mayAllow.Has(name) {
			return fmt.Sprintf("denied: unknown parameter %q in jsv_allowed_mod; known are: %s", name,
				strings.Join(mayAllow, " "))
		}
	}
	return ""
}

// Unverified returns why a change of jobs that the submission verifier (jsv_url) has
// accepted is denied, or "". Only attributes listed in jsv_allowed_mod of sge_conf(5) may
// be changed, by any user including managers; -w is always allowed.
func Unverified(c *cell.Cell, b *gdi.Alter) string {
	if c.Param("jsv_url") == "" {
		return ""
	}
	allowed := cell.ConfNames(c.Param("jsv_allowed_mod"))
	var no grid.Names
	for _, name := range b.Set {
		for _, p := range modified(name) {
			if name != "w" && !allowed.Has(p) && setsParam(b.Job, p) {
				no = append(no, p)
			}
		}
	}
	if b.HoldAdd+b.HoldRemove != "" && !allowed.Has("h") {
		no = append(no, "h")
	}
	switch {
	case len(no) == 0:
		return ""
	case len(allowed) == 0:
		return "No job modification allowed due to jsv_allowed_mod configuration"
	}
	return "rejected due to jsv_allowed_mod configuration which does not allow: " + strings.Join(no, ",")
}
