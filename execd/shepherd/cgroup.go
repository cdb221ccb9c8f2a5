package shepherd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/report"
)

// A control group (version 2) is the surest hold on a job: no process can leave it, and one write kills all. Where none
// can be had, sessions, markers and adoption do the same, all but for processes that hide on purpose.

// Groups below that of the shepherd's unit: a group that shares memory out between groups can have no processes itself.
const (
	shepherdGroup = "supervisor"
	jobsGroup     = "jobs"
)

// Reserve is how much memory of the host jobs leave to everything else. Without a bound for all jobs together, one job that
// fills the memory takes the pages of all programs of the host first, and the host does not respond for many minutes before
// the kernel ends a process.
type Reserve struct {
	None  bool   // jobs may use all
	Bytes uint64 // 0: reserveMin and a hundredth of the memory, at most half of it
}

// reserveMin has room for the system and all daemons of a small cell.
const reserveMin = 384 << 20

// jobsMemory returns what jobs may use of a host's memory, as memory.max takes it.
func (r Reserve) jobsMemory(total uint64) (string, error) {
	switch {
	case r.None:
		return "max", nil
	case r.Bytes >= total:
		return "", fmt.Errorf("the host has %d bytes of memory, and %d are to be reserved", total, r.Bytes)
	case r.Bytes > 0:
		return strconv.FormatUint(total-r.Bytes, 10), nil
	}
	return strconv.FormatUint(total-min(total/2, reserveMin+total/100), 10), nil
}

// divide makes two groups of the one that was delegated to the shepherd by its unit: its own and that of all jobs.
func (k *shepherd) divide(r Reserve) error {
	own, err := cgroupOf(os.Getpid())
	if err != nil {
		return err
	}
	var host unix.Sysinfo_t
	if err := unix.Sysinfo(&host); err != nil {
		return err
	}
	bound, err := r.jobsMemory(host.Totalram * uint64(host.Unit))
	if err != nil {
		return err
	}
	jobs := filepath.Join(own, jobsGroup)
	for _, path := range []string{filepath.Join(own, shepherdGroup), jobs} {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	for _, set := range []struct{ file, value string }{
		{shepherdGroup + "/cgroup.procs", "0"}, {"cgroup.subtree_control", "+memory"}, {jobsGroup + "/memory.max", bound},
	} {
		if err := os.WriteFile(filepath.Join(own, set.file), []byte(set.value), 0); err != nil {
			return err
		}
	}
	k.jobs, err = syscall.Open(jobs, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return err
}

// Cgroup returns the control group below which those of attempts may be made: the shepherd's own, or that of all jobs beside it.
// It fails when there can be none.
func (k *Client) Cgroup() (string, error) {
	parent, err := cgroupOf(k.pid)
	if err != nil {
		return "", err
	}
	if filepath.Base(parent) == shepherdGroup {
		parent = filepath.Join(filepath.Dir(parent), jobsGroup)
	}
	if err := unix.Access(parent, unix.W_OK); err != nil {
		return "", fmt.Errorf("control group %s: %w", parent, err)
	}
	return parent, nil
}

// cgroupOf returns the directory of a process's control group (version 2).
func cgroupOf(pid int) (string, error) {
	mount, err := fieldOf("/proc/self/mounts", func(line string) (string, bool) {
		f := strings.Fields(line)
		return f[1], len(f) > 2 && f[2] == "cgroup2"
	})
	if err != nil {
		return "", err
	}
	own, err := fieldOf("/proc/"+strconv.Itoa(pid)+"/cgroup", func(line string) (string, bool) {
		return strings.CutPrefix(strings.TrimSpace(line), "0::")
	})
	return filepath.Join(mount, own), err
}

// fieldOf returns what pick finds in the first line of a file that has it.
func fieldOf(path string, pick func(string) (string, bool)) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := pick(line); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s names no control group of version 2", path)
}

// enterCgroup makes the attempt's control group and opens it, for children to be started in.
func (a *attempt) enterCgroup() *failure {
	a.cgroup = -1
	path := a.plan.Cgroup
	if path == "" {
		return nil
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		a.plan.Cgroup = "" // not ours to remove
		return fail(report.FailedBeforeJob, "can't make control group: %v", err)
	}
	fd, err := syscall.Open(path, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fail(report.FailedBeforeJob, "can't open control group %s: %s", path, errnoText(err))
	}
	a.cgroup = fd
	return nil
}

// leaveCgroup kills what is left in the control group. It is removed by dropCgroup, when its processes have been waited for.
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
