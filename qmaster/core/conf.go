package core

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// confChanged sends the changed configuration to the hosts that it applies to, including
// hosts that have registered but not yet reported a load.
func confChanged(c *Core, old, new grid.Object) {
	o := new
	if o == nil {
		o = old
	}
	for _, h := range c.state.ExecHosts() {
		if l := c.state.Load(h.Name); (l == nil || !l.Unheard) && h.Name != grid.GlobalHost && (o.Key().Name == grid.GlobalConf || o.Key().Name == h.Name) {
			c.outbox.sendConfig(h.Name)
		}
	}
}
