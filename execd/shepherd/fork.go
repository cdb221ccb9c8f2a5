package shepherd

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fork starts one step in a session of its own, as its owner, in the working directory, with the attempt's streams.
func (k *keeper) fork(a *attempt, s *Step) (*proc, *failure) {
	p := &a.plan
	if s.Refused != "" {
		return nil, fail(startFailures[s.Name], "%s", s.Refused)
	}
	owner := &p.Owner
	if s.As != nil {
		owner = s.As
	}
	path, argv := s.Argv[0], s.Argv
	isJob := s.Name == Job
	if s.Login {
		argv = append([]string{"-" + argv[0][strings.LastIndexByte(argv[0], '/')+1:]}, argv[1:]...)
	}
	switch limits := p.Limits.Rlimits; {
	case !isJob || len(limits) == 0:
	case s.Front:
		argv = append(slices.Clone(argv), ulimit(limits))
	default:
		if err := canRun(path); err != nil { // the shell in between would hide it
			return nil, fail(SearchingShell, "execvlp(%s, %q) failed: %s", path, argv[0], errnoText(err))
		}
		path, argv = Limited(ulimit(limits), s.Login, path, argv)
	}
	out := &a.streams
	if s.Stdout != "" {
		out = new(streams)
		defer out.close() // the process has its own copies
		if failed := k.open(p.Owner, "", s.Stdout, s.Stderr, out); failed != nil {
			return nil, failed
		}
	}
	attr := &syscall.ProcAttr{
		Dir:   p.Cwd,
		Env:   a.envOf(s),
		Files: []uintptr{uintptr(out.fds[0]), uintptr(out.fds[1]), uintptr(out.fds[2])},
		Sys:   a.sysProcAttr(owner),
	}
	started, err := k.reaper.fork(a, isJob, func() (pid int, err error) {
		withUmask(p.Umask, func() {
			a.bound(func() { pid, err = syscall.ForkExec(path, argv, attr) })
		})
		return pid, err
	})
	if err != nil {
		if gone := k.cannotEnter(p.Cwd, owner); gone != nil {
			return nil, gone
		}
		code := SearchingShell
		if exhausted(err) {
			code = startFailures[s.Name]
		}
		return nil, fail(code, "execvlp(%s, %q) failed: %s", path, argv[0], errnoText(err))
	}
	if isJob && p.Priority != 0 {
		// To the group, for the job may have forked already.
		unix.Setpriority(unix.PRIO_PGRP, started.pid, p.Priority)
	}
	return started, nil
}

// envOf is the environment of a step. What runs after the job is told how it ended.
func (a *attempt) envOf(s *Step) []string {
	if len(s.Env) == 0 && !a.ran {
		return a.env
	}
	env := slices.Clone(a.env)
	for _, v := range s.Env {
		env = with(env, v)
	}
	if a.ran {
		env = with(env, "SGE_JOBEXIT_STAT="+strconv.Itoa(a.jobStatus))
	}
	return env
}

// with sets a variable: a name stands once in an environment, for some programs see the first and some the last.
func with(env []string, v string) []string {
	name := v[:strings.IndexByte(v, '=')+1]
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, name) }); i >= 0 {
		env[i] = v
		return env
	}
	return append(env, v)
}

// startFailures are the codes for steps that did not get as far as their program. One that is not there or cannot be
// executed is SearchingShell, whatever the step, as in Grid Engine.
var startFailures = map[StepName]Failure{
	Prolog: BeforeProlog, PEStart: BeforePEStart, Job: StartingJob, PEStop: BeforePEStop, Epilog: BeforeEpilog,
}

// runFailures are the codes for steps that are not the job and exited non-zero.
var runFailures = map[StepName]Failure{Prolog: InProlog, PEStart: InPEStart, PEStop: InPEStop, Epilog: InEpilog}

// sysProcAttr is what is the same for all processes of an attempt: a session of their own, the owner, the control group.
func (a *attempt) sysProcAttr(o *Owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Credential: a.k.credential(o)}
	if a.cgroup >= 0 {
		attr.UseCgroupFD, attr.CgroupFD = true, a.cgroup
	}
	return attr
}

func (k *keeper) credential(o *Owner) *syscall.Credential {
	if k.uid != 0 {
		return nil
	}
	return &syscall.Credential{Uid: o.UID, Gid: o.GID, Groups: o.Groups}
}

