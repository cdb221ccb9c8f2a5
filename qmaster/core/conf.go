package core

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
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
			c.instruct(h.Name)
		}
	}
}

// instruct sends a host its configuration.
func (c *Core) instruct(host string) {
	c.sent.hosts(host).instructed = c.cell.Now
	c.command(host).Conf = c.cell.ConfFor(host)
}

// conform sends a host its configuration if the host reports another one, unless the
// configuration sent last may still be on its way.
func (c *Core) conform(r report.Report) {
	if r.Host == grid.GlobalHost || r.Conf == c.cell.HostSettings(r.Host).Conf {
		return
	}
	if r.Hello || c.cell.Now.Sub(c.sent.hosts(r.Host).instructed) >= resendSeconds {
		c.instruct(r.Host)
	}
}
