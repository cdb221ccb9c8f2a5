package core

import (
	"github.com/quill-grid/quill/execd/plan"
)

// planChange returns what the shepherd is to do: the limits as those of a start, for an attempt with a control group or
// without one.
func (c *Conf) planChange(of *limitChange, contained bool) plan.LimitsChange {
	conf, l := *c, &of.limits
	conf.Cgroups = contained
	w := planner{site: &Site{Cgroup: "/"}, conf: &conf, start: &Start{}, queue: &of.queue,
		hostSlots: uint64(max(l.Slots, 1))}
	w.planCgroup()
	w.planLimits()
	w.p.Limits.Version = l.Version
	g := &w.p.Cgroup
	return plan.LimitsChange{Attempt: l.Attempt, Limits: w.p.Limits, MemoryHigh: g.MemoryHigh, MemoryMax: g.MemoryMax,
		PidsMax: g.PidsMax, Anyway: l.Anyway}
}
