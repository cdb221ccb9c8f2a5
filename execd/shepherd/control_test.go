package shepherd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

func (h *host) signal(s report.SignalKind, job int) {
	h.t.Helper()
	gone, err := h.k.Signal(h.ctx, s, report.Attempt{Job: uint32(job), Task: 1, N: 1})
	if err != nil || len(gone) > 0 {
		h.t.Fatalf("signal %d to job %d: gone %v, %v", s, job, gone, err)
	}
}

func stopped(pid int) bool {
	s, ok := procfs.ReadStat(pid)
	return ok && s.State == 'T'
}

// Attempts that have ended or are unknown are reported as gone, and signals that the shepherd does not know as an
// error.
func TestSignalsNotDelivered(t *testing.T) {
	h := newHost(t)
	h.run(h.plan(1, "true"))
	if _, err := h.k.Signal(h.ctx, report.Reschedule, report.Attempt{Job: 1, Task: 1, N: 1}); err == nil {
		t.Error("Reschedule is accepted")
	}
	gone, err := h.k.Signal(h.ctx, report.Terminate, report.Attempt{Job: 1, Task: 1, N: 1},
		report.Attempt{Job: 9, Task: 1})
	want(t, "gone", fmt.Sprint(gone, err), "[1.1.1 9.1.0] <nil>")
}

func TestSuspendResumeTerminate(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "sleep 100 & setsid sleep 100 & echo $! ; wait"))
	daemon := h.pidIn(1)
	pid := h.await(1, plan.Running).Pid
	h.until("the daemon has its own session", func() bool { s, _ := procfs.ReadStat(daemon); return s.Session == daemon })
	h.signal(report.Suspend, 1)
	h.awaitSuspended(1)
	h.until("the job and its daemon stop", func() bool { return stopped(pid) && stopped(daemon) })
	h.saw = map[report.Attempt][]plan.Status{}
	h.signal(report.Resume, 1)
	h.await(1, plan.Running)
	h.until("they continue", func() bool { return !stopped(pid) && !stopped(daemon) })
	h.signal(report.Suspend, 1)
	h.signal(report.Terminate, 1)
	e := h.end(1)
	want(t, "exit status", e.ExitStatus, 137)
	want(t, "failed", e.Failed, report.FailedAfterJob)
	want(t, "daemon alive", alive(daemon), false)
}

func TestMethods(t *testing.T) {
	h := newHost(t)
	done := filepath.Join(h.dir, "done")
	p := h.plan(1, `trap "echo usr2" USR2; trap "echo term; exit 4" TERM; echo up; while :; do sleep 0.01; done`)
	p.Suspend = plan.Method{Argv: []string{"/bin/sh", "-c", "kill -USR2 $job_pid; echo $SGE_JOB_SPOOL_DIR >" + done}}
	p.Terminate = plan.Method{Signal: int(syscall.SIGTERM)}
	h.start(p)
	h.says(1, "up")
	h.signal(report.Suspend, 1)
	h.says(1, "usr2")
	h.until("the method has the job's environment",
		func() bool { b, _ := os.ReadFile(done); return string(b) == p.Spool+"\n" })
	h.signal(report.Terminate, 1)
	want(t, "exit status", h.end(1).ExitStatus, 4)
}

func TestParseMethod(t *testing.T) {
	for words, wanted := range map[string]string{
		"NONE": "{0 []} <nil>", "SIGTERM": "{15 []} <nil>", "12": "{12 []} <nil>",
		"/bin/kill -9 $job_pid": "{0 [/bin/kill -9 $job_pid]} <nil>",
		"kill":                  `{0 []} ["kill"] is neither a signal nor a command with an absolute path`,
	} {
		m, err := plan.ParseMethod(strings.Fields(words))
		want(t, words, fmt.Sprint(m, err), wanted)
	}
}

