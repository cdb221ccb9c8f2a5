package core

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// matchingInstances are the queue instances that a reference of qmod or -q
// names: a wc_queue of sge_types(1).
func (c *Core) matchingInstances(ref string) []*grid.QInstance {
	if strings.HasPrefix(ref, "@") { // a host alone names no queue
		return nil
	}
	if !gdi.WildQueue(ref) {
		queue, host, one := strings.Cut(ref, "@")
		if !one {
			return c.instances(queue)
		}
		if q := c.state.QInstance(queue, host); q != nil {
			return []*grid.QInstance{q}
		}
		return nil
	}
	meant := pattern.CompileQueue(ref)
	inGroup := func(groups pattern.Expression, host string) bool { return site.InGroup(c.state, groups, host) }
	var out []*grid.QInstance
	for _, q := range c.state.QInstances() {
		if meant.Match(q.Queue, q.Host, inGroup) {
			out = append(out, q)
		}
	}
	return out
}

// queueKnown reports whether a -q element names anything. A cluster queue is
// enough even while it has no instances.
func (c *Core) queueKnown(ref string) bool {
	return c.state.CQueue(ref) != nil || len(c.matchingInstances(ref)) > 0
}

// peKnown reports whether a -pe name or pattern names a parallel environment.
func (c *Core) peKnown(wanted string) bool {
	if c.state.PE(wanted) != nil {
		return true
	}
	for _, p := range c.state.PEs() {
		if pattern.Match(wanted, p.Name) {
			return true
		}
	}
	return false
}

// permits reports whether access lists let a user in: a list that excludes wins;
// where including lists are given one of them must have the user.
func (c *Core) permits(user, group string, lists, xlists grid.Names) bool {
	if len(lists)+len(xlists) == 0 {
		return true
	}
	has := func(names grid.Names) bool {
		for _, n := range names {
			if u := c.state.Userset(n); u != nil && u.Contains(user, group) {
				return true
			}
		}
		return false
	}
	return !has(xlists) && (len(lists) == 0 || has(lists))
}
