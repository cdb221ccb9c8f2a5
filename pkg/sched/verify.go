package sched

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/state"
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

// Emptied returns the cluster as it would be with nothing running or reserved,
// no load, all queues enabled and all instances in service: what qsub -w e, w and v verify against.
// Advance reservations take their jobs, and everybody's: whether a user may use
// one is found out when the job is to start, as its list of users may change.
func Emptied(st *state.State) *Cluster {
	st = opened(st).Without(grid.KindJATask, grid.KindInstance) // those out of service
	var es []events.Event
	for _, a := range st.ARs() {
		if r := *a; !a.Over() {
			r.State, r.Start, r.End = grid.ARRunning, grid.Never, grid.Never
			es = append(es, events.Mod(&r))
		}
	}
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: es})
	c := NewCluster(st)
	c.openAll()
	return c
}

// openAll takes away what shuts instances besides stored states: thresholds
// and ambiguous configurations.
func (c *Cluster) openAll() {
	c.settle()
	c.site.Everybody = true
	for _, in := range c.site.Instances {
		in.LoadThresholds, in.SuspendThresholds, in.Ambiguous = nil, nil, false
	}
	for _, r := range c.ars {
		r.openAll()
	}
	c.reorderAll()
}

// opened is a copy of the state with no load and all queues enabled.
func opened(st *state.State) *state.State {
	st = st.Copy()
	var es []events.Event
	st.Each(grid.KindQInstance, func(o grid.Object) bool {
		if q := *o.(*grid.QInstance); q.State&^grid.QueueOrphaned != 0 {
			q.State &= grid.QueueOrphaned
			es = append(es, events.Mod(&q))
		}
		return true
	})
	for _, h := range st.ExecHosts() {
		l := grid.Load{Host: h.Name}
		if was := st.Load(h.Name); was != nil {
			l = *was
		}
		l.Unheard = false
		l.Values = append(grid.Values{}, l.Values...)
		for i, v := range l.Values {
			if strings.HasPrefix(strings.TrimPrefix(v.Name, "np_"), "load_") {
				l.Values[i].Text = "0"
			}
		}
		es = append(es, events.Mod(&l))
	}
	st.Apply(events.List{Seq: st.Seq, At: st.At, Events: es})
	return st
}