func TestNotify(t *testing.T) {
	h := newHost(t)
	// Job 1 is warned, and has more time than the test.
	p := h.plan(
		1, `trap "echo usr1" USR1; trap "echo usr2" USR2; trap "echo urg" URG; echo up; while :; do sleep 0.01; done`)
	p.Notify = time.Hour
	h.start(p)
	h.says(1, "up")
	h.signal(report.Suspend, 1)
	h.says(1, "usr1")
	want(t, "stopped at once", stopped(h.await(1, plan.Running).Pid), false)
	h.signal(report.Resume, 1)
	h.signal(report.Terminate, 1)
	h.says(1, "usr2")
	h.signal(report.Terminate, 1) // asking again does not hasten it
	pid := h.await(1, plan.Running).Pid
	syscall.Kill(pid, syscall.SIGURG)
	h.says(1, "urg")
	syscall.Kill(pid, syscall.SIGKILL)
	want(t, "signal", h.end(1).Signal, uint32(syscall.SIGKILL))

	// Job 2 is left alone until its time is over. (A shell that is stopped while it starts something shows D, not T.)
	q := h.plan(2, `trap "" USR1 USR2; echo up; exec sleep 1000`)
	q.Notify = 300 * time.Millisecond
	h.start(q)
	h.says(2, "up")
	pid = h.await(2, plan.Running).Pid
	asked := time.Now()
	waited := func(what string, until time.Time) {
		t.Helper()
		if d := until.Sub(asked); d < q.Notify {
			t.Errorf("%s after %v, notify is %v", what, d, q.Notify)
		}
	}
	h.signal(report.Suspend, 2)
	h.until("it is stopped", func() bool { return stopped(pid) })
	waited("stopped", time.Now())
	h.awaitSuspended(2)
	h.signal(report.Resume, 2)
	h.until("it continues", func() bool { return !stopped(pid) })
	asked = time.Now()
	h.signal(report.Terminate, 2)
	e := h.end(2)
	want(t, "signal", e.Signal, uint32(syscall.SIGKILL))
	waited("killed", e.End.Std().Add(time.Millisecond))
}

// Other signals may warn, or none: the time passes all the same.
func TestNotifySignals(t *testing.T) {
	h := newHost(t)
	p := h.plan(
		1, `trap "echo usr1" USR1; trap "echo usr2" USR2; trap "echo term" TERM; echo up; while :; do sleep 0.01; done`)
	p.Notify, p.NotifySuspend, p.NotifyKill = 2*time.Second, plan.NoSignal, int(syscall.SIGTERM)
	h.start(p)
	h.says(1, "up")
	pid := h.await(1, plan.Running).Pid
	h.signal(report.Suspend, 1)
	want(t, "stopped at once", stopped(pid), false)
	h.awaitSuspended(1)
	h.signal(report.Resume, 1)
	h.until("it continues", func() bool { return !stopped(pid) })
	h.signal(report.Terminate, 1)
	h.says(1, "term")
	h.end(1)
	want(t, "warned by the usual signals", strings.Contains(h.output(1), "usr"), false)
}

// With Keep the folder stays, and the next attempt may have it.
func TestKeep(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo up")
	p.Keep = true
	p.Files = append(p.Files, plan.File{Path: p.Spool + "/config", Data: []byte("x"), Mode: 0o600})
	h.start(p)
	h.end(1)
	data, err := os.ReadFile(p.Spool + "/config")
	want(t, "kept", fmt.Sprint(string(data), err), "x<nil>")
}

func TestTerminateBeforeTheJob(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo job")
	p.Steps = []plan.Step{script(plan.Prolog, "echo prolog; sleep 100"), script(plan.Job, "echo job"),
		script(plan.Epilog, "echo epilog")}
	h.start(p)
	h.says(1, "prolog")
	h.signal(report.Terminate, 1)
	e := h.end(1)
	want(t, "output", h.output(1), "prolog\nepilog\n")
	want(t, "failed", e.Failed, report.FailedAfterJob)
	want(t, "exit status", e.ExitStatus, 137)
}

func TestWallClockLimits(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, `trap "echo usr1" USR1; while :; do sleep 0.01; done`)
	p.Limits.RT = plan.Bound{Soft: 2, Hard: 5} // time enough for the job's word in between
	h.start(p)
	q := h.plan(2, `trap "echo usr1" USR1; while :; do sleep 0.01; done`)
	q.Limits.RT, q.Limits.Grace = plan.Bound{Soft: 2}, 3*time.Second
	h.start(q)
	h.k.Close() // the limits hold without execd
	h.connect(false)
	for job, limit := range map[int]string{1: "h_rt", 2: "s_rt"} {
		e := h.end(job)
		want(t, "warned", strings.Contains(h.output(job), "usr1\n"), true)
		want(t, "failed", e.Failed, report.FailedLimit)
		want(t, "limit", e.Limit, limit)
		want(t, "exit status", e.ExitStatus, 137)
	}
	if w := h.end(1).Usage.WallSeconds; w < 5 || w > 10 {
		t.Errorf("wall clock %v s", w)
	}
}

