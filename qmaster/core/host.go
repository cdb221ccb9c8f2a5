package core

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

func validHGroup(c *Core, o grid.Object) string {
	g := o.(*grid.HGroup)
	if !strings.HasPrefix(g.Name, "@") || validName("host group", g.Name[1:]) != "" {
		return fmt.Sprintf("host group name %q is not valid", g.Name)
	}
	for _, n := range g.HostList {
		if !strings.HasPrefix(n, "@") {
			continue
		}
		if n == g.Name || c.groupContains(n, g.Name) {
			return fmt.Sprintf("Hostgroup %q in specification of %q would create a cycle", n, g.Name)
		}
	}
	return ""
}

func hgroupRefers(c *Core, o grid.Object) *gdi.Answer {
	return c.missing("hostlist", grid.KindHGroup, groupsIn(o.(*grid.HGroup).HostList))
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
func (c *Core) groupContains(group, wanted string) bool {
	g := c.state.HGroup(group)
	if g == nil {
		return false
	}
	for _, n := range g.HostList {
		if n == wanted || strings.HasPrefix(n, "@") && c.groupContains(n, wanted) {
			return true
		}
	}
	return false
}

func hgroupInUse(c *Core, o grid.Object) string {
	name := o.Key().Name
	var queues, groups []string
	c.eachCQueue(func(q *grid.CQueue) string {
		if q.HostList.Has(name) {
			queues = append(queues, q.Name)
		}
		return ""
	})
	if len(queues) > 0 {
		return fmt.Sprintf("denied: these cluster queues still reference %q: %s", name, strings.Join(queues, ", "))
	}
	c.state.Each(grid.KindHGroup, func(o grid.Object) bool {
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

// hgroupChanged brings the instances of all queues that may use the group up
// to date.
func hgroupChanged(c *Core, _, _ grid.Object) {
	for _, q := range c.state.CQueues() {
		for _, h := range q.HostList {
			if strings.HasPrefix(h, "@") {
				c.syncInstances(q)
				break
			}
		}
	}
}

func validExecHost(c *Core, o grid.Object) string {
	h := o.(*grid.ExecHost)
	if t := validName("host", h.Name); t != "" {
		return t
	}
	return badScaling(h.UsageScaling)
}

func execHostRefers(c *Core, o grid.Object) *gdi.Answer {
	h := o.(*grid.ExecHost)
	for _, n := range h.ReportVariables {
		if c.centry(n) == nil {
			return wrong("report_variables", fmt.Sprintf("unknown resource %q", n))
		}
	}
	values, bad := c.badMaps(h.ComplexValues)
	return cmp.Or(wrong("complex_values", cmp.Or(bad, c.badCapacities(values))), wrong("load_scaling", c.badValues(h.LoadScaling)),
		c.missing("user_lists", grid.KindUserset, h.UserLists), c.missing("xuser_lists", grid.KindUserset, h.XUserLists),
		c.missing("projects", grid.KindProject, h.Projects), c.missing("xprojects", grid.KindProject, h.XProjects))
}

func execHostInUse(c *Core, o grid.Object) string {
	name := o.Key().Name
	if name == grid.GlobalHost {
		return `denied: can't delete the "global" host`
	}
	if t := c.eachCQueue(func(q *grid.CQueue) string {
		if c.state.QInstance(q.Name, name) != nil {
			return fmt.Sprintf("Host object %q is still referenced in cluster queue %q.", name, q.Name)
		}
		return ""
	}); t != "" {
		return t
	}
	if len(c.state.OnHost(name)) > 0 {
		return fmt.Sprintf("Host object %q still has running jobs.", name)
	}
	return ""
}

// execHostChanged keeps administrative and submit rights and the load in step
// with the host, as qconf -ae and -de do.
func execHostChanged(c *Core, old, new grid.Object) {
	switch {
	case new == nil:
		if c.state.Load(old.Key().Name) != nil {
			c.emit(events.Del(grid.KindLoad, old.Key()))
		}
	case old == nil && new.Key().Name != grid.GlobalHost:
		c.addMissing(&grid.AdminHost{Name: new.Key().Name})
	}
	if old != nil {
		c.forgetInstances(old.Key().Name)
	}
}
