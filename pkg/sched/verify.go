package sched

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/site"
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

// Emptied returns the cluster as it would be with nothing running or reserved, no load, all queues enabled and all
// instances in service: what qsub -w e, w and v verify against. It follows no State.
//
// Advance reservations take their jobs, and everybody's: whether a user may use one is found out when the job is to
// start, as its list of users may change.
func (c *Cluster) Emptied() *Cluster {
	c.settle()
	var ars []*grid.AR
	for _, a := range c.st.ARs() {
		if r := *a; !a.Over() {
			r.State, r.Start, r.End = grid.ARRunning, grid.Never, grid.Never
			ars = append(ars, &r)
		}
	}
	d := c.opened(ars)
	d.reorderParts()
	return d
}

// opened returns a cluster whose hosts report no load and whose queues are enabled, in which nothing runs and no
// instance stands in the order yet.
func (c *Cluster) opened(ars []*grid.AR) *Cluster {
	d := NewCluster(c.st)
	d.site, d.find.span = c.site.Opened(), c.find.span.Present()
	d.world = c.world.opened(c.site, nil)
	d.nows = cow.NewList[hostNow](len(d.site.Hosts))
	for i, h := range d.site.Hosts {
		now := c.nows.At(i)
		open := hostNow{now.load, slices.Clone(now.states)}
		if open.load != nil || h.Exec != nil {
			open.load = now.load.opened(d.site, h)
		}
		for k := range open.states {
			open.states[k] &= grid.QueueOrphaned
		}
		d.nows.Set(i, open)
	}
	d.vacate(ars)
	return d
}

// opened returns the load of a host that reports and has nothing to do.
func (l *hostLoad) opened(cfg *site.Layout, h *site.Host) *hostLoad {
	open := grid.Load{}
	if l != nil {
		open = *l.Load
	} else if h != nil {
		open.Host = h.Name
	}
	open.Unheard, open.Values = false, slices.Clone(open.Values)
	for i, v := range open.Values {
		if strings.HasPrefix(strings.TrimPrefix(v.Name, "np_"), "load_") {
			open.Values[i].Text = "0"
		}
	}
	return parseLoad(cfg, &open, h)
}

// Vacated returns the cluster with nothing running, and the states that queues and hosts have now. Advance reservations
// hold what they have if it is for a job of one, reserved, else nothing. It follows no State.
func (c *Cluster) Vacated(reserved bool) *Cluster {
	c.settle()
	d := NewCluster(c.st)
	d.site, d.find.span, d.nows, d.world = c.site, c.find.span.Present(), c.nows.Copy(), c.world
	var ars []*grid.AR
	if reserved {
		ars = c.st.ARs()
	}
	d.vacate(ars)
	d.reorderParts()
	return d
}
