package cluster

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// usage is what started tasks take of consumables: by global, host or queue
// instance, then by attribute.
type usage map[string]map[string]float64

func (u usage) add(where, name string, amount float64) {
	if u[where] == nil {
		u[where] = map[string]float64{}
	}
	u[where][name] += amount
}

// Debit books what a started task holds: one that was preempted has given its
// slots back. job is the task's job; nil books
// slots only.
func (c *Cluster) Debit(job *grid.Job, t *grid.JATask) {
	if !t.Started() {
		return
	}
	if c.used == nil {
		c.used = usage{}
	}
	for n, g := range t.Grants {
		if t.HoldsSlots() {
			if i := c.byName[g.Instance()]; i != nil {
				i.Used += g.Slots
			}
			c.debit(g, "slots", float64(g.Slots))
		}
		if job == nil {
			continue
		}
		for _, centry := range c.booked {
			amount, ok := request(job, centry)
			switch {
			case !ok:
			case !strings.EqualFold(centry.Consumable, "JOB"):
				c.debit(g, centry.Name, amount*float64(g.Slots))
			case n == 0:
				c.debit(g, centry.Name, amount)
			}
		}
	}
}

func (c *Cluster) debit(g grid.Grant, name string, amount float64) {
	c.used.add(grid.GlobalHost, name, amount)
	c.used.add(g.Host, name, amount)
	c.used.add(g.Instance(), name, amount)
}

// request is what a job asks of a consumable, or the attribute's default.
func request(job *grid.Job, centry *grid.Centry) (float64, bool) {
	for _, name := range [...]string{centry.Name, centry.Shortcut} {
		if r, ok := job.Hard.Get(name); ok {
			return centry.Type.Parse(r.Value)
		}
	}
	n, ok := centry.Type.Parse(centry.Default)
	return n, ok && n != 0
}
