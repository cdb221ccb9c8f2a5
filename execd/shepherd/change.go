package shepherd

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
)

// Limits of attempts that run are changed between two of their requests: the goroutine of the attempt does it. What it
// has done is in its Status. It is not in the journal: an attempt does not outlive its shepherd, and execd asks the
// shepherd.

// pendingChange is a change on its way to an attempt.
type pendingChange struct {
	plan.LimitsChange
	refused chan string // why it was not carried out; "": it was
}

// changeLimits passes changes to their attempts and returns their answers, when all have answered.
func (k *shepherd) changeLimits(changes []plan.LimitsChange) []plan.Changed {
	answers := make([]plan.Changed, len(changes))
	var all sync.WaitGroup
	for i := range changes {
		c := pendingChange{changes[i], make(chan string, 1)}
		answers[i] = plan.Changed{Attempt: c.Attempt, Version: c.Limits.Version, Refused: "the job has ended"}
		k.mu.Lock()
		a := k.attempts[c.Attempt]
		over := a == nil || a.now.State == plan.Ended
		k.mu.Unlock()
		if over {
			continue
		}
		all.Go(func() {
			select {
			case a.changes <- c:
				answers[i].Refused = <-c.refused
			case <-a.done:
			}
		})
	}
	all.Wait()
	return answers
}

// applyChange gives the attempt other limits while step s runs, all of them or, with the reason, none.
func (a *attempt) applyChange(c *plan.LimitsChange, s *plan.Step, alarms *alarms) (refused string) {
	p := &a.plan
	if c.Limits.Version <= p.Limits.Version {
		return ""
	}
	if !c.Anyway {
		if refused = a.usageAbove(c); refused != "" {
			return refused
		}
	}
	was, now := p.Limits.Rlimits, c.Limits.Rlimits
	if s.Name != plan.Job { // other steps have none, and the job begins with those of the plan
		was = now
	}
	err := a.setRlimits(was, now)
	if err == nil {
		err = a.setGroupLimits(&plan.Cgroup{MemoryHigh: c.MemoryHigh, MemoryMax: c.MemoryMax, PidsMax: c.PidsMax})
	}
	if err != nil {
		a.setRlimits(now, was)
		return err.Error()
	}
	next := p.Limits
	next.Version, next.RT, next.CPU, next.VMem, next.Rlimits = c.Limits.Version, c.Limits.RT, c.Limits.CPU,
		c.Limits.VMem, c.Limits.Rlimits
	before := p.Limits.RT
	p.Limits = next
	a.used.mu.Lock()
	a.limits, a.used.warnedCPU, a.used.warnedVMem = next, false, false
	a.used.mu.Unlock()
	if began, _ := a.used.jobTimes(); s.Name == plan.Job && !a.killed {
		a.setAlarms(alarms, before, time.Since(began))
	}
	a.publishStatus(func(now *plan.Status) { now.Limits = next.Version })
	return ""
}

// setAlarms sets the alarms of those run time limits that differ from before, for a job that has run so long. A job
// that s_rt has warned is not warned again, and gets no more time to end, because h_rt has changed.
func (a *attempt) setAlarms(alarms *alarms, before plan.Bound, ran time.Duration) {
	set := func(was, is uint64, o signalRequest) {
		if was == is {
			return
		}
		alarms.dropLimit(o.limit)
		if is > 0 {
			alarms.addAfter(max(seconds(is)-ran, time.Millisecond), o)
		}
	}
	rt := a.plan.Limits.RT
	set(before.Soft, rt.Soft, signalRequest{action(syscall.SIGUSR1), "s_rt"})
	set(before.Hard, rt.Hard, signalRequest{terminate, "h_rt"})
}

// dropLimit removes the alarms of a limit.
func (l *alarms) dropLimit(limit string) {
	l.due = slices.DeleteFunc(l.due, func(a alarm) bool { return a.request.limit == limit })
}