// cannotEnter tells why the owner cannot change into dir; nil when that was not the trouble.
func (k *keeper) cannotEnter(dir string, o *Owner) *failure {
	if dir == "" {
		return nil
	}
	var err error
	k.asOwner(*o, func() {
		var fd int
		// As chdir(2) would: the path must lead to a directory the owner may search.
		if fd, err = syscall.Open(dir+"/.", unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err == nil {
			syscall.Close(fd)
		}
	})
	if err != nil && !exhausted(err) {
		return fail(ChangingDir, "can't chdir to %s: %s", dir, errnoText(err))
	}
	return nil
}

func canRun(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err.(*os.PathError).Err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}

// usualUmask is the keeper's own, which its children inherit.
const usualUmask = 0o22

// withUmask runs f, which forks, under another file mode mask. The mask belongs to the thread once the thread has left
// what it shares with the others, as does its working directory: it cannot go back and ends with its goroutine.
func withUmask(mask int, f func()) {
	if mask == 0 || mask == usualUmask {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			panic(fmt.Sprintf("shepherd: unshare: %v", err)) // needs no privilege: cannot fail
		}
		syscall.Umask(mask)
		f()
	}()
	<-done
}

// bound runs f, which forks, on the processors of the plan: a child inherits those of the thread. No other thread is made
// from one that is locked, so it is the only one that is bound, and only meanwhile.
func (a *attempt) bound(f func()) {
	if len(a.plan.Affinity) == 0 {
		f()
		return
	}
	runtime.LockOSThread()
	var all, wanted unix.CPUSet
	for _, p := range a.plan.Affinity {
		wanted.Set(p)
	}
	err := unix.SchedGetaffinity(0, &all)
	if err == nil {
		err = unix.SchedSetaffinity(0, &wanted)
	}
	if err != nil {
		a.k.logf("%s: not bound to processors %v: %v", a.key, a.plan.Affinity, err)
	}
	f()
	if err == nil && unix.SchedSetaffinity(0, &all) != nil {
		return // the thread ends with its goroutine
	}
	runtime.UnlockOSThread()
}

// ulimits are the options of sh(1) ulimit and their units, in bytes where a resource is measured in them. A second option
// is what another shell calls the same.
var ulimits = [...]struct {
	options  []string
	unit     uint64
	resource int
}{
	CPU: {[]string{"-t"}, 1, unix.RLIMIT_CPU}, FSize: {[]string{"-f"}, 512, unix.RLIMIT_FSIZE},
	Data: {[]string{"-d"}, 1024, unix.RLIMIT_DATA}, Stack: {[]string{"-s"}, 1024, unix.RLIMIT_STACK},
	Core: {[]string{"-c"}, 512, unix.RLIMIT_CORE}, RSS: {[]string{"-m"}, 1024, unix.RLIMIT_RSS},
	VMem: {[]string{"-v"}, 1024, unix.RLIMIT_AS}, NoFile: {[]string{"-n"}, 1, unix.RLIMIT_NOFILE},
	NProc: {[]string{"-u", "-p"}, 1, unix.RLIMIT_NPROC}, MemLock: {[]string{"-l"}, 1024, unix.RLIMIT_MEMLOCK},
	Locks: {[]string{"-x", "-w"}, 1, unix.RLIMIT_LOCKS},
}

// ulimit is the beginning of a shell script that sets the limits. A hard limit above the keeper's own is cut to that.
func ulimit(limits []Rlimit) string {
	var script strings.Builder
	for _, l := range limits {
		u := ulimits[l.Resource]
		var own unix.Rlimit
		unix.Getrlimit(u.resource, &own)
		hard := min(l.Hard, own.Max)
		soft := min(l.Soft, hard)
		for i, option := range u.options {
			fmt.Fprintf(&script, "{ ulimit %s %s && ulimit -S %s %s; } ", option, inUnits(hard, u.unit), option, inUnits(soft, u.unit))
			if i < len(u.options)-1 {
				script.WriteString("2>/dev/null || ")
			}
		}
		script.WriteString("&& ")
	}
	return script.String()
}

// Limited is a shell that sets limits and then becomes the program: limits belong to a process, and Go has no way to set
// them between fork and exec. Giving a login shell its name takes bash; everything else the usual shell, which starts
// faster. What limits are is the keeper's: the last argument of a step that is a Front.
func Limited(limits string, login bool, path string, argv []string) (string, []string) {
	shell, name, become := "/bin/sh", path, `exec "$@"`
	if login {
		shell, name, become = "/bin/bash", argv[0], `exec -a "$0" "$@"`
	}
	return shell, append([]string{name, "-c", limits + become, name, path}, argv[1:]...)
}

func inUnits(n, unit uint64) string {
	if n == Infinity {
		return "unlimited"
	}
	return strconv.FormatUint(n/unit, 10)
}
