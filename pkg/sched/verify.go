package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// Complex is the cluster's attributes, with which requests are normalised.
func (c *Cluster) Complex() *complex.Attributes {
	c.settle()
	return c.site.Complex
}

// explainMost bounds the reasons of one verification.
const explainMost = 100

// Unplaceable returns why the job could not start at this moment, queue instances that take no job first; nothing when
// it could. It is qsub -w p.
func (c *Cluster) Unplaceable(j *grid.Job, now grid.Time) []reason.Reason {
	run := c.Copy(c.st)
	run.Begin(now)
	n := run.Need(j)
	why := run.Why(n)
	if why.Fits() {
		return nil
	}
	busy := func(r reason.Reason) bool { return r.Code == reason.AllQueuesBusy }
	return run.explain(slices.DeleteFunc(run.Closed(explainMost), busy), n, why)
}

// explain returns why a need has no place, after the instances that are closed for all jobs.
func (c *Cluster) explain(closed []reason.Reason, n *Need, why reason.Reason) []reason.Reason {
	reasons := append(closed, c.Explain(n, why, explainMost)...)
	switch {
	case len(reasons) > 0:
		return reasons
	case why.Nowhere():
		return []reason.Reason{{Code: reason.AllQueuesBusy}}
	}
	return []reason.Reason{why}
}
