package shepherd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
)

// makeCgroup makes the group of an attempt with its limits. What it has made when it fails is removed.
func makeCgroup(g *plan.Cgroup) error {
	if g.Job == "" {
		return makeLimitedGroup(g.Path, g)
	}
	jobGroups.Lock()
	defer jobGroups.Unlock()
	err := makeLimitedGroup(g.Job, g)
	if err == nil {
		_, err = enableControllers(g.Job)
	}
	if err == nil || errors.Is(err, os.ErrExist) {
		err = os.Mkdir(g.Path, 0o755)
	}
	if err != nil {
		syscall.Rmdir(g.Job) // stays if it has others
	}
	return err
}

// makeLimitedGroup makes one group with the limits of g.
func makeLimitedGroup(dir string, g *plan.Cgroup) error {
	err := os.Mkdir(dir, 0o755)
	if err != nil {
		return err
	}
	for _, s := range groupSettings(g) {
		if err = writeGroupFile(dir, s.file, s.value); err != nil {
			syscall.Rmdir(dir)
			return err
		}
	}
	return nil
}

// groupSetting is a file of a control group and what to write there.
type groupSetting struct{ file, value string }

// groupSettings returns what g asks for. A job dies as a whole whenever the kernel kills a process of it for memory:
// what is left of it would only wait for the others.
func groupSettings(g *plan.Cgroup) []groupSetting {
	all := []groupSetting{{oomGroup, "1"}}
	add := func(file string, n uint64) {
		if n > 0 {
			all = append(all, groupSetting{file, strconv.FormatUint(n, 10)})
		}
	}
	add("memory.high", g.MemoryHigh)
	add("memory.max", g.MemoryMax)
	if g.MemoryMax > 0 {
		all = append(all, groupSetting{swapMax, "0"})
	}
	add("pids.max", g.PidsMax)
	if g.CPUWeight != plan.WeightSlot {
		add("cpu.weight", g.CPUWeight)
	}
	if g.IOWeight > 0 {
		all = append(all, groupSetting{ioWeight, fmt.Sprint(g.IOWeight)},
			groupSetting{bfqWeight, fmt.Sprint(min(g.IOWeight, bfqMax))})
	}
	return all
}

func writeGroupFile(dir, file, value string) error {
	path := filepath.Join(dir, file)
	err := os.WriteFile(path, []byte(value), 0o644)
	if err != nil && slices.Contains([]string{swapMax, oomGroup, cpus, ioWeight, bfqWeight}, file) && !exists(path) {
		return nil
	}
	return err
}

// restrictProcessors lets no process of a group leave the processors. The memory next to them is not set (cpuset.mems):
// a job would be killed while other nodes have some, and the kernel prefers the nearest anyway.
func restrictProcessors(group string, processors []int) error {
	if len(processors) == 0 {
		return nil
	}
	return writeGroupFile(group, cpus, strings.ReplaceAll(strings.Trim(fmt.Sprint(processors), "[]"), " ", ","))
}

func killCgroup(path string) error { return writeGroupFile(path, "cgroup.kill", "1") }

func groupMembers(path string) []int {
	b, _ := os.ReadFile(path + "/cgroup.procs")
	return procfs.ParsePIDs(b)
}

// removeCgroup removes an emptied control group, and that of its job if it was the last of it. The kernel may take a
// moment to notice that its last process is gone.
func removeCgroup(path, job string) {
	if path == "" {
		return
	}
	for deadline := time.Now().Add(sweepPatience); syscall.Rmdir(path) == syscall.EBUSY && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if job != "" {
		jobGroups.Lock()
		defer jobGroups.Unlock()
		syscall.Rmdir(job)
	}
}

// jobGroups is held while a group of a job with several attempts is made or removed.
var jobGroups sync.Mutex

// Files that are not everywhere: without swap, without the controller of memory, without that of processors, and of two
// ways to share disks.
const (
	swapMax   = "memory.swap.max"
	oomGroup  = "memory.oom.group"
	cpus      = "cpuset.cpus"
	ioWeight  = "io.weight"
	bfqWeight = "io.bfq.weight"
)

// bfqMax is the largest io.bfq.weight.
const bfqMax = 1000
