package shepherd

import (
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

// A log-in of a user beside a job (ssh) is made part of it: its processes have the job's limits, count as the job's and
// end with it.

// adoptProcess makes a process, and all that it starts from now on, part of the newest job of a user. It fails when
// none runs, or the process is not the parent of the one that asks: another may have its id by then.
func (k *shepherd) adoptProcess(uid uint32, pid, asker int) (report.Attempt, error) {
	if s, ok := procfs.ReadStat(asker); !ok || s.Parent != pid {
		return report.Attempt{}, fmt.Errorf("process %d is not the parent of process %d", pid, asker)
	}
	a, in := k.newestAttemptOf(uid)
	if a == nil {
		return report.Attempt{}, fmt.Errorf("no job of the user runs on this host")
	}
	a.joining.Lock()
	defer a.joining.Unlock()
	if a.closed { // nothing would end the process
		return report.Attempt{}, fmt.Errorf("job %s has ended", a.key)
	}
	if in != "" {
		if err := writeGroupFile(in, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return report.Attempt{}, fmt.Errorf("cannot join the control group of job %s: %w", a.key, err)
		}
		return a.key, nil
	}
	s, ok := procfs.ReadStat(pid)
	if !ok {
		return report.Attempt{}, fmt.Errorf("process %d has ended", pid)
	}
	a.adopted = append(a.adopted, adoptedProcess{pid, s.Start})
	return a.key, nil
}

// newestAttemptOf returns the attempt of a user that began last of those that run, and its control group.
func (k *shepherd) newestAttemptOf(uid uint32) (newest *attempt, group string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.attempts {
		if a.now.State != plan.Running || a.plan.Owner.UID != uid {
			continue
		}
		if newest == nil || a.now.Start > newest.now.Start || a.now.Start == newest.now.Start &&
			a.key.Compare(newest.key) > 0 {
			newest, group = a, a.plan.Cgroup.Path
		}
	}
	return newest, group
}
