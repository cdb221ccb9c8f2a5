package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// A cluster queue has one instance on every host of its host list. Instances
// carry only state; they come and go with the list.

func cqueueChanged(c *Core, old, new grid.Object) {
	for _, o := range []grid.Object{old, new} {
		if q, ok := o.(*grid.CQueue); ok && len(q.SubordinateList.Value)+len(q.SubordinateList.At) > 0 {
			c.touchAll(q)
		}
	}
	if new == nil {
		q := old.(*grid.CQueue)
		for _, qi := range c.cell.Instances(q.Name) {
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
			if q.InitialState.For(h, c.cell.MemberOf(h)) == "disabled" {
				fresh.State = grid.QueueDisabled
			}
			c.emit(events.Add(fresh))
		} else if qi.State&grid.QueueOrphaned != 0 {
			c.setQueueState(qi, qi.State&^grid.QueueOrphaned, "")
		}
	}
	for _, qi := range c.cell.Instances(q.Name) {
		if want[qi.Host] {
			continue
		}
		if c.cell.InstanceInUse(qi) {
			c.setQueueState(qi, qi.State|grid.QueueOrphaned, "")
		} else {
			c.emit(events.Del(grid.KindQInstance, qi.Key()))
		}
	}
	c.applyCalendars(q)
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

// dropOrphans removes orphaned instances of a host that hold no job any more.
func (s *step) dropOrphans(grants []grid.Grant) {
	for _, g := range grants {
		qi := s.state.QInstance(g.Queue, g.Host)
		if qi != nil && qi.State&grid.QueueOrphaned != 0 && !s.cell.InstanceInUse(qi) {
			s.emit(events.Del(grid.KindQInstance, qi.Key()))
		}
	}
}
