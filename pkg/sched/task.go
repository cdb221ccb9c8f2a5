package sched

import (
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// NextTask is the first pending task id of a job after the given one that has
// no hold, 0 when there is none. Ranges are stepped over as wholes: an array
// of a million held tasks costs as much as one.
func NextTask(j *grid.Job, after uint32) uint32 {
	for _, r := range j.Pending {
		step := max(r.Step, 1)
		n := uint64(r.First)
		if after >= r.First {
			n += (uint64(after-r.First)/uint64(step) + 1) * uint64(step)
		}
		for n <= uint64(r.Last) && n <= math.MaxUint32 {
			last, held := heldUntil(j, uint32(n))
			if !held {
				return uint32(n)
			}
			n += (uint64(last-uint32(n))/uint64(step) + 1) * uint64(step)
		}
	}
	return 0
}

// heldUntil reports whether a task has a hold, and up to which id the range that
// holds it goes without a gap.
func heldUntil(j *grid.Job, id uint32) (last uint32, held bool) {
	for _, ranges := range [...]grid.Ranges{j.UserHold, j.OperHold, j.SysHold, j.ArrayHold} {
		if r, is := ranges.Find(id); is {
			if r.Step <= 1 {
				return r.Last, true
			}
			last, held = max(last, id), true
		}
	}
	return last, held
}

// Startable reports whether an enrolled task waits to be started again: idle,
// without hold, error or deletion.
func Startable(j *grid.Job, t *grid.JATask) bool { return t.Waits() && !j.Held(t.ID) }

// TasksAtOnce is how many tasks of a job may hold slots at the same time: -tc
// and max_aj_instances of sge_conf(5); 0 is no limit.
func (c *Cluster) TasksAtOnce(j *grid.Job) uint32 {
	c.settle()
	if !j.Array {
		return 0
	}
	limit := j.Concurrency
	if m := c.site.Policy.MaxAJ; m > 0 && (limit == 0 || m < limit) {
		limit = m
	}
	return limit
}

// MaxUJobs is maxujobs of sched_conf(5): tasks of one user at once, 0 is no
// limit.
func (c *Cluster) MaxUJobs() uint32 {
	c.settle()
	return c.site.Policy.MaxUJobs
}

// Rerunnable reports whether a started task may be started again: -r, or the
// rerun attribute of its queue; of checkpointing jobs their occasions say it
// (r).
func (c *Cluster) Rerunnable(j *grid.Job, t *grid.JATask) bool {
	switch {
	case j.Ckpt != "":
		return strings.Contains(j.CkptWhen, "r")
	case j.Restart != grid.RestartByQueue:
		return j.Restart == grid.RestartYes
	case len(t.Grants) == 0:
		return false
	}
	g := t.Grants[0]
	q := c.st.CQueue(g.Queue)
	return q != nil && q.Rerun.For(g.Host, func(group string) bool { return c.st.Member(group, g.Host) })
}
