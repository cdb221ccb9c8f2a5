package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// maxSizeClasses bounds the number of stored classes.
const maxSizeClasses = 4096

// JobSize returns the size of a job. A request that is not known to be harder to
// place when it is larger belongs to the class, not to the size.
func (c *Cluster) JobSize(j *grid.Job) JobSize {
	c.settle()
	e := JobSize{slots: 1}
	k := *j
	if i := slices.IndexFunc(k.Hard, func(r grid.Request) bool {
		return r.Name == "h_rt"
	}); i >= 0 && c.site.Complex.LimitsRunTime() {
		hard := slices.Clone(k.Hard)
		e.seconds, hard[i] = hard[i].Num, grid.Request{Name: "h_rt"}
		k.Ask().Hard = hard
	}
	if k.PE != "" && c.harderWithSize(k.PE) {
		e.slots = smallest(k.PERange, 1)
		k.Ask().PERange = nil
	}
	e.class = c.sizeClass(c.Category(&k))
	return e
}

func (c *Cluster) sizeClass(category string) *sizeClass {
	a := c.sizeClasses[category]
	if a == nil {
		if c.sizeClasses == nil || len(c.sizeClasses) >= maxSizeClasses {
			c.sizeClasses = map[string]*sizeClass{}
		}
		a = &sizeClass{}
		c.sizeClasses[category] = a
	}
	return a
}

// harderWithSize reports whether in all PEs of a name more slots are harder to place:
// not where each host gives a fixed number.
func (c *Cluster) harderWithSize(pe string) bool {
	n := c.Need(&grid.Job{JobRequest: &grid.JobRequest{PE: pe}})
	return !slices.ContainsFunc(n.pes, func(i int) bool {
		r, ok := parseRule(c.site.PEs[i].AllocationRule)
		return !ok || r.fixed > 0
	})
}
