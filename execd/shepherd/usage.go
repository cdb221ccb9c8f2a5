package shepherd

import (
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
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

	before groupUsage // of the control group, by steps before the job

	sampled bool   // the group's cache is known from more than the end
	cache   uint64 // most that the group was seen with

	waited usage // of the job's first process and of orphans, with the children they waited for
	seen   usage // at the last sample: CPU, IO and VMem of all processes, living or not

	warnedCPU, warnedVMem bool // of s_cpu and s_vmem, once each
}

// begin records that the job runs since a time; the zero time reverts that.
func (m *meter) begin(pid int, front bool, at time.Time) {
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

// times returns when the job began and ended.
func (m *meter) times() (began, ended time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began, m.ended
}

// inFront returns the process that only stands before the job, 0 for none.
func (m *meter) inFront() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.front {
		return m.pid
	}
	return 0
}

func (m *meter) finish(p *proc, o *outcome) {
	m.addWaited(&o.usage, p.floor)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = o.time
}

// count takes what the control group counts, which has all processes of the job, also those that were not waited for. Of io it knows
// devices only, and of /proc the processes that lived at a sample: the larger holds.
func (m *meter) count(g groupUsage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counted(g)
}

// counted is count with mu held.
func (m *meter) counted(g groupUsage) {
	s := &m.seen
	s.userTime, s.sysTime = max(s.userTime, g.user-m.before.user), max(s.sysTime, g.sys-m.before.sys)
	if g.io > m.before.io {
		s.io = max(s.io, float64(g.io-m.before.io)/gigabyte)
	}
	// The kernel counts the peak of all memory, cache too. Without the most cache that was seen it is at most what the job itself had; of a
	// job that was never sampled that is not known, and its processes say what they had.
	m.cache = max(m.cache, g.cache)
	if m.sampled && g.peak > max(m.before.peak, m.cache) {
		s.maxRSS = max(s.maxRSS, g.peak-m.cache)
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

// total returns the usage so far. CPU time of processes that were not waited for is known from samples only.
func (m *meter) total() usage {
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

// usage is what a job's processes, dead and alive, have used so far.
type usage struct {
	wallclock         time.Duration // since the job was started
	userTime, sysTime time.Duration
	mem               float64 // GB times CPU seconds
	io                float64 // GB read and written
	vmem              uint64  // bytes of address space now; 0 once ended
	maxVMem           uint64  // most vmem seen; 0 when the job ended before it was sampled
	processes         uint64  // and threads now; 0 once ended
	rss, maxRSS       uint64  // bytes resident; maxRSS is 0 when the job took less than the shepherd and ended before it was sampled

	// The rest is getrusage(2), of the processes that have ended and were waited for.
	minFlt, majFlt, inBlock, ouBlock, nvcsw, nivcsw int64
}

func (u usage) cpu() time.Duration { return u.userTime + u.sysTime }

// accounted returns the usage in the units of accounting(5): seconds, GB seconds, GB, bytes, and kilobytes for the resident set.
func (u usage) accounted() grid.Usage {
	return grid.Usage{
		WallSeconds: u.wallclock.Seconds(), UserSeconds: u.userTime.Seconds(), SystemSeconds: u.sysTime.Seconds(),
		CPU: u.cpu().Seconds(), Mem: u.mem, IO: u.io, VMem: float64(u.vmem), MaxVMem: float64(u.maxVMem),
		MaxRSS: float64(u.maxRSS) / 1024, MinFaults: u.minFlt, MajFaults: u.majFlt, InBlocks: u.inBlock,
		OutBlocks: u.ouBlock, VolSwitches: u.nvcsw, InvolSwitches: u.nivcsw, RSS: float64(u.rss), Processes: int64(u.processes),
	}
}

const gigabyte = 1 << 30

// sample looks at the attempt's processes and returns the order that a limit over the whole job demands, if any.
func (a *attempt) sample() (o order, exceeded bool) {
	roots, _ := a.k.reaper.roots(a)
	roots = append(roots, a.living()...)
	front := a.used.inFront()
	var user, sys, vmem, rss, io, processes uint64
	descend(roots, func(s stat) {
		user, sys = user+s.user, sys+s.sys
		if s.pid != front {
			vmem, rss = vmem+s.vmem, rss+s.rss
		}
		io, processes = io+readIO(s.pid), processes+uint64(max(s.threads, 1))
	})
	m := &a.used
	g := a.group()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.seen
	before := s.userTime + s.sysTime
	m.sampled = true
	m.counted(g)
	if g.memory > 0 {
		rss = g.memory // pages that processes share count once
	}
	s.userTime = max(s.userTime, m.waited.userTime+ticks(user))
	s.sysTime = max(s.sysTime, m.waited.sysTime+ticks(sys))
	cpu := s.userTime + s.sysTime
	s.vmem, s.rss, s.processes = vmem, rss, max(processes, g.processes)
	s.maxVMem, s.maxRSS = max(s.maxVMem, vmem), max(s.maxRSS, rss)
	s.mem += float64(vmem) / gigabyte * (cpu - before).Seconds()
	s.io = max(s.io, float64(io)/gigabyte)

	l := &a.limits
	switch {
	case l.CPU.Hard > 0 && cpu >= seconds(l.CPU.Hard):
		return order{action(syscall.SIGKILL), "h_cpu"}, true
	case l.VMem.Hard > 0 && vmem > l.VMem.Hard:
		return order{action(syscall.SIGKILL), "h_vmem"}, true
	case l.CPU.Soft > 0 && cpu >= seconds(l.CPU.Soft) && !m.warnedCPU:
		m.warnedCPU = true
		return order{action(syscall.SIGXCPU), "s_cpu"}, true
	case l.VMem.Soft > 0 && vmem > l.VMem.Soft && !m.warnedVMem:
		m.warnedVMem = true
		return order{action(syscall.SIGXCPU), "s_vmem"}, true
	}
	return order{}, false
}

// samplePause is the least time between two samples of a job, and its age at the first.
const samplePause = time.Second

// watch samples running jobs for ever. However many they are, it leaves at least nine tenths of a processor alone. A user whose jobs take long
// to sample, for they have very many processes, has them sampled less often, and no others.
func (k *shepherd) watch() {
	pause := samplePause
	next := map[uint32]time.Time{} // of such users
	for {
		time.Sleep(pause)
		began := time.Now()
		k.reaper.adopt()
		go k.reaper.findAllMarkers()
		pause = max(samplePause, 10*(time.Since(began)+k.sampleAll(began, next)))
		k.mu.Lock()
		due := k.retry.countSample()
		k.mu.Unlock()
		if due {
			go k.removeLeft()
		}
		k.leaveWhenIdle()
	}
}

// longSample is how long the samples of a user's jobs may take before they are made less often.
const longSample = 50 * time.Millisecond

// sampleAll samples the jobs of all users but those whose time, in next, has not come. It returns how long all took that did not take long.
func (k *shepherd) sampleAll(now time.Time, next map[uint32]time.Time) (took time.Duration) {
	of := map[uint32]time.Duration{}
	for _, a := range k.oldEnough(now.Add(-samplePause)) {
		uid := a.users[0]
		if now.Before(next[uid]) {
			continue
		}
		began := time.Now()
		if o, exceeded := a.sample(); exceeded {
			a.sendOrder(o)
		}
		a.record()
		of[uid] += time.Since(began)
	}
	for uid, each := range of {
		if delete(next, uid); each > longSample {
			next[uid] = now.Add(10 * each)
		} else {
			took += each
		}
	}
	return took
}

// oldEnough returns the jobs that were started before then and run.
func (k *shepherd) oldEnough(then time.Time) (old []*attempt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == 0 {
		return nil
	}
	for _, a := range k.attempts {
		if a.now.State == plan.Running && a.now.Start < grid.TimeOf(then) {
			old = append(old, a)
		}
	}
	return old
}

// record journals the job's process, once: short jobs, which are most, need no such record.
func (a *attempt) record() {
	a.used.mu.Lock()
	pid, known := a.used.pid, a.used.recorded
	a.used.recorded = true
	a.used.mu.Unlock()
	if s, ok := readStat(pid); ok && !known {
		a.k.journal.add(false, nil, record{Seen: &seen{a.key, pid, s.start}})
	}
}
