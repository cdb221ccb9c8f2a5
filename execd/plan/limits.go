package plan

import (
	"slices"
	"strings"
	"time"
)

// Limits bound an attempt. Rlimits are set in the job's first process and inherited by all (setrlimit(2)), so each
// process is held to them alone. The others are held over all processes of the job together, by the shepherd, whether
// or not execd is alive. They apply to the job, not to prolog, epilog and PE procedures.
type Limits struct {
	Rlimits []Rlimit
	RT      Bound // s_rt, h_rt: wall clock seconds of the job; SIGUSR1, then Terminate
	CPU     Bound // s_cpu, h_cpu: CPU seconds of all processes; SIGXCPU, then SIGKILL
	VMem    Bound // s_vmem, h_vmem: bytes of address space of all processes; SIGXCPU, then SIGKILL

	// Version of the limits; 0: those that the job was submitted with.
	Version uint32

	// Grace is how long after the SIGUSR1 of s_rt the job is terminated, queue_conf(5) notify; 0: it is only warned.
	Grace time.Duration
}

// Bound is a soft and a hard limit over all of an attempt; 0 is none.
type Bound struct{ Soft, Hard uint64 }

// Rlimit is one resource limit of setrlimit(2). Infinity is RLIM_INFINITY.
type Rlimit struct {
	Resource   Resource
	Soft, Hard uint64
}

// Infinity lifts a limit.
const Infinity = ^uint64(0)

// Resource is what an Rlimit bounds. Units are those of setrlimit(2): bytes, seconds for CPU, else a count.
type Resource uint8

// The resources of queue_conf(5), then those of the S_ and H_ settings in the execd_params of sge_conf(5).
const (
	CPU Resource = iota + 1
	FSize
	Data
	Stack
	Core
	RSS
	VMem
	NoFile
	NProc
	MemLock
	Locks
)

var resourceNames = [...]string{"", "cpu", "fsize", "data", "stack", "core", "rss", "vmem", "descriptors", "maxproc",
	"memorylocked", "locks"}

// String returns the name in queue_conf(5) or execd_params, without s_ and h_.
func (r Resource) String() string { return resourceNames[r] }

// Limited returns the program and arguments of a shell that sets limits and then becomes the program: limits belong to
// a process, and Go has no way to set them between fork and exec. Giving a login shell its name takes bash; everything
// else the usual shell, which starts faster, unless the environment has functions of bash, which other shells drop.
// limits are its commands for them: the shepherd makes them, and has them last among the arguments of a step that is a
// Front.
func Limited(limits string, login bool, path string, argv, env []string) (string, []string) {
	shell, name, options, become := "/bin/sh", path, "-c", `exec "$@"`
	if login {
		shell, name, become = "/bin/bash", argv[0], `exec -a "$0" "$@"`
	} else if slices.ContainsFunc(env, isFunction) {
		shell, options = "/bin/bash", "-pc" // it passes them on as they are
	}
	return shell, append([]string{name, options, limits + become, name, path}, argv[1:]...)
}

// isFunction reports whether a variable is a function that bash has exported.
func isFunction(v string) bool { return strings.HasPrefix(v, "BASH_FUNC_") }
