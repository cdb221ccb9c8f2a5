package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// Devices lists the device files that the instances of a host's resource maps name, each once. Those of instances
// that a task has there, maps, are its own; the others are closed to it.
func (c *Cluster) Devices(host string, maps []grid.MapGrant) []grid.Device {
	c.settle()
	h, known := c.site.HostAt[host]
	if !known {
		return nil
	}
	var all []grid.Device
	for column, attr := range c.site.Complex.Consumables {
		a := &c.site.Complex.List[attr]
		if a.Type != grid.TypeMap {
			continue
		}
		supply, global := c.site.GivesMap(c.site.Hosts[h], column)
		var own []string
		for i := range maps {
			if g := &maps[i]; g.Resource == a.Name && g.Host == host && g.Global == global {
				own = g.IDs
			}
		}
		for _, d := range supply.Devices[column] {
			if d.Resource = a.Name; !slices.Contains(own, d.ID) {
				d.Resource, d.Access = "", 0
			}
			all = append(all, d.Device)
		}
	}
	return grid.JoinDevices(all)
}
