package sched

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Crossing is a running task to suspend, or to resume, because of the
// suspend thresholds of a queue instance.
type Crossing struct {
	Job, Task uint32
	Queue     string // queue@host
	Suspend   bool
}

// Crossings holds the load against suspend_thresholds, queue_conf(5): an
// instance in alarm suspends nsuspend tasks each suspend_interval, the latest
// started first; one that has recovered resumes as many, the earliest
// started first. Load adjustments do not count. Suspended tasks resume, too,
// when the thresholds of their instance are removed; all at once when nothing says
// how many.
func (c *Cluster) Crossings() (out []Crossing) {
	c.settle()
	for _, i := range slices.Concat(c.site.Watched, c.released) {
		in := c.site.Instances[i]
		now := c.nows.At(in.Host.Index)
		if now.load == nil || now.load.Unheard || now.states[in.Place-1]&grid.QueueSuspendedAny != 0 {
			continue
		}
		q := c.st.QInstance(in.Queue.Name, in.Host.Name)
		if q == nil || c.find.span.Now.Sub(q.LastSuspend) < in.SuspendSeconds {
			continue
		}
		suspend := c.suspendAlarm(in, now).of != nil
		for _, t := range crossing(c.st, in, suspend) {
			out = append(out, Crossing{t.Job, t.ID, in.Name, suspend})
		}
	}
	return out
}

// release keeps the instance of a task in mind that thresholds have suspended which
// are no more.
func (c *Cluster) release(t *grid.JATask) {
	if t.State&grid.StateSuspendedThreshold == 0 || len(t.Grants) == 0 {
		return
	}
	i, ok := c.site.InstAt[t.Grants[0].Instance()]
	if ok && !c.site.Instances[i].Watches() && !slices.Contains(c.released, i) {
		c.released = append(c.released, i)
	}
}

// crossing picks the tasks of an instance.
func crossing(st *state.State, in *site.Instance, suspend bool) []*grid.JATask {
	var tasks []*grid.JATask
	for _, t := range st.OnHost(in.Host.Name) {
		if t.Status != grid.Running || suspend == (t.State&grid.StateSuspendedThreshold != 0) ||
			t.State&grid.StateDeleted != 0 {
			continue
		}
		if suspend && t.State&grid.StateSuspendedAny != 0 {
			continue
		}
		if master := t.Grants[0]; !suspend && (master.Queue != in.Queue.Name || master.Host != in.Host.Name) {
			continue
		}
		if slices.ContainsFunc(t.Grants, func(g grid.Grant) bool {
			return g.Queue == in.Queue.Name && g.Host == in.Host.Name
		}) {
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b *grid.JATask) int {
		if suspend {
			a, b = b, a
		}
		return cmp.Compare(a.Start, b.Start)
	})
	if !suspend && (in.Nsuspend == 0 || in.SuspendSeconds == 0) {
		return tasks
	}
	return tasks[:min(len(tasks), int(in.Nsuspend))]
}
