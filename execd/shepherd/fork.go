package shepherd

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// processSpec is one to start within an attempt, in a session of its own.
type processSpec struct {
	owner   *plan.Owner
	path    string
	argv    []string
	name    string // the program's, for messages
	needs   string // a file that owner must be able to read
	check   string // the program that path is only to become; "": path is the program
	env     []string
	dir     string
	umask   int
	streams stdStreams
	group   bool           // what is left of its process group goes with it
	lacking report.Failure // the code for a host that has not enough of something
}

// forkStep starts one step. One that runs as another user than the job's owner sees nothing that the owner chose but
// the output: it has an environment of its own, starts in / and reads nothing.
func (k *shepherd) forkStep(a *attempt, s *plan.Step) (*childProcess, *attemptFailure) {
	p := &a.plan
	if s.Refused != "" {
		return nil, newFailure(startFailures[s.Name], "%s", s.Refused)
	}
	isJob := s.Name == plan.Job
	n := processSpec{
		owner: &p.Owner, path: s.Argv[0], argv: s.Argv, env: a.environmentOf(s), dir: p.Cwd,
		umask:   cmp.Or(p.Umask, usualUmask),
		streams: a.streams, group: isJob, lacking: startFailures[s.Name], needs: s.Needs,
	}
	if s.Login {
		n.argv = append([]string{"-" + n.path[strings.LastIndexByte(n.path, '/')+1:]}, s.Argv[1:]...)
	}
	n.name = n.argv[0]
	switch limits := p.Limits.Rlimits; {
	case !isJob || len(limits) == 0:
	case s.Front:
		n.argv = append(slices.Clone(n.argv), ulimitScript(limits))
	default: // the shell in between would hide that it is not there
		n.check = n.path
		n.path, n.argv = plan.Limited(ulimitScript(limits), s.Login, n.path, n.argv, n.env)
	}
	if s.Stdout.Path != "" {
		out := new(stdStreams)
		defer out.close() // the process has its own copies
		if failed := k.openStreams(p.Owner, "", s.Stdout, s.Stderr, out); failed != nil {
			return nil, failed
		}
		n.streams = *out
	}
	if s.Stdin != "" {
		in := new(stdStreams)
		defer in.close()
		if failed := k.openStreams(p.Owner, s.Stdin, plan.Output{}, plan.Output{}, in); failed != nil {
			return nil, failed
		}
		n.streams.fds[0], n.streams.late[0] = in.fds[0], in.late[0]
	}
	if s.As != nil {
		n.owner = s.As
		if s.As.UID != p.Owner.UID {
			n.dir, n.umask = "/", usualUmask
			n.streams.fds[0], n.streams.late, n.streams.merge = k.null, [3]plan.Output{}, false
		}
	}
	started, failed := a.spawn(&n)
	if failed != nil {
		return nil, failed
	}
	if isJob && p.Priority != 0 {
		setPriority(started.pid, p.Priority)
	} else if nice := k.reaper.priority.started; nice > 0 {
		setPriority(started.pid, nice)
	}
	a.writeStepFiles(s, started.pid)
	return started, nil
}

// spawn starts a process: the plain way where nothing that its start meets can block, else the careful way.
func (a *attempt) spawn(n *processSpec) (*childProcess, *attemptFailure) {
	k := a.k
	program := cmp.Or(n.check, n.path)
	var at startDir
	var noDir, noFile error
	plain := false
	leave := func() {
		if noDir == nil && n.dir != "" {
			syscall.Close(at.fd)
		}
	}
	done, failed := k.lookAsOwner(*n.owner, func() {
		if n.dir != "" {
			at, noDir = openStartDir(n.dir)
		}
		noFile = checkExecutable(program)
		plain = (n.dir == "" || at.plain) && noFile == nil && k.trusted.contains(n.path)
	}, leave)
	if failed != nil {
		return nil, failed
	}
	if done {
		defer leave()
		switch {
		case isExhausted(noDir):
			return nil, failureBy(noDir, n.lacking, "can't chdir to %s: %s", n.dir, errnoText(noDir))
		case noDir != nil && noDir != syscall.EACCES: // that may be right for the owner all the same
			return nil, chdirFailure(n.dir, noDir)
		case noDir == nil && noFile != nil && noFile != syscall.EACCES:
			return nil, execFailure(n.env, program, n.name, noFile)
		}
	}
	// A look that is not done still runs, and writes its variables.
	careful := !done || noDir != nil || n.needs != "" || n.streams.late != [3]plan.Output{} || !plain
	attr := &syscall.ProcAttr{Env: n.env, Sys: a.sysProcAttr(n.owner)}
	start := func(path string, argv []string, files []uintptr) (*childProcess, error) {
		attr.Files = files
		return k.reaper.forkProcess(&a.attemptProcesses, n.group, func() (pid int, err error) {
			a.withAffinity(func() { pid, err = syscall.ForkExec(path, argv, attr) })
			return pid, err
		})
	}
	var started *childProcess
	var err error
	if !careful {
		if n.dir != "" {
			attr.Dir = at.procPath()
		}
		fds := n.streams.fds
		withUmask(n.umask, func() {
			started, err = start(n.path, n.argv, []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])})
		})
	} else {
		e := starterTask{n.dir, n.streams.late, n.streams.merge, n.umask, n.check, n.name, n.path, n.argv, n.needs}
		attr.Dir = "/"
		started, err = e.start(n.streams.fds, n.owner.UID == 0, start)
	}
	switch {
	case err == nil:
		return started, nil
	case isExhausted(err):
		return nil, failureBy(err, n.lacking, "execvlp(%s, %q) failed: %s", n.path, n.name, errnoText(err))
	}
	return nil, execFailure(n.env, n.path, n.name, err)
}

