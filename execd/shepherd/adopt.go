package shepherd

import (
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

// A log-in of a user beside a job (ssh) is made part of it: its processes have the job's limits, count as the job's and end with it.

// guest is a process that was adopted by an attempt without a control group.
type guest struct {
	pid   int
	start uint64
}

// adopt makes a process, and all that it starts from now on, part of the newest job of a user. It fails when none runs, or the
// process is not the parent of the one that asks: another may have its id by then.
func (k *shepherd) adopt(uid uint32, pid, asker int) (report.Attempt, error) {
	if s, ok := procfs.ReadStat(asker); !ok || s.Parent != pid {
		return report.Attempt{}, fmt.Errorf("process %d is not the parent of process %d", pid, asker)
	}
	a, in := k.newestOf(uid)
	if a == nil {
		return report.Attempt{}, fmt.Errorf("no job of the user runs on this host")
	}
	a.joining.Lock()
	defer a.joining.Unlock()
	if a.closed { // nothing would end the process
		return report.Attempt{}, fmt.Errorf("job %s has ended", a.key)
	}
	if in != "" {
		if err := writeGroup(in, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return report.Attempt{}, fmt.Errorf("cannot join the control group of job %s: %w", a.key, err)
		}
		return a.key, nil
	}
	s, ok := procfs.ReadStat(pid)
	if !ok {
		return report.Attempt{}, fmt.Errorf("process %d has ended", pid)
	}
	a.guests = append(a.guests, guest{pid, s.Start})
	return a.key, nil
}

// close lets no process join the attempt from now on.
func (a *attempt) close() {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.closed = true
}

// newestOf returns the attempt of a user that began last of those that run, and its control group.
func (k *shepherd) newestOf(uid uint32) (newest *attempt, group string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.attempts {
		if a.now.State != plan.Running || a.plan.Owner.UID != uid {
			continue
		}
		if newest == nil || a.now.Start > newest.now.Start || a.now.Start == newest.now.Start && a.key.Compare(newest.key) > 0 {
			newest, group = a, a.plan.Cgroup.Path
		}
	}
	return newest, group
}

// living returns the processes that a has adopted and that live, and forgets the others.
func (a *attempt) living() (pids []int) {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.guests = slices.DeleteFunc(a.guests, func(g guest) bool {
		s, ok := procfs.ReadStat(g.pid)
		return !ok || s.Start != g.start
	})
	for _, g := range a.guests {
		pids = append(pids, g.pid)
	}
	return pids
}

// dismiss ends what an attempt without a control group has adopted. Each process is stopped before its children are read: one that
// had ended would have none, and they would be found no more.
func (a *attempt) dismiss() {
	var all []procfs.Stat
	procfs.WalkTree(a.living(), func(s procfs.Stat) {
		procfs.SignalExactly(s.PID, s.Start, syscall.SIGSTOP)
		all = append(all, s)
	})
	for _, s := range all {
		procfs.SignalExactly(s.PID, s.Start, syscall.SIGKILL)
	}
}
