package shepherd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/polltest"
	"github.com/quill-grid/quill/pkg/report"
)

// Tests of what only a kernel can show, with control groups of version 2. Where there are none to write they are skipped; make vmtest runs them
// in a machine that has them.

// kernelGroup makes a control group for attempts.
func kernelGroup(t *testing.T) string {
	t.Helper()
	mount, err := fieldOf("/proc/self/mounts", func(line string) (string, bool) {
		f := strings.Fields(line)
		return f[1], len(f) > 2 && f[2] == "cgroup2"
	})
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp(mount, "quill-test-")
	if err != nil {
		t.Skipf("control groups cannot be made: %v", err)
	}
	t.Cleanup(func() {
		polltest.Until(t, "the control group is empty", polltest.Patience, func() (bool, string) {
			err := syscall.Rmdir(dir)
			return err == nil, fmt.Sprint(err)
		})
	})
	return dir
}

// within gives a plan a control group.
func within(group string, p plan.Plan) plan.Plan {
	p.Cgroup.Path = filepath.Join(group, p.Attempt.String())
	return p
}

// node makes a device file that all may use.
func node(t *testing.T, dir, name string, major, minor uint32) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(major, minor))); err != nil {
		t.Skipf("device files cannot be made: %v", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A job uses its own devices as the map says, no device of another job under any name, and all others.
func TestKernelDevices(t *testing.T) {
	h := hostOfUsers(t)
	group := kernelGroup(t)
	if err := canConfine(group); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("/dev", "quill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	own, read := node(t, dir, "own", 1, 5), node(t, dir, "read", 1, 7)                                         // as /dev/zero and /dev/full
	other, alias, free := node(t, dir, "other", 1, 8), node(t, dir, "alias", 1, 8), node(t, dir, "free", 1, 3) // /dev/random, /dev/null
	link := filepath.Join(dir, "link")
	if err := os.Symlink("other", link); err != nil {
		t.Fatal(err)
	}
	devices := []grid.Device{
		{Path: own, Access: grid.DeviceRead | grid.DeviceWrite}, {Path: read, Access: grid.DeviceRead}, {Path: link},
		{Path: filepath.Join(dir, "gone")}, {Path: "/etc/passwd"},
	}
	try := "cd " + dir + `; for d in *; do for how in "<" ">>" "<>"; do (eval ": $how $d") 2>/dev/null && echo "$d $how"; done; done
		(: < other) 2>&1 | grep -o "Operation not permitted"; : </dev/null >/dev/null && : </dev/urandom && echo usual`
	confined := "free <\nfree >>\nfree <>\nown <\nown >>\nown <>\nread <\nOperation not permitted\nusual\n"
	p := within(group, h.by(mallory, h.plan(1, try)))
	p.Devices = devices
	prolog := script(plan.Prolog, try) // also root's
	prolog.As, prolog.Environ = &plan.Owner{}, []string{"PATH=/usr/bin:/bin"}
	p.Steps = append([]plan.Step{prolog}, p.Steps...)
	want(t, "reason", h.run(p).Text, "")
	out, _ := os.ReadFile(p.Stdout.Path)
	want(t, "prolog and job", string(out), confined+confined)

	// A device file as input or output is opened within the group.
	for i, c := range []struct{ in, out, reason string }{
		{own, "", ""}, {free, own, ""}, {"", read, fmt.Sprintf("can't open %q as stdout_path: Operation not permitted", read)},
		{other, "", fmt.Sprintf("can't open %q as stdin_path: Operation not permitted", other)},
		{alias, "", fmt.Sprintf("can't open %q as stdin_path: Operation not permitted", alias)},
		{link, "", fmt.Sprintf("can't open %q as stdin_path: Operation not permitted", link)},
	} {
		p := within(group, h.by(mallory, h.plan(10+i, "head -c 1 >/dev/null; echo")))
		p.Devices, p.Stdin = devices, c.in
		if c.out != "" {
			p.Stdout.Path = c.out
		}
		want(t, c.in+" "+c.out, h.run(p).Text, c.reason)
	}

	// A job on a host whose maps name no devices is as before.
	p = within(group, h.by(mallory, h.plan(20, "cd "+dir+"; : <> other && echo open")))
	h.run(p)
	out, _ = os.ReadFile(p.Stdout.Path)
	want(t, "without rules", string(out), "open\n")
}

// The kernel is asked about as many devices as a host may have.
func TestKernelManyDevices(t *testing.T) {
	group := kernelGroup(t)
	if err := canConfine(group); err != nil {
		t.Skip(err)
	}
	var rules []rule
	for n := range uint32(2000) {
		rules = append(rules, rule{device{n%2 == 0, 400 + n/100, n}, grid.Access(n % 8)})
	}
	want(t, "error", confine(group, rules), nil)
}

// All processes of a suspended job stand still soon after the shepherd has been sent the signal.
func TestKernelFreeze(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	p := within(group, h.plan(1, "for i in 1 2 3 4 5 6 7; do sleep 1000 & done; while :; do read x </proc/self/stat; done"))
	h.start(p)
	h.await(1, plan.Running)
	h.until("it has all processes", func() bool { return len(membersOf(p.Cgroup.Path)) == 8 })
	frozen := func() bool { return readEvent(p.Cgroup.Path, "cgroup.events", "frozen") == 1 }
	measure := func(what string, freeze, thaw func()) {
		var took []time.Duration
		for range 20 {
			want(t, "frozen before", frozen(), false)
			begin := time.Now()
			freeze()
			for !frozen() {
				if time.Since(begin) > polltest.Patience {
					t.Fatal("never frozen")
				}
			}
			took = append(took, time.Since(begin))
			thaw()
			h.until("it runs", func() bool { return !frozen() })
		}
		slices.Sort(took)
		t.Logf("frozen after %s: median %v, slowest %v of %d", what, took[len(took)/2], took[len(took)-1], len(took))
	}
	measure("the request to the shepherd", func() { h.signal(report.Suspend, 1) }, func() { h.signal(report.Resume, 1) })
	write := func(value string) func() {
		return func() { want(t, "error", writeGroup(p.Cgroup.Path, freezeFile, value), nil) }
	}
	measure("what the shepherd writes", write("1"), write("0"))
	h.signal(report.Terminate, 1)
	h.end(1)
}

// Nothing is left of a job that hides: of processes with a session, an environment and a root directory of their own.
func TestKernelNothingLeft(t *testing.T) {
	h := hostOfUsers(t)
	group := kernelGroup(t)
	root := filepath.Join(h.dir, "root")
	if out, err := exec.Command("/bin/sh", "-ec", `mkdir $0; for f in $(which sleep) $(ldd $(which sleep) | grep -o "/[^ ]*"); do cp --parents -L $f $0; done`, root).CombinedOutput(); err != nil {
		t.Skipf("no root directory for a job: %v, %s", err, out)
	}
	p := within(group, h.plan(1, `
		(env -i setsid sleep 86391 &) &
		setsid sh -c "env -i setsid sh -c 'sleep 86392 & sleep 86393 & exit' & exit" &
		(cd /; env -i setsid /usr/sbin/chroot `+root+` $(which sleep) 86394 &) &
		env -i setsid /usr/sbin/chroot `+root+` $(which sleep) 86395 &
		until [ $(pgrep -fc 'sleep 8639[1-5]$') = 5 ]; do sleep 0.01; done
		echo all`))
	want(t, "reason", h.run(p).Text, "")
	want(t, "output", h.output(1), "all\n")
	left, _ := exec.Command("pgrep", "-fa", `sleep 8639[1-5]$`).Output()
	want(t, "left", string(left), "")
	want(t, "its group", exists(p.Cgroup.Path), false)
}

// The attempts of a parallel job on a host have usage of their own, also of processes that nobody waits for.
func TestKernelUsageOfPETasks(t *testing.T) {
	h := newHost(t)
	job := filepath.Join(kernelGroup(t), "job")
	for _, fifo := range []string{"one", "two"} {
		if err := syscall.Mkfifo(filepath.Join(h.dir, fifo), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	master := h.plan(1, "read x <one")
	task := h.plan(2, `(setsid sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo >one; echo >two' &) & read x <two`)
	master.Cgroup, task.Cgroup = plan.Cgroup{Job: job, Path: job + "/master"}, plan.Cgroup{Job: job, Path: job + "/task.1"}
	h.start(master, task)
	its, others := h.end(2).Usage.CPU, h.end(1).Usage.CPU
	if its < 2*others || its == 0 {
		t.Errorf("CPU time of the task %v s, of the master %v s", its, others)
	}
	want(t, "group of the job", exists(job), false)
}

// A bound job cannot leave its processors.
func TestKernelProcessors(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	share(filepath.Dir(group))
	if _, err := share(group); err != nil || !exists(filepath.Join(group, cpus)) {
		t.Skip("the controller cpuset cannot be had")
	}
	all, first := allowed(t)
	p := within(group, h.plan(1, "taskset -pc "+all+" $$ >/dev/null; grep Cpus_allowed_list /proc/self/status; taskset -pc 1023 $$ >/dev/null 2>&1 || echo refused"))
	p.Affinity = []int{first}
	h.run(p)
	want(t, "where it runs", h.output(1), fmt.Sprintf("Cpus_allowed_list:\t%d\nrefused\n", first))
}
