package core

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// A cluster queue has one instance on every host of its host list. Instances
// carry only state; they come and go with the list.

func validCQueue(c *Core, o grid.Object) string {
	q := o.(*grid.CQueue)
	if t := validName("queue", q.Name); t != "" {
		return t
	}
	for _, n := range all(q.Slots) {
		if t := badSlots(int64(n)); t != "" {
			return t
		}
	}
	for _, m := range all(q.ShellStartMode) {
		switch m {
		case "posix_compliant", "unix_behavior", "script_from_stdin":
		default:
			return fmt.Sprintf("Invalid value %q as shell start mode", m)
		}
	}
	for _, m := range all(q.InitialState) {
		switch m {
		case "default", "enabled", "disabled":
		default:
			return fmt.Sprintf("Invalid value %q as initial state", m)
		}
	}
	for _, p := range all(q.Priority) {
		if p < -20 || p > 20 {
			return "Priority not in range -20 to +20"
		}
	}
	for _, s := range all(q.Shell) {
		if !strings.HasPrefix(s, "/") && s != "" {
			return fmt.Sprintf("Invalid value %q for shell", s)
		}
	}
	return ""
}

func cqueueRefers(c *Core, o grid.Object) *gdi.Answer {
	q := o.(*grid.CQueue)
	for attribute, target := range q.Exceptions() {
		if strings.HasPrefix(target, "@") && c.state.HGroup(target) == nil {
			return wrong(attribute, fmt.Sprintf("Did not modify %q for host group %q which does not exist.", attribute, target))
		}
	}
	return cmp.Or(c.missing("hostlist", grid.KindHGroup, groupsIn(q.HostList)), c.missing("pe_list", grid.KindPE, all(q.PEList)...), c.missing("ckpt_list", grid.KindCkpt, all(q.CkptList)...),
		c.missing("calendar", grid.KindCalendar, all(q.Calendar)), wrong("subordinate_list", c.badSubordinates(q)),
		c.missing("user_lists", grid.KindUserset, all(q.UserLists)...), c.missing("xuser_lists", grid.KindUserset, all(q.XUserLists)...),
		c.missing("projects", grid.KindProject, all(q.Projects)...), c.missing("xprojects", grid.KindProject, all(q.XProjects)...),
		wrong("complex_values", c.badCapacities(all(q.ComplexValues)...)),
		wrong("load_thresholds", c.badValues(all(q.LoadThresholds)...)), wrong("suspend_thresholds", c.badValues(all(q.SuspendThresholds)...)))
}

func cqueueInUse(c *Core, o grid.Object) string {
	q := o.(*grid.CQueue)
	for _, qi := range c.instances(q.Name) {
		if c.instanceInUse(qi) {
			return fmt.Sprintf("denied: cluster queue %q still has running jobs", q.Name)
		}
	}
	return c.eachCQueue(func(above *grid.CQueue) string {
		for _, list := range all(above.SubordinateList) {
			if s, _ := site.ParseSubordinates(list); s.Names().Has(q.Name) {
				return fmt.Sprintf("Cluster queue %q is referenced in cluster queue %q as a subordinate. Deletion denied", q.Name, above.Name)
			}
		}
		return ""
	})
}

func cqueueChanged(c *Core, old, new grid.Object) {
	for _, o := range []grid.Object{old, new} {
		if q, ok := o.(*grid.CQueue); ok && len(q.SubordinateList.Value)+len(q.SubordinateList.At) > 0 {
			c.touchAll(q)
		}
	}
	if new == nil {
		q := old.(*grid.CQueue)
		for _, qi := range c.instances(q.Name) {
			c.emit(events.Del(grid.KindQInstance, qi.Key()))
		}
		return
	}
	c.syncInstances(new.(*grid.CQueue))
}

// syncInstances makes the instances what the host list says: new ones are
// added in their initial state, those off the list go, or stay orphaned while
// they hold jobs.
func (c *Core) syncInstances(q *grid.CQueue) {
	want := map[string]bool{}
	for _, h := range c.state.Hosts(q.HostList) {
		want[h] = true
		c.addMissing(&grid.ExecHost{Name: h})
		qi := c.state.QInstance(q.Name, h)
		if qi == nil {
			fresh := &grid.QInstance{Queue: q.Name, Host: h}
			if q.InitialState.For(h, c.memberOf(h)) == "disabled" {
				fresh.State = grid.QueueDisabled
			}
			c.emit(events.Add(fresh))
		} else if qi.State&grid.QueueOrphaned != 0 {
			c.setQueueState(qi, qi.State&^grid.QueueOrphaned, "")
		}
	}
	for _, qi := range c.instances(q.Name) {
		if want[qi.Host] {
			continue
		}
		if c.instanceInUse(qi) {
			c.setQueueState(qi, qi.State|grid.QueueOrphaned, "")
		} else {
			c.emit(events.Del(grid.KindQInstance, qi.Key()))
		}
	}
	c.applyCalendars(q)
}

func (c *Core) instances(queue string) []*grid.QInstance {
	var out []*grid.QInstance
	c.state.From(grid.KindQInstance, grid.Key{Name: queue + "@"}, func(o grid.Object) bool {
		qi := o.(*grid.QInstance)
		if qi.Queue != queue {
			return strings.HasPrefix(qi.Name(), queue+"@")
		}
		out = append(out, qi)
		return true
	})
	return out
}

func (c *Core) instanceInUse(qi *grid.QInstance) bool {
	for _, t := range c.state.OnHost(qi.Host) {
		for _, g := range t.Grants {
			if g.Queue == qi.Queue && g.Host == qi.Host {
				return true
			}
		}
	}
	return c.reservedIn(qi) > 0
}

// setQueueState replaces an instance's state when it differs. Its tasks stop
// when it gets suspended for the first reason, and continue when the last is gone.
func (c *Core) setQueueState(qi *grid.QInstance, s grid.QueueState, message string) {
	if qi.State == s && qi.Message == message {
		return
	}
	n := *qi
	n.State, n.Message = s, message
	c.emit(events.Mod(&n))
	if was, is := qi.State&grid.QueueSuspendedAny != 0, s&grid.QueueSuspendedAny != 0; was != is {
		c.queueSuspended(qi, is)
	}
}

// memberOf answers group membership of one host, for PerHost.For.
func (c *Core) memberOf(host string) func(string) bool {
	return func(group string) bool { return c.state.Member(group, host) }
}

// dropOrphans removes orphaned instances of a host that hold no job any more.
func (c *Core) dropOrphans(grants []grid.Grant) {
	for _, g := range grants {
		qi := c.state.QInstance(g.Queue, g.Host)
		if qi != nil && qi.State&grid.QueueOrphaned != 0 && !c.instanceInUse(qi) {
			c.emit(events.Del(grid.KindQInstance, qi.Key()))
		}
	}
}
