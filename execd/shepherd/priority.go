package shepherd

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// setPriority gives a job, a step or this process, whose session and process group have the number of its first
// process, a nice value. A kernel that groups processes by session (sched(7), autogroup) weighs whole sessions against
// each other by a value of their own, 0 for a new one, which is set too: without it the nice value would have no effect
// on other sessions.
func setPriority(pid, nice int) {
	unix.Setpriority(unix.PRIO_PGRP, pid, nice) // to the group, for the job may have forked already
	if f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/autogroup", os.O_WRONLY, 0); err == nil {
		f.WriteString(strconv.Itoa(min(nice, 19)))
		f.Close()
	}
}

// niceness returns the nice value of this process.
func niceness() int {
	value, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - value // the system call counts from 40 down to 1
}

// leadNice is by how many nice values execd and the shepherd go before jobs: on a busy processor each then has ten
// times the weight of one of their processes. Without it a job with thousands of processes would have the jobs of
// others start and end late.
const leadNice = 10

// NiceLevel is the better nice value that a daemon has than what it starts.
type NiceLevel struct{ started, own int } // with which nice value this process was started, and its own, never worse

// RaisePriority gives this process, when it is the first of its group, a better nice value than it was started with.
// Without the privilege it keeps that, as a session too.
func RaisePriority() NiceLevel {
	nice := niceness()
	l := NiceLevel{nice, nice}
	pid := os.Getpid()
	if unix.Getpgrp() != pid {
		return l
	}
	if setPriority(pid, nice-leadNice); niceness() < nice {
		l.own = niceness()
	} else {
		setPriority(pid, nice)
	}
	return l
}

// Fork runs f, which forks, with the nice value that this process was started with: a child has that of the thread, and
// no thread is made from one that is locked. Set afterwards, what the child had forked by then would keep the priority.
func (l NiceLevel) Fork(f func()) {
	if l.own == l.started {
		f()
		return
	}
	runtime.LockOSThread()
	unix.Setpriority(unix.PRIO_PROCESS, 0, l.started)
	f()
	if unix.Setpriority(unix.PRIO_PROCESS, 0, l.own) == nil { // else the thread ends with its goroutine
		runtime.UnlockOSThread()
	}
}

// Start starts a command that has no part in the priority, in a session of its own: that of this process has it too.
func (l NiceLevel) Start(cmd *exec.Cmd) (err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setpgid = true, false
	l.Fork(func() { err = cmd.Start() })
	return err
}