// The system's own limit on CPU time may be faster than the shepherd's look at the whole job: the reason is the same.
func TestCPULimit(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "while :; do :; done")
	p.Limits.CPU = plan.Bound{Hard: 1}
	p.Limits.Rlimits = []plan.Rlimit{{Resource: plan.CPU, Soft: 1, Hard: 1}}
	e := h.run(p)
	want(t, "failed", e.Failed, report.FailedLimit)
	want(t, "limit", e.Limit, "h_cpu")
	want(t, "exit status", e.ExitStatus, 137)
}

// Two processes of one job use what each alone may: limits over the whole job.
func TestJobLimits(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, `trap "echo xcpu" XCPU; (trap '' XCPU; while :; do :; done) & while :; do :; done`)
	p.Limits.CPU = plan.Bound{Soft: 1, Hard: 4}
	h.start(p)
	q := h.plan(2, `sleep 100 & sleep 100`)
	q.Limits.VMem = plan.Bound{Hard: 5 << 20}
	h.start(q)
	e := h.end(1)
	want(t, "output", h.output(1), "xcpu\n")
	want(t, "failed", e.Failed, report.FailedLimit)
	want(t, "limit", e.Limit, "h_cpu")
	if e.Usage.CPU < 4 {
		t.Errorf("used %v s of CPU", e.Usage.CPU)
	}
	e = h.end(2)
	want(t, "limit", e.Limit, "h_vmem")
	if e.Usage.MaxVMem < 5<<20 {
		t.Errorf("maxvmem %v", e.Usage.MaxVMem)
	}
}

func TestUsage(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "dd if=/dev/zero of=/dev/null bs=1M count=1500 2>/dev/null; echo read; (while :; do :; done)"))
	h.says(1, "read")
	var u grid.Usage
	h.until("the shepherd has sampled it", func() bool {
		u = h.used(1)
		return u.CPU > 0.3 && u.VMem > 0
	})
	if u.IO < 2.9 || u.Mem <= 0 || u.MaxRSS == 0 || u.MaxVMem < u.VMem || u.WallSeconds < u.CPU/2 {
		t.Errorf("usage %+v", u)
	}
	h.signal(report.Terminate, 1)
	e := h.end(1)
	if e.Usage.CPU < u.CPU || e.Usage.MaxRSS == 0 || e.Usage.IO < u.IO || e.Usage.WallSeconds < u.WallSeconds {
		t.Errorf("at the end %+v, before %+v", e.Usage, u)
	}
}

// nest returns a daemon of a daemon, and so on, of which the innermost does what text says.
func nest(depth int, text string) string {
	for i := range depth {
		text = fmt.Sprintf("f%d() { %s; }; export -f f%d; setsid bash -c f%d & exec sleep 100", i, text, i, i)
	}
	return "bash -c '" + text + "' &"
}

func TestLeftoversAreKilled(t *testing.T) {
	h := newHost(t)
	for job, text := range []string{
		"sleep 100 & echo $!",                                  // in the job's process group
		"setsid sleep 100 & echo $!",                           // in a session of its own
		"setsid sh -c 'sleep 100 & echo $!; exec sleep 100' &", // the child of a daemon
		"env -i setsid sleep 100 & echo $!",                    // without marker and session: no other job's
		"bash -c 'set -m; sleep 100 & echo $!'",                // in another process group of the session
		nest(8, "sleep 100 & echo $!; exec sleep 100"),         // each comes to light when the one around it is dead
	} {
		job++
		p := h.plan(job, text+"\n while ! test -s out."+fmt.Sprint(job)+"; do sleep 0.01; done; sleep 0.05")
		e := h.run(p)
		want(t, text+": exit status", e.ExitStatus, 0)
		if pid := h.pidIn(job); alive(pid) {
			t.Errorf("%s: process %d is left", text, pid)
		}
	}
}

// cgroupRoot is where control groups of version 2 are mounted; "" when that is nowhere.
func cgroupRoot() string {
	b, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[2] == "cgroup2" {
			return f[1]
		}
	}
	return ""
}

func TestCgroup(t *testing.T) {
	h := newHost(t)
	// While job 1 lives, a daemon that hides may be its: only the control group says that it is not.
	h.start(h.plan(1, "echo up; exec sleep 100"))
	h.says(1, "up")
	p := h.plan(2, "(env -i setsid sleep 100 & echo $!); cat /proc/self/cgroup >cgroup")
	p.Cgroup.Path = "/no/such"
	if root := cgroupRoot(); root != "" {
		p.Cgroup.Path = filepath.Join(root, filepath.Base(h.dir))
	}
	e := h.run(p)
	if cgroupRoot() == "" || os.Getuid() != 0 { // a failure that says why
		want(t, "failed", e.Failed, report.FailedBeforeJob)
		want(t, "reason", strings.HasPrefix(e.Text, "can't make control group: "), true)
		return
	}
	want(t, "reason", e.Text, "")
	b, _ := os.ReadFile(filepath.Join(h.dir, "cgroup"))
	if !strings.Contains(string(b), "0::/"+filepath.Base(h.dir)+"\n") {
		t.Errorf("job ran in %q", b)
	}
	want(t, "hidden daemon alive", alive(h.pidIn(2)), false)
	if _, err := os.Stat(p.Cgroup.Path); !os.IsNotExist(err) {
		t.Errorf("control group is left: %v", err)
	}
}

