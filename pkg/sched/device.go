package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// Devices lists the device files that the instances of a host's resource maps name, each once. Those of instances
// that a task has there, maps, are its own; the others are closed to it.
func (c *Cluster) Devices(host string, maps []grid.MapGrant) []grid.Device {
	c.settle()
	h, known := c.hostAt[host]
	if !known {
		return nil
	}
	var all []grid.Device
	for column, attr := range c.complex.Consumables {
		a := &c.complex.List[attr]
		if a.Type != grid.TypeMap {
			continue
		}
		m, global := c.mapOf(c.hosts[h], column)
		for i := range m {
			devices := m[i].Devices()
			if len(devices) == 0 {
				continue
			}
			own := slices.ContainsFunc(maps, func(g grid.MapGrant) bool {
				return g.Resource == a.Name && g.Host == host && g.Global == global && slices.Contains(g.IDs, m[i].ID)
			})
			for _, d := range devices {
				if d.Resource = a.Name; !own {
					d.Resource, d.Access = "", 0
				}
				all = append(all, d)
			}
		}
	}
	return grid.JoinDevices(all)
}