// environmentOf returns the environment of a step. What runs after the job receives how it ended.
func (a *attempt) environmentOf(s *plan.Step) []string {
	if len(s.Env) == 0 && !a.ran && s.Environ == nil {
		return a.env
	}
	env := slices.Clone(a.env)
	if s.Environ != nil {
		env = append(slices.Clone(s.Environ), spoolVariable+a.plan.Spool)
		for _, v := range a.added {
			env = setVariable(env, v)
		}
	}
	for _, v := range s.Env {
		env = setVariable(env, v)
	}
	if a.ran {
		env = setVariable(env, "SGE_JOBEXIT_STAT="+strconv.Itoa(a.jobStatus))
	}
	return env
}

// setVariable sets a variable: a name stands once in an environment, for some programs see the first and some the last.
func setVariable(env []string, v string) []string {
	name := v[:strings.IndexByte(v, '=')+1]
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, name) }); i >= 0 {
		env[i] = v
		return env
	}
	return append(env, v)
}

// startFailures are the codes for steps that did not get as far as their program. One that is not there or cannot be
// executed is report.FailedShell, whatever the step, as in Grid Engine.
var startFailures = map[plan.StepName]report.Failure{
	plan.Prolog: report.FailedBeforeProlog, plan.PEStart: report.FailedBeforePEStart, plan.Job: report.FailedStartingJob,
	plan.PEStop: report.FailedBeforePEStop, plan.Epilog: report.FailedBeforeEpilog,
}

// runFailures are the codes for steps that are not the job and exited non-zero.
var runFailures = map[plan.StepName]report.Failure{
	plan.Prolog: report.FailedProlog, plan.PEStart: report.FailedPEStart, plan.PEStop: report.FailedPEStop,
	plan.Epilog: report.FailedEpilog,
}

// sysProcAttr returns what is the same for all processes of an attempt: a session of their own, the owner, the control
// group.
func (a *attempt) sysProcAttr(o *plan.Owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Credential: a.k.credentialOf(o)}
	switch {
	case a.cgroup >= 0 && !a.frozen: // a method or a checkpoint of a suspended job must run
		attr.UseCgroupFD, attr.CgroupFD = true, a.cgroup
	case a.k.jobs >= 0:
		attr.UseCgroupFD, attr.CgroupFD = true, a.k.jobs
	}
	return attr
}

func (k *shepherd) credentialOf(o *plan.Owner) *syscall.Credential {
	if k.uid != 0 {
		return nil
	}
	return &syscall.Credential{Uid: o.UID, Gid: o.GID, Groups: o.Groups}
}

// reasonNotEntered returns why the owner cannot change into dir, nil when the owner can.
func (k *shepherd) reasonNotEntered(dir string, o *plan.Owner) *attemptFailure {
	if dir == "" {
		return nil
	}
	var at startDir
	var err error
	leave := func() {
		if err == nil {
			syscall.Close(at.fd)
		}
	}
	done, failed := k.lookAsOwner(*o, func() { at, err = openStartDir(dir) }, leave)
	if !done || failed != nil {
		return failed
	}
	leave()
	if err != nil && !isExhausted(err) {
		return chdirFailure(dir, err)
	}
	return nil
}

// usualUmask is the shepherd's own, which its children inherit.
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

// withAffinity runs f, which forks, on the processors of the plan: a child inherits those of the thread. No other
// thread is made from one that is locked, so it is the only one that is bound, and only meanwhile.
func (a *attempt) withAffinity(f func()) {
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