// A process of unknown origin lives as long as any job may be its parent.
func TestOthersAreLeftAlone(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "(env -i setsid sleep 100 & echo $!); sleep 100"))
	mine := h.pidIn(1)
	h.start(h.plan(2, "(setsid sleep 100 & echo $!); sleep 100"))
	marked := h.pidIn(2)
	want(t, "another job", h.run(h.plan(3, "exit 0")).ExitStatus, 0)
	h.run(h.plan(4, "setsid sleep 100 & exit 0"))
	want(t, "process without marker alive", alive(mine), true)
	want(t, "process with marker alive", alive(marked), true)
	h.signal(report.Terminate, 2)
	h.end(2)
	want(t, "process with marker alive", alive(marked), false)
	h.signal(report.Terminate, 1)
	h.end(1)
	h.until("the process without marker is gone", func() bool { return !alive(mine) })
}

// killShepherd kills the shepherd as a crash would, and waits until it is gone: until the first and the last of its
// files are closed, in whatever order the system does that, so that no client can connect to what is left of it.
func (h *host) killShepherd() {
	h.t.Helper()
	syscall.Kill(shepherdPid(h.dir), syscall.SIGKILL)
	for range h.k.Changes() {
	}
	h.until("the shepherd is gone", func() bool { return shepherdPid(h.dir) == 0 && h.unlocked() })
}

// unlocked reports whether no process holds the shepherd's lock.
func (h *host) unlocked() bool {
	lock, err := os.Open(filepath.Join(h.dir, lockName))
	if err != nil {
		h.t.Fatal(err)
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// shepherdPid finds the shepherd by what it was started as; 0 when there is none.
func shepherdPid(dir string) int {
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range entries {
		b, _ := os.ReadFile(path)
		if strings.HasSuffix(string(b), "\x00shepherd\x00"+dir+"\x00") {
			var pid int
			fmt.Sscanf(path, "/proc/%d/", &pid)
			return pid
		}
	}
	return 0
}

func TestReconnect(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "sleep 0.05; exit 6"), h.plan(2, "sleep 100"))
	h.k.Close()
	if _, err := h.k.List(h.ctx); err != ErrGone {
		t.Errorf("after Close: %v", err)
	}
	for range 2 { // told again until forgotten
		h.saw = map[report.Attempt][]plan.Status{}
		h.connect(false)
		want(t, "exit status", h.end(1).ExitStatus, 6)
		h.k.Close()
	}
	h.connect(false)
	one, two := report.Attempt{Job: 1, Task: 1, N: 1}, report.Attempt{Job: 2, Task: 1, N: 1}
	if err := h.k.Forget(h.ctx, one, two); err != nil {
		t.Fatal(err)
	}
	list, err := h.k.List(h.ctx)
	if err != nil || len(list) != 1 || list[0].Attempt != two || list[0].State != plan.Running {
		t.Errorf("list %+v, %v", list, err)
	}
}

func TestStartIsIdempotent(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo ran")
	for range 3 {
		h.start(p)
	}
	h.end(1)
	answers, err := h.k.Start(h.ctx, []plan.Plan{p})
	if err != nil || answers[0].State != plan.Ended {
		t.Errorf("answer %+v, %v", answers, err)
	}
	h.killShepherd()
	h.connect(false)
	if answers, err = h.k.Start(h.ctx, []plan.Plan{p}); err != nil || answers[0].State != plan.Ended {
		t.Errorf("answer of the next shepherd %+v, %v", answers, err)
	}
	want(t, "output", h.output(1), "ran\n")
}