// usageAbove returns what the job uses now of a limit that would be below that.
func (a *attempt) usageAbove(c *plan.LimitsChange) string {
	l, g, u := &a.plan.Limits, &a.plan.Cgroup, a.used.totalUsage()
	below := func(was, is, used uint64) bool { return is > 0 && is != was && used > is }
	if a.cgroup >= 0 {
		dir := g.Limited()
		if used := procfs.ReadGroupUsage(dir).Memory; below(g.MemoryMax, c.MemoryMax, used) ||
			below(g.MemoryHigh, c.MemoryHigh, used) {
			return fmt.Sprintf("it uses %s of memory", formatBytes(used))
		}
		if used := procfs.ReadGroupNumber(dir, "pids.current"); below(g.PidsMax, c.PidsMax, used) {
			return fmt.Sprintf("it uses %d processes and threads", used)
		}
	}
	ran, cpu := uint64(u.wallclock/time.Second), uint64(u.cpu()/time.Second)
	n := &c.Limits
	switch {
	case below(l.RT.Hard, n.RT.Hard, ran), below(l.RT.Soft, n.RT.Soft, ran):
		return fmt.Sprintf("it has run for %d s", ran)
	case below(l.CPU.Hard, n.CPU.Hard, cpu), below(l.CPU.Soft, n.CPU.Soft, cpu):
		return fmt.Sprintf("it has used %d s of processor time", cpu)
	case below(l.VMem.Hard, n.VMem.Hard, u.vmem), below(l.VMem.Soft, n.VMem.Soft, u.vmem):
		return fmt.Sprintf("it uses %s of address space", formatBytes(u.vmem))
	}
	return ""
}

// setGroupLimits writes the limits of the control group in which the attempt's are. When one cannot be written, all are
// as before.
func (a *attempt) setGroupLimits(now *plan.Cgroup) error {
	g := &a.plan.Cgroup
	if a.cgroup < 0 {
		return nil
	}
	was := *g
	write := func(l *plan.Cgroup) (failed error) {
		for _, s := range groupLimitSettings(l) {
			if err := writeGroupFile(g.Limited(), s.file, s.value); err != nil && failed == nil {
				failed = err
			}
		}
		return failed
	}
	err := write(now)
	if err != nil {
		write(&was)
		return err
	}
	g.MemoryHigh, g.MemoryMax, g.PidsMax = now.MemoryHigh, now.MemoryMax, now.PidsMax
	return nil
}

// groupLimitSettings are the files of all limits that can be changed, also of those that are none.
func groupLimitSettings(l *plan.Cgroup) []groupSetting {
	text := func(n uint64) string {
		if n == 0 {
			return "max"
		}
		return strconv.FormatUint(n, 10)
	}
	all := []groupSetting{{"memory.high", text(l.MemoryHigh)}, {"memory.max", text(l.MemoryMax)},
		{"pids.max", text(l.PidsMax)}}
	if l.MemoryMax > 0 {
		all = append(all, groupSetting{swapMax, "0"})
	}
	return all
}

// rlimitRounds bounds how often all processes are looked at: one that is forked meanwhile has the limits of its parent.
const rlimitRounds = 10

// setRlimits gives all processes of the job the limits of now that differ from those of was: of processor time and
// address space.
func (a *attempt) setRlimits(was, now []plan.Rlimit) error {
	for _, resource := range [...]plan.Resource{plan.CPU, plan.VMem} {
		old, l := rlimitOf(was, resource), rlimitOf(now, resource)
		if old == l {
			continue
		}
		var own unix.Rlimit
		unix.Getrlimit(ulimits[resource].resource, &own)
		want := unix.Rlimit{Cur: min(l.Soft, l.Hard, own.Max), Max: min(l.Hard, own.Max)}
		done, front := map[int]uint64{}, a.used.frontPID()
		for range rlimitRounds {
			fresh, failed := false, error(nil)
			set := func(s procfs.Stat) {
				if s.PID == front || done[s.PID] == s.Start {
					return
				}
				done[s.PID], fresh = s.Start, true
				if err := unix.Prlimit(s.PID, ulimits[resource].resource, &want, nil); err != nil &&
					err != unix.ESRCH && failed == nil {
					failed = fmt.Errorf("limit of %s of process %d: %w", resource, s.PID, err)
				}
			}
			roots, _ := a.k.reaper.findRoots(&a.attemptProcesses)
			procfs.WalkTree(roots, set)
			if failed != nil {
				return failed
			}
			if !fresh {
				break
			}
		}
	}
	return nil
}

// rlimitOf returns the limit of a resource in a list; it is infinite if it is not there.
func rlimitOf(list []plan.Rlimit, resource plan.Resource) plan.Rlimit {
	for _, l := range list {
		if l.Resource == resource {
			return l
		}
	}
	return plan.Rlimit{Resource: resource, Soft: plan.Infinity, Hard: plan.Infinity}
}
