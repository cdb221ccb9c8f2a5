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

	"golang.org/x/sys/unix"
)

// enableControllers enables the controllers of a group for the groups below it. It returns the first of those that
// limits need and that the group lacks.
func enableControllers(dir string) (lacks string, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return "", err
	}
	has := strings.Fields(string(b))
	enable := ""
	for i, c := range controllers {
		switch {
		case slices.Contains(has, c):
			enable += " +" + c
		case lacks == "" && i < controllersNeeded:
			lacks = c
		}
	}
	return lacks,
		os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(strings.TrimPrefix(enable, " ")), 0o644)
}

// CgroupParent is where control groups of attempts can be made, and what cannot be done with them.
type CgroupParent struct {
	Path string // a group

	// Reasons; nil: it can be done.
	NoDevices    error // close device files
	NoWeights    error // share busy disks
	NoProcessors error // keep processes on processors
}

// Cgroup makes the control group of that name in which those of attempts can be made, below the shepherd's own or that
// of all jobs beside it. It fails when nothing there was delegated to the shepherd, or a controller is missing.
func (k *Client) Cgroup(name string) (CgroupParent, error) {
	parent, err := cgroupOf(k.pid)
	if err != nil {
		return CgroupParent{}, err
	}
	if filepath.Base(parent) == shepherdGroup {
		parent = filepath.Join(filepath.Dir(parent), jobsGroup)
	}
	path, err := hostGroup(parent, name)
	if err != nil {
		return CgroupParent{}, err
	}
	g := CgroupParent{Path: path, NoDevices: checkDeviceRules(path)}
	if !exists(filepath.Join(path, cpus)) {
		g.NoProcessors = fmt.Errorf("control group %s has no controller \"cpuset\"", path)
	}
	if !exists(filepath.Join(path, ioWeight)) && !exists(filepath.Join(path, bfqWeight)) {
		g.NoWeights = fmt.Errorf("control group %s has no %s", path, ioWeight)
	}
	return g, nil
}

// hostGroup makes a group whose own can be limited.
func hostGroup(parent, name string) (string, error) {
	if err := unix.Access(parent, unix.W_OK); err != nil {
		return "", fmt.Errorf("control group %s cannot be written: %w", parent, err)
	}
	group := filepath.Join(parent, name)
	for _, dir := range []string{parent, group} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
		lacks, err := enableControllers(dir)
		if lacks != "" {
			return "", fmt.Errorf("control group %s has no controller %q", dir, lacks)
		}
		if err != nil {
			return "", fmt.Errorf("control group %s cannot be divided: %w", dir, err)
		}
	}
	return group, nil
}

// Groups below that of the shepherd's unit: a group that shares memory out between groups can have no processes itself.
//
//	UNIT/supervisor                     the shepherd
//	UNIT/jobs                           bounds all jobs: Reserve
//	UNIT/jobs/shared                    processes of attempts that have no group of their own
//	UNIT/jobs/quill-HOST/JOB.TASK.N     one attempt
const (
	shepherdGroup = "supervisor"
	jobsGroup     = "jobs"
	sharedGroup   = "shared"
)

// controllers are those that the limits of jobs need, then those that are enabled where they are: io, which is mostly
// read, and cpuset.
var controllers = [...]string{"memory", "pids", "cpu", "io", "cpuset"}

// controllersNeeded are the first of them.
const controllersNeeded = 3

// cgroupMount returns where control groups (version 2) are.
var cgroupMount = sync.OnceValues(func() (string, error) {
	return findInLines("/proc/self/mounts", func(line string) (string, bool) {
		f := strings.Fields(line)
		return f[1], len(f) > 2 && f[2] == "cgroup2"
	})
})

// cgroupOf returns the directory of a process's control group (version 2).
func cgroupOf(pid int) (string, error) {
	mount, err := cgroupMount()
	if err != nil {
		return "", err
	}
	own, err := findInLines("/proc/"+strconv.Itoa(pid)+"/cgroup", func(line string) (string, bool) {
		return strings.CutPrefix(strings.TrimSpace(line), "0::")
	})
	return filepath.Join(mount, own), err
}

// findInLines returns what pick finds in the first line of a file that has it.
func findInLines(path string, pick func(string) (string, bool)) (string, error) {
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
