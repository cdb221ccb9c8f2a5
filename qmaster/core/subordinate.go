package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// Subordinate queues, subordinate_list of queue_conf(5): whatever changes the
// tasks of a host (touch) may suspend queue instances or tasks there, or let
// them continue, in the same list.

// touch notes that something changed on the hosts of grants.
func (c *Core) touch(grants []grid.Grant) {
	for _, g := range grants {
		if c.cluster.Subordinating(g.Host) {
			c.touchHost(g.Host)
		}
	}
}

func (c *Core) touchHost(host string) {
	if n := len(c.touched); n == 0 || c.touched[n-1] != host {
		c.touched = append(c.touched, host)
	}
}

// touchAll notes that a cluster queue has, or had, subordinate queues.
func (c *Core) touchAll(q *grid.CQueue) {
	for _, host := range c.state.Hosts(q.HostList) {
		c.touchHost(host)
	}
}

// subordinate brings the queue instances of the touched hosts in line with their
// subordinate queues. Suspending or resuming one touches its host again.
func (c *Core) subordinate() {
	for n := 0; n < len(c.touched); n++ {
		host := c.touched[n]
		suspended := c.cluster.Subordinates(host)
		for _, queue := range sortedNames(suspended) {
			qi := c.state.QInstance(queue, host)
			state := qi.State &^ grid.QueueSuspendedSubordinate
			if suspended[queue] {
				state |= grid.QueueSuspendedSubordinate
			}
			c.setQueueState(qi, state, qi.Message)
		}
		c.preemptSlots(host)
	}
	c.touched = c.touched[:0]
}

// preemptSlots suspends and resumes single tasks of a host.
func (c *Core) preemptSlots(host string) {
	for {
		t, suspend := c.cluster.Preempt(host)
		if t == nil {
			return
		}
		n := *t
		if suspend {
			n.State |= grid.StateSuspendedSlotwise
		} else {
			n.State &^= grid.StateSuspendedSlotwise
		}
		if c.changeSuspension(t, &n); c.state.Task(t.Job, t.ID).State != n.State {
			return // it migrates instead
		}
	}
}

func sortedNames(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
