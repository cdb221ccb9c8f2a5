package shares

import "github.com/quill-grid/quill/pkg/grid"

// Urgency is a job's urgency, sge_priority(5), by its contributions.
type Urgency struct {
	Resources float64 // rrcontr
	Waiting   float64 // wtcontr
	Deadline  float64 // dlcontr
}

// Sum returns the sum of the contributions.
func (u Urgency) Sum() float64 { return u.Resources + u.Waiting + u.Deadline }

// UrgencyOf returns the urgency of a job at a time; resources is the contribution
// of its requests, see sched.Cluster.ResourceUrgency.
func UrgencyOf(c *grid.SchedConf, resources float64, submit, deadline, now grid.Time) Urgency {
	u := Urgency{Resources: resources, Waiting: c.WeightWaitingTime * now.Sub(submit)}
	if deadline != 0 {
		u.Deadline = c.WeightDeadline / max(deadline.Sub(now), 1)
	}
	return u
}
