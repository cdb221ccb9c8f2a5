package cell

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// MatchingInstances are the queue instances that a reference of qmod or -q
// names: a wc_queue of sge_types(1).
func (c *Cell) MatchingInstances(ref string) []*grid.QInstance {
	if strings.HasPrefix(ref, "@") { // a host alone names no queue
		return nil
	}
	if !gdi.WildQueue(ref) {
		queue, host, one := strings.Cut(ref, "@")
		if !one {
			return c.Instances(queue)
		}
		if q := c.State.QInstance(queue, host); q != nil {
			return []*grid.QInstance{q}
		}
		return nil
	}
	meant := pattern.CompileQueue(ref)
	inGroup := func(groups pattern.Expression, host string) bool { return site.InGroup(c.State, groups, host) }
	var out []*grid.QInstance
	for _, q := range c.State.QInstances() {
		if meant.Match(q.Queue, q.Host, inGroup) {
			out = append(out, q)
		}
	}
	return out
}

// HasQueue reports whether a -q element names anything. A cluster queue is
// enough even while it has no instances.
func (c *Cell) HasQueue(ref string) bool {
	return c.State.CQueue(ref) != nil || len(c.MatchingInstances(ref)) > 0
}

// HasPE reports whether a -pe name or pattern names a parallel environment.
func (c *Cell) HasPE(wanted string) bool {
	if c.State.PE(wanted) != nil {
		return true
	}
	for _, p := range c.State.PEs() {
		if pattern.Match(wanted, p.Name) {
			return true
		}
	}
	return false
}

// Permits reports whether access lists let a user in: a list that excludes wins;
// where including lists are given one of them must have the user.
func (c *Cell) Permits(user, group string, lists, xlists grid.Names) bool {
	if len(lists)+len(xlists) == 0 {
		return true
	}
	has := func(names grid.Names) bool {
		for _, n := range names {
			if u := c.State.Userset(n); u != nil && u.Contains(user, group) {
				return true
			}
		}
		return false
	}
	return !has(xlists) && (len(lists) == 0 || has(lists))
}

// HasHost reports whether a host belongs to the cell. No job can run on others.
func (c *Cell) HasHost(name string) bool {
	for _, k := range [...]grid.Kind{grid.KindExecHost, grid.KindAdminHost, grid.KindSubmitHost} {
		if c.State.Get(k, grid.Key{Name: name}) != nil || c.State.Get(k, grid.Key{Name: strings.ToLower(name)}) != nil {
			return true
		}
	}
	return false
}
