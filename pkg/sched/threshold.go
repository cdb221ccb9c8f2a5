package sched

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
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
	for _, i := range slices.Concat(c.watched, c.released) {
		in := c.instances[i]
		now := c.nows.get(in.host.index)
		if now.load == nil || now.load.Unheard || now.states[in.place-1]&grid.QueueSuspendedAny != 0 {
			continue
		}
		if q := c.st.QInstance(in.queue.Name, in.host.name); q == nil || c.now.Sub(q.LastSuspend) < in.suspendSeconds {
			continue
		}
		suspend := c.suspendAlarm(in, now).of != nil
		for _, t := range c.crossing(in, suspend) {
			out = append(out, Crossing{t.Job, t.ID, in.name, suspend})
		}
	}
	return out
}

// watches reports whether the load of an instance may suspend its tasks.
func (in *instance) watches() bool {
	return len(in.suspendThresholds) > 0 && in.nsuspend > 0 && in.suspendSeconds > 0
}

// release keeps the instance of a task in mind that thresholds have suspended which
// are no more.
func (c *Cluster) release(t *grid.JATask) {
	if t.State&grid.StateSuspendedThreshold == 0 || len(t.Grants) == 0 {
		return
	}
	i, ok := c.instAt[t.Grants[0].Instance()]
	if ok && !c.instances[i].watches() && !slices.Contains(c.released, i) {
		c.released = append(c.released, i)
	}
}

// crossing picks the tasks of an instance.
func (c *Cluster) crossing(in *instance, suspend bool) []*grid.JATask {
	var tasks []*grid.JATask
	for _, t := range c.st.OnHost(in.host.name) {
		if t.Status != grid.Running || suspend == (t.State&grid.StateSuspendedThreshold != 0) ||
			t.State&grid.StateDeleted != 0 {
			continue
		}
		if suspend && t.State&grid.StateSuspendedAny != 0 {
			continue
		}
		if master := t.Grants[0]; !suspend && (master.Queue != in.queue.Name || master.Host != in.host.name) {
			continue
		}
		if slices.ContainsFunc(t.Grants, func(g grid.Grant) bool { return g.Queue == in.queue.Name && g.Host == in.host.name }) {
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b *grid.JATask) int {
		if suspend {
			a, b = b, a
		}
		return cmp.Compare(a.Start, b.Start)
	})
	if !suspend && (in.nsuspend == 0 || in.suspendSeconds == 0) {
		return tasks
	}
	return tasks[:min(len(tasks), int(in.nsuspend))]
}
