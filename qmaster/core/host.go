package core

import (
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

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
