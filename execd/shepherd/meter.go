package shepherd

import (
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/grid"
)

// meter adds up what an attempt's job uses: exactly for processes that were waited for, by samples for the others.
type meter struct {
	mu    sync.Mutex
	began time.Time // of the job; zero before
	ended time.Time // of the job; zero before
	pid   int       // of the job
	front bool      // pid is that of a Front

	recorded bool // pid is in the journal

	before procfs.GroupUsage // of the control group, by steps before the job

	sampled bool   // the group's cache is known from more than the end
	cache   uint64 // most that the group was seen with

	waited attemptUsage // of the job's first process and of orphans, with the children they waited for
	seen   attemptUsage // at the last sample: CPU, IO and VMem of all processes, living or not

	warnedCPU, warnedVMem bool // of s_cpu and s_vmem, once each
}

// beginJob records that the job runs since a time; the zero time reverts that.
func (m *meter) beginJob(pid int, front bool, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.pid, m.front = at, pid, front
}

// wasSampled reports whether the job was sampled.
func (m *meter) wasSampled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sampled
}

// jobTimes returns when the job began and ended.
func (m *meter) jobTimes() (began, ended time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began, m.ended
}

// frontPID returns the process that only stands before the job, 0 for none.
func (m *meter) frontPID() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.front {
		return m.pid
	}
	return 0
}

// finishJob records how the job's first process ended. Its memory counts only above floor.
func (m *meter) finishJob(o *processExit, floor uint64) {
	m.addWaited(&o.usage, floor)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = o.time
}

// addGroupUsage takes what the control group counts, which has all processes of the job, also those that were not
// waited for. Of io it knows devices only, and of /proc the processes that lived at a sample: the larger holds.
func (m *meter) addGroupUsage(g procfs.GroupUsage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addGroupUsageLocked(g)
}

// addGroupUsageLocked is addGroupUsage with mu held.
func (m *meter) addGroupUsageLocked(g procfs.GroupUsage) {
	s := &m.seen
	s.userTime, s.sysTime = max(s.userTime, g.User-m.before.User), max(s.sysTime, g.Sys-m.before.Sys)
	if g.IO > m.before.IO {
		s.io = max(s.io, float64(g.IO-m.before.IO)/gigabyte)
	}
	// The kernel counts the peak of all memory, cache too. Without the most cache that was seen it is at most what the
	// job itself had; of a job that was never sampled that is not known, and its processes say what they had.
	m.cache = max(m.cache, g.Cache)
	if m.sampled && g.Peak > max(m.before.Peak, m.cache) {
		s.maxRSS = max(s.maxRSS, g.Peak-m.cache)
	}
}

// addWaited adds what a process used that was waited for. Its memory counts only above floor.
func (m *meter) addWaited(r *syscall.Rusage, floor uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.waited
	w.userTime += time.Duration(r.Utime.Nano())
	w.sysTime += time.Duration(r.Stime.Nano())
	if rss := uint64(r.Maxrss) << 10; rss > floor {
		w.maxRSS = max(w.maxRSS, rss)
	}
	w.minFlt += r.Minflt
	w.majFlt += r.Majflt
	w.inBlock += r.Inblock
	w.ouBlock += r.Oublock
	w.nvcsw += r.Nvcsw
	w.nivcsw += r.Nivcsw
}

// totalUsage returns the usage so far. CPU time of processes that were not waited for is known from samples only.
func (m *meter) totalUsage() attemptUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.waited
	u.userTime, u.sysTime = max(u.userTime, m.seen.userTime), max(u.sysTime, m.seen.sysTime)
	u.mem, u.io, u.maxVMem, u.maxRSS = m.seen.mem, m.seen.io, m.seen.maxVMem, max(u.maxRSS, m.seen.maxRSS)
	switch {
	case m.began.IsZero():
	case m.ended.IsZero():
		u.wallclock = time.Since(m.began)
		u.vmem, u.rss, u.processes = m.seen.vmem, m.seen.rss, m.seen.processes
	default:
		u.wallclock = m.ended.Sub(m.began)
	}
	return u
}

// attemptUsage is what a job's processes, dead and alive, have used so far.
type attemptUsage struct {
	wallclock         time.Duration // since the job was started
	userTime, sysTime time.Duration
	mem               float64 // GB times CPU seconds
	io                float64 // GB read and written
	vmem              uint64  // bytes of address space now; 0 once ended
	maxVMem           uint64  // most vmem seen; 0 when the job ended before it was sampled
	processes         uint64  // and threads now; 0 once ended
	// bytes resident; maxRSS is 0 when the job took less than the shepherd and ended before it was sampled
	rss, maxRSS uint64

	// The rest is getrusage(2), of the processes that have ended and were waited for.
	minFlt, majFlt, inBlock, ouBlock, nvcsw, nivcsw int64
}

func (u attemptUsage) cpu() time.Duration { return u.userTime + u.sysTime }

// toAccounting returns the usage in the units of accounting(5): seconds, GB seconds, GB, bytes, and kilobytes for the
// resident set.
func (u attemptUsage) toAccounting() grid.Usage {
	return grid.Usage{
		WallSeconds: u.wallclock.Seconds(), UserSeconds: u.userTime.Seconds(), SystemSeconds: u.sysTime.Seconds(),
		CPU: u.cpu().Seconds(), Mem: u.mem, IO: u.io, VMem: float64(u.vmem), MaxVMem: float64(u.maxVMem),
		MaxRSS: float64(u.maxRSS) / 1024, MinFaults: u.minFlt, MajFaults: u.majFlt, InBlocks: u.inBlock,
		OutBlocks: u.ouBlock, VolSwitches: u.nvcsw, InvolSwitches: u.nivcsw, RSS: float64(u.rss),
		Processes: int64(u.processes),
	}
}

// processExit is how a process ended.
type processExit struct {
	status syscall.WaitStatus
	usage  syscall.Rusage
	time   time.Time
}

const gigabyte = 1 << 30
