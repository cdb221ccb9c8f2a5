package shepherd

import (
	"fmt"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

// Why a job ended: from what the kernel counted, and from what the shepherd did itself. What neither knows has no
// reason.

// failureOfJob returns the failure of a job that was ended by a limit, nil when no limit is known to have ended it. A
// limit that the system enforced for the shepherd is recorded as its own. A job that was terminated has had its reason.
func (a *attempt) failureOfJob(status int) *attemptFailure {
	if a.end.Limit != "" {
		return newFailure(report.FailedLimit, "%s", a.exceeded)
	}
	if a.killed || a.migrating || a.shut || status == 0 {
		return nil
	}
	died := func(sig syscall.Signal) bool { return status == 128+int(sig) } // also of what a shell reports
	var why string
	switch {
	case died(syscall.SIGKILL):
		if why = a.outOfMemory(); why == "" && a.outOfCPU() {
			a.setLimit("h_cpu")
			return newFailure(report.FailedLimit, "%s", a.exceeded)
		}
	case died(syscall.SIGXFSZ):
		why = a.outOfFileSize()
	case status == report.ExitRestart || status == report.ExitError: // the job says what is to become of it
		return nil
	}
	if why == "" {
		why = a.outOfProcesses()
	}
	if why == "" {
		return nil
	}
	return newFailure(report.FailedAfterJob, "%s", why)
}

// limitUsage returns how much of a limit that the shepherd enforces is used.
func (a *attempt) limitUsage(limit string) string {
	l, u := &a.limits, a.used.totalUsage()
	seconds := func(d time.Duration, of uint64) string {
		return fmt.Sprintf("%s: %.0f s of %d s", limit, d.Seconds(), of)
	}
	switch limit {
	case "s_rt":
		return seconds(u.wallclock, l.RT.Soft)
	case "h_rt":
		return seconds(u.wallclock, l.RT.Hard)
	case "h_cpu":
		return seconds(u.cpu(), l.CPU.Hard)
	}
	return limit + ": " + formatBytes(u.vmem) + " of " + formatBytes(l.VMem.Hard) + " on " + a.plan.Host
}

// outOfCPU reports whether the system may have killed a process of the attempt at its own limit of CPU time, before the
// next sample. It counts the ticks of the clock at which a process runs, and rusage the time: beside processes that run
// for less than a tick it has been seen to end one at three quarters of the limit.
func (a *attempt) outOfCPU() bool {
	h := seconds(a.limits.CPU.Hard)
	return h > 0 && a.used.totalUsage().cpu() >= h/2
}

// outOfMemory returns what is known of a process of the attempt that the kernel killed for memory.
func (a *attempt) outOfMemory() string {
	g := &a.plan.Cgroup
	if a.cgroup < 0 || procfs.ReadGroupEvent(g.Path, "memory.events", "oom_kill") == 0 {
		return ""
	}
	limited := g.Limited()
	used := procfs.ReadGroupNumber(limited, "memory.peak")
	// the limit of the job was not reached
	if g.MemoryMax == 0 || procfs.ReadGroupEvent(limited, "memory.events", "oom") == 0 {
		return fmt.Sprintf("out of memory on %s: all jobs together have no more, this one had %s", a.plan.Host,
			formatBytes(used))
	}
	if used == 0 { // the kernel does not count it
		used = g.MemoryMax
	}
	return fmt.Sprintf("out of memory: %s of %s on %s", formatBytes(used), formatBytes(g.MemoryMax), a.plan.Host)
}

// outOfProcesses returns what is known of a process or thread that the attempt could not start for its limit.
func (a *attempt) outOfProcesses() string {
	g := &a.plan.Cgroup
	if a.cgroup < 0 || g.PidsMax == 0 || procfs.ReadGroupEvent(g.Path, "pids.events", "max")+
		procfs.ReadGroupEvent(g.Limited(), "pids.events", "max") == 0 {
		return ""
	}
	return fmt.Sprintf("process limit: %d of %d on %s", g.PidsMax, g.PidsMax, a.plan.Host)
}

// outOfFileSize returns the limit that a job had which was ended for writing more to a file.
func (a *attempt) outOfFileSize() string {
	for _, l := range a.limits.Rlimits {
		if l.Resource == plan.FSize && l.Soft < plan.Infinity {
			return fmt.Sprintf("file size limit (h_fsize): %s", formatBytes(l.Soft))
		}
	}
	return ""
}

// formatBytes returns bytes with two decimals in the largest unit that they fill.
func formatBytes(bytes uint64) string {
	unit, n := "", float64(bytes)
	for _, u := range []string{"K", "M", "G", "T"} {
		if n < 1024 {
			break
		}
		unit, n = u, n/1024
	}
	if unit == "" {
		return fmt.Sprint(bytes)
	}
	return fmt.Sprintf("%.2f%s", n, unit)
}
