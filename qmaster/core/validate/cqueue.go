package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

func validCQueue(c *cell.Cell, o grid.Object) string {
	q := o.(*grid.CQueue)
	if t := Name("queue", q.Name); t != "" {
		return t
	}
	for _, n := range cell.AllValues(q.Slots) {
		if t := badSlots(int64(n)); t != "" {
			return t
		}
	}
	for _, m := range cell.AllValues(q.ShellStartMode) {
		switch m {
		case "posix_compliant", "unix_behavior", "script_from_stdin":
		default:
			return fmt.Sprintf("Invalid value %q as shell start mode", m)
		}
	}
	for _, m := range cell.AllValues(q.InitialState) {
		switch m {
		case "default", "enabled", "disabled":
		default:
			return fmt.Sprintf("Invalid value %q as initial state", m)
		}
	}
	for _, p := range cell.AllValues(q.Priority) {
		if p < -20 || p > 20 {
			return "Priority not in range -20 to +20"
		}
	}
	for _, s := range cell.AllValues(q.Shell) {
		if !strings.HasPrefix(s, "/") && s != "" {
			return fmt.Sprintf("Invalid value %q for shell", s)
		}
	}
	return ""
}

func cqueueRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	q := o.(*grid.CQueue)
	for attribute, target := range q.Exceptions() {
		if strings.HasPrefix(target, "@") && c.State.HGroup(target) == nil {
			return gdi.Invalid(attribute, fmt.Sprintf("Did not modify %q for host group %q which does not exist.",
				attribute, target))
		}
	}
	return cmp.Or(missing(c, "hostlist", grid.KindHGroup, groupsIn(q.HostList)),
		missing(c, "pe_list", grid.KindPE, cell.AllValues(q.PEList)...),
		missing(c, "ckpt_list", grid.KindCkpt, cell.AllValues(q.CkptList)...),
		missing(c, "calendar", grid.KindCalendar, cell.AllValues(q.Calendar)),
		gdi.Invalid("subordinate_list", badSubordinates(c, q)),
		missing(c, "user_lists", grid.KindUserset, cell.AllValues(q.UserLists)...),
		missing(c, "xuser_lists", grid.KindUserset, cell.AllValues(q.XUserLists)...),
		missing(c, "projects", grid.KindProject, cell.AllValues(q.Projects)...),
		missing(c, "xprojects", grid.KindProject, cell.AllValues(q.XProjects)...),
		gdi.Invalid("complex_values", badCapacities(c, cell.AllValues(q.ComplexValues)...)),
		gdi.Invalid("load_thresholds", badValues(c, cell.AllValues(q.LoadThresholds)...)),
		gdi.Invalid("suspend_thresholds", badValues(c, cell.AllValues(q.SuspendThresholds)...)))
}

func cqueueInUse(c *cell.Cell, o grid.Object) string {
	q := o.(*grid.CQueue)
	for _, qi := range c.Instances(q.Name) {
		if c.InstanceInUse(qi) {
			return fmt.Sprintf("denied: cluster queue %q still has running jobs", q.Name)
		}
	}
	return c.EachCQueue(func(above *grid.CQueue) string {
		for _, list := range cell.AllValues(above.SubordinateList) {
			if s, _ := site.ParseSubordinates(list); s.Names().Has(q.Name) {
				return fmt.Sprintf("Cluster queue %q is referenced in cluster queue %q as a subordinate. Deletion denied",
					q.Name, above.Name)
			}
		}
		return ""
	})
}

// badSubordinates checks the subordinate_list of a cluster queue.
func badSubordinates(c *cell.Cell, q *grid.CQueue) string {
	for _, list := range cell.AllValues(q.SubordinateList) {
		s, err := site.ParseSubordinates(list)
		if err != nil {
			return err.Error()
		}
		names := s.Names()
		for i, n := range names {
			switch {
			case n == q.Name:
				return fmt.Sprintf("Cluster queue %q can't get subordinated by itself", n)
			case slices.Contains(names[:i], n):
				return fmt.Sprintf("denied: queue %q appears more than once in subordinate_list", n)
			case c.State.CQueue(n) == nil:
				return fmt.Sprintf("Subordinated cluster queue %q referenced in %q does not exist", n, q.Name)
			}
		}
	}
	return ""
}
