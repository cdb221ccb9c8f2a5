package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

func validHGroup(c *cell.Cell, o grid.Object) string {
	g := o.(*grid.HGroup)
	if !strings.HasPrefix(g.Name, "@") || Name("host group", g.Name[1:]) != "" {
		return fmt.Sprintf("host group name %q is not valid", g.Name)
	}
	for _, n := range g.HostList {
		if !strings.HasPrefix(n, "@") {
			continue
		}
		if n == g.Name || groupContains(c, n, g.Name) {
			return fmt.Sprintf("Hostgroup %q in specification of %q would create a cycle", n, g.Name)
		}
	}
	return ""
}

func hgroupRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	return missing(c, "hostlist", grid.KindHGroup, groupsIn(o.(*grid.HGroup).HostList))
}

// groupsIn are the host groups in a list of hosts.
func groupsIn(hosts grid.Names) (groups grid.Names) {
	for _, n := range hosts {
		if strings.HasPrefix(n, "@") {
			groups = append(groups, n)
		}
	}
	return groups
}

// groupContains reports whether group holds the group wanted, at any depth.
func groupContains(c *cell.Cell, group, wanted string) bool {
	g := c.State.HGroup(group)
	if g == nil {
		return false
	}
	for _, n := range g.HostList {
		if n == wanted || strings.HasPrefix(n, "@") && groupContains(c, n, wanted) {
			return true
		}
	}
	return false
}

func hgroupInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	var queues, groups []string
	c.EachCQueue(func(q *grid.CQueue) string {
		if q.HostList.Has(name) {
			queues = append(queues, q.Name)
		}
		return ""
	})
	if len(queues) > 0 {
		return fmt.Sprintf("denied: these cluster queues still reference %q: %s", name, strings.Join(queues, ", "))
	}
	c.State.Each(grid.KindHGroup, func(o grid.Object) bool {
		if g := o.(*grid.HGroup); g.HostList.Has(name) {
			groups = append(groups, g.Name)
		}
		return true
	})
	if len(groups) > 0 {
		return fmt.Sprintf("denied: these host groups still reference %q: %s", name, strings.Join(groups, ", "))
	}
	return ""
}

func validExecHost(c *cell.Cell, o grid.Object) string {
	h := o.(*grid.ExecHost)
	if t := Name("host", h.Name); t != "" {
		return t
	}
	return badScaling(h.UsageScaling)
}

func execHostRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	h := o.(*grid.ExecHost)
	for _, n := range h.ReportVariables {
		if c.Centry(n) == nil {
			return gdi.Invalid("report_variables", fmt.Sprintf("unknown resource %q", n))
		}
	}
	values, bad := badMaps(c, h.ComplexValues)
	return cmp.Or(gdi.Invalid("complex_values", cmp.Or(bad, badCapacities(c, values))),
		gdi.Invalid("load_scaling", badValues(c, h.LoadScaling)),
		missing(c, "user_lists", grid.KindUserset, h.UserLists), missing(c, "xuser_lists", grid.KindUserset, h.XUserLists),
		missing(c, "projects", grid.KindProject, h.Projects), missing(c, "xprojects", grid.KindProject, h.XProjects))
}

func execHostInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	if name == grid.GlobalHost {
		return `denied: can't delete the "global" host`
	}
	if t := c.EachCQueue(func(q *grid.CQueue) string {
		if c.State.QInstance(q.Name, name) != nil {
			return fmt.Sprintf("Host object %q is still referenced in cluster queue %q.", name, q.Name)
		}
		return ""
	}); t != "" {
		return t
	}
	if len(c.State.OnHost(name)) > 0 {
		return fmt.Sprintf("Host object %q still has running jobs.", name)
	}
	return ""
}

// badScaling refuses usage_scaling of anything but cpu, mem and io.
func badScaling(scaling grid.Values) string {
	for _, v := range scaling {
		if i := slices.Index(grid.UsageNames[:], v.Name); i < 0 || i == grid.UsageFinishedJobs {
			return fmt.Sprintf("denied: unknown usage type %q in usage_scaling", v.Name)
		}
		if f, err := strconv.ParseFloat(v.Text, 64); err != nil || !(f >= 0) || f >= grid.Infinity {
			return fmt.Sprintf("denied: invalid value %q of %s in usage_scaling", v.Text, v.Name)
		}
	}
	return ""
}
