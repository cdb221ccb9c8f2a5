package ticket

import (
	"math"

	"github.com/quill-grid/quill/pkg/grid"
)

// urgency is how urgent a job is, sge_priority(5), by its parts.
type urgency struct {
	resources float64 // rrcontr
	waiting   float64 // wtcontr
	deadline  float64 // dlcontr
}

func (u urgency) sum() float64 { return u.resources + u.waiting + u.deadline }

// urgencyOf is the urgency of a job at a time.
func urgencyOf(c *grid.SchedConf, resources float64, submit, deadline, now grid.Time) urgency {
	u := urgency{resources: resources, waiting: c.WeightWaitingTime * now.Sub(submit)}
	if deadline != 0 {
		u.deadline = c.WeightDeadline / max(deadline.Sub(now), 1)
	}
	return u
}

// bounds is a range of observed values; empty until something was observed.
type bounds struct{ lo, hi float64 }

var nothing = bounds{math.Inf(1), math.Inf(-1)}

func (b *bounds) observe(v float64) { b.lo, b.hi = min(b.lo, v), max(b.hi, v) }
