package shepherd

import (
	"os"
	"runtime"
	"strconv"

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

// lead is by how many nice values the shepherd goes before its jobs: on a busy processor it then has ten times the
// weight of one of them. Without it a job with thousands of processes would have the jobs of others start and end late.
const lead = 10

// priority is the nice value of what the shepherd starts, with which it was started itself, and its own, which is never
// worse.
type priority struct{ jobs, own int }

// takeLead gives this process, when it is the first of its group, a better nice value than it was started with. Without
// the privilege it keeps that, as a session too.
func takeLead() priority {
	nice := niceness()
	p := priority{nice, nice}
	pid := os.Getpid()
	if unix.Getpgrp() != pid {
		return p
	}
	if setPriority(pid, nice-lead); niceness() < nice {
		p.own = niceness()
	} else {
		setPriority(pid, nice)
	}
	return p
}

// asJob runs f, which forks, with the nice value of jobs: a child has that of the thread, and no thread is made from
// one that is locked. Set afterwards, what a job had forked by then would keep that of the shepherd.
func (p priority) asJob(f func()) {
	if p.own == p.jobs {
		f()
		return
	}
	runtime.LockOSThread()
	unix.Setpriority(unix.PRIO_PROCESS, 0, p.jobs)
	f()
	if unix.Setpriority(unix.PRIO_PROCESS, 0, p.own) == nil { // else the thread ends with its goroutine
		runtime.UnlockOSThread()
	}
}
