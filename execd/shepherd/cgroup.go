package shepherd

import (
	"bytes"
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

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// A control group (version 2) is the surest hold on a job: no process can leave it, and one write kills all. Where none
// can be had, sessions, markers and adoption do the same, all but for processes that hide on purpose.

// jobGroups is held while a group of a job with several attempts is made or removed.
var jobGroups sync.Mutex

// makeCgroup makes the group of an attempt with its limits. What it has made when it fails is removed.
func makeCgroup(g *plan.Cgroup) error {
	if g.Job == "" {
		return makeLimited(g.Path, g)
	}
	jobGroups.Lock()
	defer jobGroups.Unlock()
	err := makeLimited(g.Job, g)
	if err == nil {
		_, err = share(g.Job)
	}
	if err == nil || errors.Is(err, os.ErrExist) {
		err = os.Mkdir(g.Path, 0o755)
	}
	if err != nil {
		syscall.Rmdir(g.Job) // stays if it has others
	}
	return err
}

// makeLimited makes one group with the limits of g.
func makeLimited(dir string, g *plan.Cgroup) error {
	err := os.Mkdir(dir, 0o755)
	if err != nil {
		return err
	}
	for _, s := range settings(g) {
		if err = writeGroup(dir, s.file, s.value); err != nil {
			syscall.Rmdir(dir)
			return err
		}
	}
	return nil
}

// setting is a file of a control group and what to write there.
type setting struct{ file, value string }

// settings returns what g asks for. A job dies as a whole whenever the kernel kills a process of it for memory: what is left
// of it would only wait for the others.
func settings(g *plan.Cgroup) []setting {
	all := []setting{{oomGroup, "1"}}
	add := func(file string, n uint64) {
		if n > 0 {
			all = append(all, setting{file, strconv.FormatUint(n, 10)})
		}
	}
	add("memory.high", g.MemoryHigh)
	add("memory.max", g.MemoryMax)
	if g.MemoryMax > 0 {
		all = append(all, setting{swapMax, "0"})
	}
	add("pids.max", g.PidsMax)
	if g.CPUWeight != plan.WeightSlot {
		add("cpu.weight", g.CPUWeight)
	}
	if g.IOWeight > 0 {
		all = append(all, setting{ioWeight, fmt.Sprint(g.IOWeight)}, setting{bfqWeight, fmt.Sprint(min(g.IOWeight, bfqMax))})
	}
	return all
}

// Files that are not everywhere: without swap, without the controller of memory, without that of processors, and of two ways to share
// disks.
const (
	swapMax   = "memory.swap.max"
	oomGroup  = "memory.oom.group"
	cpus      = "cpuset.cpus"
	ioWeight  = "io.weight"
	bfqWeight = "io.bfq.weight"
)

// bfqMax is the largest io.bfq.weight.
const bfqMax = 1000

func writeGroup(dir, file, value string) error {
	path := filepath.Join(dir, file)
	err := os.WriteFile(path, []byte(value), 0o644)
	if err != nil && slices.Contains([]string{swapMax, oomGroup, cpus, ioWeight, bfqWeight}, file) && !exists(path) {
		return nil
	}
	return err
}

// enterCgroup makes the attempt's control group and opens it, for children to be started in.
func (a *attempt) enterCgroup() *failure {
	a.cgroup = -1
	g := &a.plan.Cgroup
	if g.Path == "" {
		return nil
	}
	if err := makeCgroup(g); err != nil {
		*g = plan.Cgroup{} // nothing to remove, or not ours
		return failBy(err, report.FailedBeforeJob, "can't make control group: %v", err)
	}
	if err := keepOn(g.Path, a.plan.Affinity); err != nil {
		a.k.logf("%s: kept on processors %v by its affinity only: %v", a.key, a.plan.Affinity, err)
	}
	if err := a.closeDevices(); err != nil {
		return failBy(err, report.FailedBeforeJob, "can't close devices of other jobs: %v", err)
	}
	fd, err := syscall.Open(g.Path, unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return failBy(err, report.FailedBeforeJob, "can't open control group %s: %s", g.Path, errnoText(err))
	}
	a.cgroup = fd
	a.k.reaper.enterGroup(a, g.Path)
	return nil
}

// keepOn lets no process of a group leave the processors. The memory next to them is not set (cpuset.mems): a job would be killed while
// other nodes have some, and the kernel prefers the nearest anyway.
func keepOn(group string, processors []int) error {
	if len(processors) == 0 {
		return nil
	}
	return writeGroup(group, cpus, strings.ReplaceAll(strings.Trim(fmt.Sprint(processors), "[]"), " ", ","))
}

// freeze suspends all processes of the attempt at once, also those that a signal does not reach. False: it has no group.
func (a *attempt) freeze() bool {
	a.frozen = a.cgroup >= 0 && writeGroup(a.plan.Cgroup.Path, freezeFile, "1") == nil
	return a.frozen
}

// thaw resumes what freeze suspended. It reports whether anything was.
func (a *attempt) thaw() bool {
	if !a.frozen {
		return false
	}
	a.frozen = false
	if err := writeGroup(a.plan.Cgroup.Path, freezeFile, "0"); err != nil {
		a.k.logf("%s: cannot resume the control group: %v", a.key, err)
	}
	return true
}

const freezeFile = "cgroup.freeze"

// group returns what the attempt's control group has used; nothing without one.
func (a *attempt) group() groupUsage {
	if a.cgroup < 0 {
		return groupUsage{}
	}
	return readUsage(a.plan.Cgroup.Path)
}

// ended returns what the job has used at its end. What it has in memory matters only beside what it was seen with: most jobs are short.
func (a *attempt) ended() groupUsage {
	if a.cgroup >= 0 && !a.used.wasSampled() {
		return readSpent(a.plan.Cgroup.Path)
	}
	return a.group()
}

// leaveCgroup kills what is left in the control group, in groups within it too. It is removed by dropCgroup, when its processes have been
// waited for.
func (a *attempt) leaveCgroup() {
	if a.cgroup < 0 {
		return
	}
	group := a.plan.Cgroup.Path
	if populated, err := readGroup(group, "cgroup.events"); err != nil || !bytes.Contains(populated, []byte("populated 0\n")) {
		a.k.reaper.claim(a, membersOf(group))
		killCgroup(group)
	}
	syscall.Close(a.cgroup)
	if a.devicesOver != nil {
		close(a.devicesOver)
	}
}

func killCgroup(path string) error { return writeGroup(path, "cgroup.kill", "1") }

func membersOf(path string) []int {
	b, _ := os.ReadFile(path + "/cgroup.procs")
	return parsePids(b)
}

// dropCgroup removes an emptied control group, and that of its job if it was the last of it. The kernel may take a moment to
// notice that its last process is gone.
func dropCgroup(path, job string) {
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
