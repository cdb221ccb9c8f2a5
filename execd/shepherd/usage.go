package shepherd

import (
	"sync"
	"syscall"
	"time"
)

// meter adds up what an attempt's job uses: exactly for processes that were waited for, by samples for the others.
type meter struct {
	mu    sync.Mutex
	began time.Time // of the job; zero before
	ended time.Time // of the job; zero before
	pid   int       // of the job
	front bool      // pid is that of a Front

	recorded bool // pid is in the journal

	waited Usage // of the job's first process and of orphans, with the children they waited for
	seen   Usage // at the last sample: CPU, IO and VMem of all processes, living or not

	warnedCPU, warnedVMem bool // of s_cpu and s_vmem, once each
}

// begin says that the job runs since a time; the zero time takes that back.
func (m *meter) begin(pid int, front bool, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.pid, m.front = at, pid, front
}

// times are when the job began and ended.
func (m *meter) times() (began, ended time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began, m.ended
}

// inFront is the process that only stands before the job, 0 for none.
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

// addWaited adds what a process used that was waited for. Of its memory nothing is known that is not more than floor.
func (m *meter) addWaited(r *syscall.Rusage, floor uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.waited
	w.UserTime += time.Duration(r.Utime.Nano())
	w.SysTime += time.Duration(r.Stime.Nano())
	if rss := uint64(r.Maxrss) << 10; rss > floor {
		w.MaxRSS = max(w.MaxRSS, rss)
	}
	w.MinFlt += r.Minflt
	w.MajFlt += r.Majflt
	w.InBlock += r.Inblock
	w.OuBlock += r.Oublock
	w.NVCSw += r.Nvcsw
	w.NIvCSw += r.Nivcsw
}

// total is the usage so far. CPU time of processes that nobody waited for is known from samples only.
func (m *meter) total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.waited
	u.UserTime, u.SysTime = max(u.UserTime, m.seen.UserTime), max(u.SysTime, m.seen.SysTime)
	u.CPU = u.UserTime + u.SysTime
	u.Mem, u.IO, u.MaxVMem, u.MaxRSS = m.seen.Mem, m.seen.IO, m.seen.MaxVMem, max(u.MaxRSS, m.seen.MaxRSS)
	switch {
	case m.began.IsZero():
	case m.ended.IsZero():
		u.Wallclock = time.Since(m.began)
		u.VMem, u.RSS = m.seen.VMem, m.seen.RSS
	default:
		u.Wallclock = m.ended.Sub(m.began)
	}
	return u
}

const gigabyte = 1 << 30

// sample looks at the attempt's processes and returns the order that a limit over the whole job demands, if any.
func (a *attempt) sample() (o order, exceeded bool) {
	roots, _ := a.k.reaper.roots(a)
	front := a.used.inFront()
	var user, sys, vmem, rss, io uint64
	descend(roots, func(s stat) {
		user, sys = user+s.user, sys+s.sys
		if s.pid != front {
			vmem, rss = vmem+s.vmem, rss+s.rss
		}
		io += readIO(s.pid)
	})
	m := &a.used
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.seen
	before := s.UserTime + s.SysTime
	s.UserTime = max(s.UserTime, m.waited.UserTime+ticks(user))
	s.SysTime = max(s.SysTime, m.waited.SysTime+ticks(sys))
	cpu := s.UserTime + s.SysTime
	s.VMem, s.RSS = vmem, rss
	s.MaxVMem, s.MaxRSS = max(s.MaxVMem, vmem), max(s.MaxRSS, rss)
	s.Mem += float64(vmem) / gigabyte * (cpu - before).Seconds()
	s.IO = max(s.IO, float64(io)/gigabyte)

	l := &a.limits
	switch {
	case l.CPU.Hard > 0 && cpu >= seconds(l.CPU.Hard):
		return order{Signal(syscall.SIGKILL), "h_cpu"}, true
	case l.VMem.Hard > 0 && vmem > l.VMem.Hard:
		return order{Signal(syscall.SIGKILL), "h_vmem"}, true
	case l.CPU.Soft > 0 && cpu >= seconds(l.CPU.Soft) && !m.warnedCPU:
		m.warnedCPU = true
		return order{Signal(syscall.SIGXCPU), "s_cpu"}, true
	case l.VMem.Soft > 0 && vmem > l.VMem.Soft && !m.warnedVMem:
		m.warnedVMem = true
		return order{Signal(syscall.SIGXCPU), "s_vmem"}, true
	}
	return order{}, false
}

// samplePause is the least time between two samples of a job, and its age at the first.
const samplePause = time.Second

// watch samples running jobs for ever. However many they are, it leaves at least nine tenths of a processor alone.
func (k *shepherd) watch() {
	pause := samplePause
	for n := 1; ; n++ {
		time.Sleep(pause)
		began := time.Now()
		for _, a := range k.oldEnough(began.Add(-samplePause)) {
			if o, exceeded := a.sample(); exceeded {
				a.order(o)
			}
			a.record()
		}
		pause = max(samplePause, 10*time.Since(began))
		if n%leftSamples == 0 {
			go k.removeLeft()
		}
		k.leaveWhenIdle()
	}
}

// oldEnough returns the jobs that were started before then and run.
func (k *shepherd) oldEnough(then time.Time) (old []*attempt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == 0 {
		return nil
	}
	for _, a := range k.attempts {
		if (a.now.State == Running || a.now.State == Suspended) && a.now.Started.Before(then) {
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
