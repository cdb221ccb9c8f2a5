package sched

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// ResourceUrgency is the part of a job's urgency that follows from what it
// asks for, rrcontr of sge_priority(5): the urgency of slots for each assumed
// slot, and for each hard request its urgency, times value and slots when it
// is a number. All jobs of a category have the same.
func (c *Cluster) ResourceUrgency(j *grid.Job) float64 {
	c.settle()
	slots := float64(c.AssumedSlots(j))
	sum := c.site.Complex.Urgency(c.site.Complex.Consumables[0]) * slots
	for scope, slots := range [...]float64{grid.AllTasks: slots, grid.MasterTask: 1, grid.SlaveTasks: slots - 1} {
		for _, r := range j.HardOf(grid.TaskScope(scope)) {
			i := c.site.Complex.Find(r.Name)
			if i < 0 {
				continue
			}
			u := c.site.Complex.Urgency(i)
			if c.site.Complex.List[i].Numeric {
				u *= r.Num * slots
			}
			sum += u
		}
	}
	return sum
}

// UrgencyBasis is what ResourceUrgency depends on besides the jobs.
func (c *Cluster) UrgencyBasis() string {
	c.settle()
	var b []byte
	for i := range c.site.Complex.List {
		b = append(append(b, c.site.Complex.List[i].Urgency...), ' ')
	}
	for _, p := range c.site.PEs {
		b = append(append(append(b, p.Name...), '='), p.UrgencySlots...)
		b = append(strconv.AppendUint(append(b, '/'), uint64(p.Slots), 10), ' ')
	}
	return string(b)
}

// AssumedSlots is how many slots a job counts for before it has any, as qstat
// shows it: one, the number it asks for or, of a range, what urgency_slots of
// the first matching parallel environment says, sge_pe(5).
func (c *Cluster) AssumedSlots(j *grid.Job) uint32 {
	if j.PE == "" || len(j.PERange) == 0 {
		return 1
	}
	c.settle()
	for _, p := range c.site.PEs {
		if pattern.Match(j.PE, p.Name) {
			return urgencySlots(p, j.PERange)
		}
	}
	return 1
}

func urgencySlots(p *grid.PE, asked grid.Ranges) uint32 {
	least, most := asked.First(), asked[len(asked)-1].Last
	if least == most {
		return least
	}
	if most == grid.Open {
		most = p.Slots
	}
	switch p.UrgencySlots {
	case "", "min":
		return least
	case "max":
		return most
	case "avg":
		return uint32((uint64(least) + uint64(min(most, p.Slots))) / 2)
	}
	n, _ := strconv.ParseUint(p.UrgencySlots, 10, 32)
	return uint32(n)
}
