package shepherd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reserve is how much memory of the host jobs leave to everything else. Without a bound for all jobs together, one job
// that fills the memory takes the pages of all programs of the host first, and the host does not respond for many
// minutes before the kernel ends a process.
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

// divideGroup makes two groups of the one that was delegated to the shepherd by its unit: its own and that of all jobs.
func (k *shepherd) divideGroup(r Reserve) error {
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
	shared := filepath.Join(jobs, sharedGroup)
	for _, path := range []string{filepath.Join(own, shepherdGroup), jobs, shared} {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := writeGroupFile(own, shepherdGroup+"/cgroup.procs", "0"); err != nil {
		return err
	}
	if _, err := enableControllers(own); err != nil {
		return err
	}
	if err := writeGroupFile(jobs, "memory.max", bound); err != nil {
		return err
	}
	k.jobs, err = syscall.Open(shared, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return err
}
