package shepherd

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A control group (version 2) is the surest hold on a job: no process can leave it, and one write kills all. Where none
// can be had, sessions, markers and adoption do the same, all but for processes that hide on purpose.

// enterCgroup makes the attempt's control group and opens it, for children to be started in.
func (a *attempt) enterCgroup() *failure {
	a.cgroup = -1
	path := a.plan.Cgroup
	if path == "" {
		return nil
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		a.plan.Cgroup = "" // not ours to remove
		return fail(BeforeJob, "can't make control group: %v", err)
	}
	fd, err := syscall.Open(path, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fail(BeforeJob, "can't open control group %s: %s", path, errnoText(err))
	}
	a.cgroup = fd
	return nil
}

// leaveCgroup kills what is left in the control group. It is removed by dropCgroup, when the dead are buried.
func (a *attempt) leaveCgroup() {
	if a.cgroup >= 0 {
		a.k.reaper.claim(a, membersOf(a.plan.Cgroup))
		killCgroup(a.plan.Cgroup)
		syscall.Close(a.cgroup)
	}
}

func killCgroup(path string) error { return os.WriteFile(path+"/cgroup.kill", []byte("1"), 0) }

func membersOf(path string) []int {
	b, _ := os.ReadFile(path + "/cgroup.procs")
	return parsePids(b)
}

// dropCgroup removes an emptied control group. The kernel may take a moment to notice that its last process is gone.
func dropCgroup(path string) {
	for deadline := time.Now().Add(sweepPatience); path != ""; time.Sleep(time.Millisecond) {
		if syscall.Rmdir(path) != syscall.EBUSY || time.Now().After(deadline) {
			return
		}
	}
}