func TestKilledShepherd(t *testing.T) {
	h := newHost(t)
	tmp := filepath.Join(h.dir, "tmp")
	p := h.plan(1, "sleep 100 & echo $!; setsid sleep 100 & wait")
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o755, Owned: true}}
	p.Env = append(p.Env, spoolVariable+"/of/the/submitting/job") // must not hide whose the processes are
	h.start(p, h.plan(2, "exit 3"), h.plan(3, "exit 0"))
	h.end(2)
	h.end(3)
	if err := h.k.Forget(h.ctx, report.Attempt{Job: 3, Task: 1, N: 1}); err != nil {
		t.Fatal(err)
	}
	child := h.pidIn(1)
	pid := h.await(1, plan.Running).Pid
	h.killShepherd()
	want(t, "job alive without shepherd", alive(pid), true)

	h.saw = map[report.Attempt][]plan.Status{}
	h.connect(false)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedNoStatus)
	want(t, "the other's exit status", h.end(2).ExitStatus, 3)
	want(t, "job alive", alive(pid) || alive(child), false)
	if _, err := os.Stat(tmp); !os.IsNotExist(err) {
		t.Error("TMPDIR is still there")
	}
	list, err := h.k.List(h.ctx)
	if err != nil || len(list) != 2 {
		t.Errorf("list %+v, %v", list, err)
	}
}

func TestShutdown(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "sleep 100"))
	h.await(1, plan.Running)
	err := h.k.Shutdown(h.ctx, false)
	want(t, "refused", fmt.Sprint(err), "shepherd: 1 attempts are running")
	if err := h.k.Shutdown(h.ctx, true); err != nil {
		t.Fatal(err)
	}
	h.until("the shepherd is gone", func() bool { return shepherdPid(h.dir) == 0 })
	h.connect(false)
	want(t, "told by the next shepherd", h.end(1).ExitStatus, 137)
}

func TestOnlyOneShepherd(t *testing.T) {
	h := newHost(t)
	pid := shepherdPid(h.dir)
	err := Run(h.dir)
	if err == nil || !strings.Contains(err.Error(), "another shepherd holds") {
		t.Errorf("a second shepherd: %v", err)
	}
	errs := make(chan error)
	for range 4 {
		go func() {
			k, err := Connect(h.ctx, ConnectOptions{Dir: h.dir})
			if err == nil {
				err = k.Close()
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	want(t, "shepherd", shepherdPid(h.dir), pid)
}

func TestConnectAtTheSameTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	dir := t.TempDir()
	shepherds := make(chan *Client)
	for range 4 {
		go func() {
			k, err := Connect(ctx, ConnectOptions{Dir: dir})
			if err != nil {
				t.Error(err)
			}
			shepherds <- k
		}()
	}
	for range 3 {
		if k := <-shepherds; k != nil {
			k.Close()
		}
	}
	if k := <-shepherds; k != nil {
		if err := k.Shutdown(ctx, false); err != nil {
			t.Error(err)
		}
	}
}

func TestConnectSaysWhyNot(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	dir := t.TempDir()
	_, err := Connect(ctx, ConnectOptions{Dir: dir, Program: []string{"/bin/false"}})
	if err == nil || !strings.Contains(err.Error(), "shepherd did not start") {
		t.Errorf("a program that is no shepherd: %v", err)
	}
	_, err = Connect(ctx, ConnectOptions{Dir: filepath.Join(dir, "none")})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no directory: %v", err)
	}
}

func TestManyShortTasks(t *testing.T) {
	h := newHost(t)
	const tasks, batch = 2000, 100
	for first := 1; first <= tasks; first += batch {
		var plans []plan.Plan
		for job := first; job < first+batch; job++ {
			p := h.plan(job, "")
			p.Steps[0].Argv = []string{"/bin/true"}
			p.Stdout.Path = ""
			plans = append(plans, p)
		}
		h.start(plans...)
	}
	var keys []report.Attempt
	for job := 1; job <= tasks; job++ {
		if e := h.end(job); e.ExitStatus != 0 || e.Failed != 0 {
			t.Fatalf("job %d: %+v", job, e)
		}
		keys = append(keys, report.Attempt{Job: uint32(job), Task: 1, N: 1})
	}
	if err := h.k.Forget(h.ctx, keys...); err != nil {
		t.Fatal(err)
	}
	s, _ := procfs.ReadStat(shepherdPid(h.dir))
	want(t, "children of the shepherd", len(procfs.ChildrenOf(s)), 0)
	entries, _ := filepath.Glob(filepath.Join(h.dir, "spool.*"))
	want(t, "spool directories", len(entries), 0)
}

// A shepherd whose directory is gone has nothing to wait for.
func TestDirectoryRemoved(t *testing.T) {
	h := newHost(t)
	h.run(h.plan(1, "exit 0"))
	pid := shepherdPid(h.dir)
	h.k.Close()
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	h.until("the shepherd is gone", func() bool { return pid != 0 && !alive(pid) })
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.connect(false) // for the clean-up
}
