package session

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// State is where a job is, drmaa_jobcontrol(3). Its numbers are DRMAA's.
type State int

const (
	Undetermined        State = 0x00
	QueuedActive        State = 0x10
	SystemOnHold        State = 0x11
	UserOnHold          State = 0x12
	UserSystemOnHold    State = 0x13
	Running             State = 0x20
	SystemSuspended     State = 0x21
	UserSuspended       State = 0x22
	UserSystemSuspended State = 0x23
	Done                State = 0x30
	Failed              State = 0x40
)

// stateOf is the state of a task that has not ended, as sge_status(5) has it. t is
// nil while the task is pending.
func stateOf(j *grid.Job, t *grid.JATask, task uint32) State {
	switch {
	case t != nil && t.Started():
		return Running | both(t.State&^grid.StateSuspended&grid.StateSuspendedAny != 0, t.State&grid.StateSuspended != 0)
	case t != nil && t.State&grid.StateError != 0:
		return Failed
	}
	system := j.OperHold.Contains(task) || j.SysHold.Contains(task) || j.ArrayHold.Contains(task) ||
		len(j.Predecessors) > 0
	return QueuedActive | both(system, j.UserHold.Contains(task))
}

// both are the two bits that say who has a job wait.
func both(system, user bool) (s State) {
	if system {
		s |= 1
	}
	if user {
		s |= 2
	}
	return s
}

// WaitStatus is how a task ended, in the form of wait(2): the number that
// drmaa_wait gives and drmaa_wifexited and the others take apart.
type WaitStatus int

const (
	exited   WaitStatus = 1 << 0
	signaled WaitStatus = 1 << 1
	aborted  WaitStatus = 1 << 3

	exitShift   = 4
	signalShift = 12
)

// statusOf is how a task ended of which this is the last record; nil: it never
// ran.
func statusOf(a *grid.Accounting) WaitStatus {
	switch {
	case a == nil || a.Start == 0 || a.DeletedBy != "" || !report.Failure(a.Failed).Ran():
		return aborted
	case a.Failed != 0 && a.ExitStatus > 128:
		return signaled | WaitStatus(a.ExitStatus-128)<<signalShift
	}
	return exited | WaitStatus(a.ExitStatus&255)<<exitShift
}

// Exited reports whether the job ended by itself: ExitStatus is what with.
func (s WaitStatus) Exited() bool    { return s&exited != 0 }
func (s WaitStatus) ExitStatus() int { return int(s) >> exitShift & 255 }

// Signaled reports whether a signal ended the job: Signal is its name, empty if
// none did.
func (s WaitStatus) Signaled() bool { return s&signaled != 0 }
func (s WaitStatus) Signal() string {
	if !s.Signaled() {
		return ""
	}
	n := int(s) >> signalShift
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(n)
}

// Aborted reports whether the job ended before it ran, or was deleted.
func (s WaitStatus) Aborted() bool { return s&aborted != 0 }

// usageOf is what drmaa_wait returns of a task's usage: name=value, times in
// seconds, the names of accounting(5).
func usageOf(a *grid.Accounting) (list []string) {
	u := a.Usage
	signal := 0.0
	if s := statusOf(a); s.Signaled() {
		signal = float64(s >> signalShift)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"submission_time", float64(a.Submit.Unix())}, {"start_time", float64(a.Start.Unix())},
		{"end_time", float64(a.End.Unix())},
		{"priority", float64(a.Priority)}, {"exit_status", float64(a.ExitStatus)}, {"signal", signal},
		{"ru_wallclock", u.WallSeconds}, {"ru_utime", u.UserSeconds}, {"ru_stime", u.SystemSeconds},
		{"ru_maxrss", u.MaxRSS}, {"ru_ixrss", 0}, {"ru_ismrss", 0}, {"ru_idrss", 0}, {"ru_isrss", 0},
		{"ru_minflt", float64(u.MinFaults)}, {"ru_majflt", float64(u.MajFaults)}, {"ru_nswap", 0},
		{"ru_inblock", float64(u.InBlocks)}, {"ru_oublock", float64(u.OutBlocks)},
		{"ru_msgsnd", 0}, {"ru_msgrcv", 0}, {"ru_nsignals", 0},
		{"ru_nvcsw", float64(u.VolSwitches)}, {"ru_nivcsw", float64(u.InvolSwitches)},
		{"cpu", u.CPU}, {"mem", u.Mem}, {"io", u.IO}, {"iow", u.IOWait}, {"vmem", u.VMem}, {"maxvmem", u.MaxVMem},
		{"acct_cpu", u.CPU}, {"acct_mem", u.Mem}, {"acct_io", u.IO}, {"acct_iow", u.IOWait}, {"acct_maxvmem", u.MaxVMem},
	} {
		list = append(list, fmt.Sprintf("%s=%.4f", v.name, v.value))
	}
	return list
}

// jobID is a job or a task as DRMAA names it: 7, or 7.3 in an array.
type jobID struct {
	job, task uint32 // task 0: the job as a whole
}

// parseID reads a job's name.
func parseID(text string) (jobID, error) {
	job, task, dotted := strings.Cut(text, ".")
	n, err := strconv.ParseUint(job, 10, 32)
	m := uint64(0)
	if err == nil && dotted {
		if m, err = strconv.ParseUint(task, 10, 32); m == 0 {
			n = 0
		}
	}
	if err != nil || n == 0 {
		return jobID{}, failf(InvalidArgument, "Job id, %q, is not a valid job id", text)
	}
	return jobID{uint32(n), uint32(m)}, nil
}

func (id jobID) String() string {
	if id.task == 0 {
		return strconv.FormatUint(uint64(id.job), 10)
	}
	return fmt.Sprintf("%d.%d", id.job, id.task)
}
