package shepherd

import (
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/grid"
)

// sampleUsage looks at the attempt's processes and returns the order that a limit over the whole job demands, if any.
func (a *attempt) sampleUsage() (o signalRequest, exceeded bool) {
	roots, _ := a.k.reaper.knownRoots(&a.attemptProcesses)
	roots = append(roots, a.livingAdopted()...)
	front := a.used.frontPID()
	var user, sys, vmem, rss, io, processes uint64
	procfs.WalkTree(roots, func(s procfs.Stat) {
		user, sys = user+s.UserTicks, sys+s.SysTicks
		if s.PID != front {
			vmem, rss = vmem+s.VMem, rss+s.RSS
		}
		io, processes = io+procfs.ReadIO(s.PID), processes+uint64(max(s.Threads, 1))
	})
	m := &a.used
	g := a.groupUsage()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.seen
	before := s.userTime + s.sysTime
	m.sampled = true
	m.addGroupUsageLocked(g)
	if g.Memory > 0 {
		rss = g.Memory // pages that processes share count once
	}
	s.userTime = max(s.userTime, m.waited.userTime+procfs.TicksToDuration(user))
	s.sysTime = max(s.sysTime, m.waited.sysTime+procfs.TicksToDuration(sys))
	cpu := s.userTime + s.sysTime
	s.vmem, s.rss, s.processes = vmem, rss, max(processes, g.Processes)
	s.maxVMem, s.maxRSS = max(s.maxVMem, vmem), max(s.maxRSS, rss)
	s.mem += float64(vmem) / gigabyte * (cpu - before).Seconds()
	s.io = max(s.io, float64(io)/gigabyte)

	l := &a.limits
	switch {
	case l.CPU.Hard > 0 && cpu >= seconds(l.CPU.Hard):
		return signalRequest{action(syscall.SIGKILL), "h_cpu"}, true
	case l.VMem.Hard > 0 && vmem > l.VMem.Hard:
		return signalRequest{action(syscall.SIGKILL), "h_vmem"}, true
	case l.CPU.Soft > 0 && cpu >= seconds(l.CPU.Soft) && !m.warnedCPU:
		m.warnedCPU = true
		return signalRequest{action(syscall.SIGXCPU), "s_cpu"}, true
	case l.VMem.Soft > 0 && vmem > l.VMem.Soft && !m.warnedVMem:
		m.warnedVMem = true
		return signalRequest{action(syscall.SIGXCPU), "s_vmem"}, true
	}
	return signalRequest{}, false
}

// samplePause is the least time between two samples of a job, and its age at the first.
const samplePause = time.Second

// sampleLoop samples running jobs for ever. However many they are, it leaves at least nine tenths of a processor alone.
// A user whose jobs take long to sample, for they have very many processes, has them sampled less often, and no others.
func (k *shepherd) sampleLoop() {
	pause := samplePause
	next := map[uint32]time.Time{} // of such users
	for {
		time.Sleep(pause)
		began := time.Now()
		k.reaper.updateOrphans()
		go k.reaper.findAllMarkers()
		pause = max(samplePause, 10*(time.Since(began)+k.sampleAll(began, next)))
		k.mu.Lock()
		due := k.retry.countSample()
		k.mu.Unlock()
		if due {
			go k.retryRemovals()
		}
		k.quitWhenIdle()
	}
}

// longSample is how long the samples of a user's jobs may take before they are made less often.
const longSample = 50 * time.Millisecond

// sampleAll samples the jobs of all users but those whose time, in next, has not come. It returns how long all took
// that did not take long.
func (k *shepherd) sampleAll(now time.Time, next map[uint32]time.Time) (took time.Duration) {
	of := map[uint32]time.Duration{}
	for _, a := range k.attemptsOlderThan(now.Add(-samplePause)) {
		uid := a.users[0]
		if now.Before(next[uid]) {
			continue
		}
		began := time.Now()
		if o, exceeded := a.sampleUsage(); exceeded {
			a.requestSignal(o)
		}
		a.journalProcess()
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

// attemptsOlderThan returns the jobs that were started before then and run.
func (k *shepherd) attemptsOlderThan(then time.Time) (old []*attempt) {
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

// journalProcess journals the job's process, once: short jobs, which are most, need no such record.
func (a *attempt) journalProcess() {
	a.used.mu.Lock()
	pid, known := a.used.pid, a.used.recorded
	a.used.recorded = true
	a.used.mu.Unlock()
	if s, ok := procfs.ReadStat(pid); ok && !known {
		a.k.journal.add(false, nil, journalRecord{Seen: &processRecord{a.key, pid, s.Start}})
	}
}
