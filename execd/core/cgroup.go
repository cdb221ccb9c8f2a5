package core

import (
	"math"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// planCgroup gives the attempt a control group with the limits of the job on this host, all its slots together.
// Attempts of a parallel job, its PE tasks here, share these limits: each has a group of its own within that of the
// job.
//
// memory.high is only a soft limit that was asked for, never a part of the hard one: between the two a job whose memory
// is no file cache is not killed but sleeps for up to two seconds at each page, so that it hangs for minutes without a
// reason.
func (w *planner) planCgroup() {
	if !w.conf.Cgroups || w.site.Cgroup == "" {
		return
	}
	k, g := w.p.Attempt, &w.p.Cgroup
	g.Path = w.site.Cgroup + "/" + k.Master().String()
	if w.start.Deliver.PE != nil || k.PETask != "" {
		g.Job = g.Path
		g.Path += "/" + taskGroup(k)
	}
	q, n := w.queue, float64(w.hostSlots)
	soft, hard := q.SRSS, q.HRSS
	if w.conf.HVMem != byAddress {
		soft, hard = min(soft, q.SVMem), min(hard, q.HVMem)
	}
	if soft >= hard {
		soft = grid.Infinity // the hard limit says it
	}
	memory := boundOf(soft, hard, n)
	g.MemoryHigh, g.MemoryMax = memory.Soft, memory.Hard
	g.PidsMax = boundOf(grid.Infinity, q.HPids, 1).Hard
	weight := min(plan.WeightSlot*w.hostSlots, plan.MaxWeight)
	if w.conf.IOWeight {
		g.IOWeight = weight
	}
	g.CPUWeight = weightOf(weight, int(q.Priority))
}

// weightOf returns the weight of a group whose processes have a nice value. Within a group the kernel compares the nice
// values of its processes alone, so what the value means to other jobs is part of the group's weight: each step is a
// factor of 1.25, as that between processes, sched(7).
func weightOf(weight uint64, nice int) uint64 {
	return uint64(min(max(math.Round(float64(weight)*math.Pow(1.25, float64(-nice))), 1), plan.MaxWeight))
}

// taskGroup names the group of an attempt within that of its job.
func taskGroup(k report.Attempt) string {
	if k.PETask == "" {
		return "master"
	}
	return "task." + k.PETask
}

// limitsAddressSpace reports whether h_vmem and s_vmem limit the address space.
func (w *planner) limitsAddressSpace() bool { return w.p.Cgroup.Path == "" || w.conf.HVMem != byGroup }
