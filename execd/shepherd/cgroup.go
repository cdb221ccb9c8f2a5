package shepherd

import (
	"bytes"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

// A control group (version 2) is the surest hold on a job: no process can leave it, and one write kills all. Where none
// can be had, sessions, markers and adoption do the same, all but for processes that hide on purpose.

// enterCgroup makes the attempt's control group and opens it, for children to be started in.
func (a *attempt) enterCgroup() *attemptFailure {
	a.cgroup = -1
	g := &a.plan.Cgroup
	if g.Path == "" {
		return nil
	}
	if err := makeCgroup(g); err != nil {
		*g = plan.Cgroup{} // nothing to remove, or not ours
		return failureBy(err, report.FailedBeforeJob, "can't make control group: %v", err)
	}
	if err := restrictProcessors(g.Path, a.plan.Affinity); err != nil {
		a.k.logf("%s: kept on processors %v by its affinity only: %v", a.key, a.plan.Affinity, err)
	}
	if err := a.closeDevices(); err != nil {
		return failureBy(err, report.FailedBeforeJob, "can't close devices of other jobs: %v", err)
	}
	fd, err := syscall.Open(g.Path, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return failureBy(err, report.FailedBeforeJob, "can't open control group %s: %s", g.Path, errnoText(err))
	}
	a.cgroup = fd
	a.k.reaper.addGroup(&a.attemptProcesses, g.Path)
	return nil
}

// freezeGroup suspends all processes of the attempt at once, also those that a signal does not reach. False: it has no
// group.
func (a *attempt) freezeGroup() bool {
	a.frozen = a.cgroup >= 0 && writeGroupFile(a.plan.Cgroup.Path, freezeFile, "1") == nil
	return a.frozen
}

// thawGroup resumes what freeze suspended. It reports whether anything was.
func (a *attempt) thawGroup() bool {
	if !a.frozen {
		return false
	}
	a.frozen = false
	if err := writeGroupFile(a.plan.Cgroup.Path, freezeFile, "0"); err != nil {
		a.k.logf("%s: cannot resume the control group: %v", a.key, err)
	}
	return true
}

const freezeFile = "cgroup.freeze"

// groupUsage returns what the attempt's control group has used; nothing without one.
func (a *attempt) groupUsage() procfs.GroupUsage {
	if a.cgroup < 0 {
		return procfs.GroupUsage{}
	}
	return procfs.ReadGroupUsage(a.group)
}

// groupUsageAtEnd returns what the job has used at its end. What it has in memory matters only beside what it was seen
// with: most jobs are short.
func (a *attempt) groupUsageAtEnd() procfs.GroupUsage {
	if a.cgroup >= 0 && !a.used.wasSampled() {
		return procfs.ReadGroupSpent(a.group)
	}
	return a.groupUsage()
}

// leaveCgroup kills what is left in the control group, in groups within it too. It is removed by removeCgroup, when its
// processes have been waited for.
func (a *attempt) leaveCgroup() {
	if a.cgroup < 0 {
		return
	}
	group := a.plan.Cgroup.Path
	if populated, err := procfs.ReadGroupFile(group, "cgroup.events"); err != nil ||
		!bytes.Contains(populated, []byte("populated 0\n")) {
		a.k.reaper.claimOrphans(&a.attemptProcesses, groupMembers(group))
		killCgroup(group)
	}
	syscall.Close(a.cgroup)
	if a.devicesOver != nil {
		close(a.devicesOver)
	}
}

// devicesPause is how long a device file that is made while a job runs may be open to it.
const devicesPause = 250 * time.Millisecond

// closeDevices closes those device files to the attempt that are there, and has those that are made later, or anew with
// other numbers, closed until devicesOver is closed: a driver may make its files when they are first used.
func (a *attempt) closeDevices() error {
	devices, group := a.plan.Devices, a.plan.Cgroup.Path
	if len(devices) == 0 {
		return nil
	}
	rules := deviceRules(devices)
	if err := attachDeviceRules(group, rules); err != nil {
		return err
	}
	over := make(chan struct{})
	a.devicesOver = over
	go func() {
		tick := time.NewTicker(devicesPause)
		defer tick.Stop()
		said := false
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			fresh := slices.DeleteFunc(deviceRules(devices), func(r deviceRule) bool { return slices.Contains(rules, r) })
			if len(fresh) == 0 {
				continue
			}
			err := attachDeviceRules(group, fresh) // beside those that hold: all must allow
			if err == nil {
				rules = append(rules, fresh...)
			} else if !said && exists(group) {
				said = true
				a.k.logf("%s: a device that has appeared stays open to the job: %v", a.key, err)
			}
		}
	}()
	return nil
}
