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
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// Tests of what only a kernel can show, with control groups of version 2. Where there are none to write they are
// skipped; make vmtest runs them in a machine that has them.

// kernelGroup makes a control group for attempts.
func kernelGroup(t *testing.T) string {
	t.Helper()
	mount, err := cgroupMount()
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp(mount, "quill-test-")
	if err != nil {
		t.Skipf("control groups cannot be made: %v", err)
	}
	t.Cleanup(func() {
		testkit.Until(t, "the control group is empty", testkit.Patience, func() (bool, string) {
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
	if err := checkDeviceRules(group); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("/dev", "quill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	// as /dev/zero and /dev/full
	own, read := node(t, dir, "own", 1, 5), node(t, dir, "read", 1, 7)
	// /dev/random, /dev/null
	other, alias, free := node(t, dir, "other", 1, 8), node(t, dir, "alias", 1, 8), node(t, dir, "free", 1, 3)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("other", link); err != nil {
		t.Fatal(err)
	}
	devices := []grid.Device{
		{Path: own, Access: grid.DeviceRead | grid.DeviceWrite}, {Path: read, Access: grid.DeviceRead}, {Path: link},
		{Path: filepath.Join(dir, "gone")}, {Path: "/etc/passwd"},
	}
	try := "cd " + dir +
		`; for d in *; do for how in "<" ">>" "<>"; do (eval ": $how $d") 2>/dev/null && echo "$d $how"; done; done
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
		{own, "", ""}, {free, own, ""},
		{"", read, fmt.Sprintf("can't open %q as stdout_path: Operation not permitted", read)},
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

// A device file of another job that is made after the start is closed to the job soon, also one that is made anew with
// other numbers.
func TestKernelDeviceAppears(t *testing.T) {
	h := hostOfUsers(t)
	group := kernelGroup(t)
	if err := checkDeviceRules(group); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("/dev", "quill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	anew, own := node(t, dir, "anew", 1, 8), node(t, dir, "own", 1, 5)
	p := within(group, h.by(mallory, h.plan(1, "read x <"+h.fifo(mallory, "go")+`
		for d in late anew; do while (: <`+dir+`/$d) 2>/dev/null; do sleep 0.01; done; echo $d is closed; done; : <`+own+` && echo own is open`)))
	p.Devices = []grid.Device{{Path: filepath.Join(dir, "late")}, {Path: anew}, {Path: own, Access: grid.DeviceRead}}
	h.start(p)
	h.await(1, plan.Running)
	node(t, dir, "late", 1, 7)
	if err := os.Remove(anew); err != nil {
		t.Fatal(err)
	}
	node(t, dir, "anew", 1, 9)
	if err := os.WriteFile(filepath.Join(h.home(mallory), "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	want(t, "reason", h.end(1).Text, "")
	out, _ := os.ReadFile(p.Stdout.Path)
	want(t, "output", string(out), "late is closed\nanew is closed\nown is open\n")
}

// The kernel is asked about as many devices as a host may have.
func TestKernelManyDevices(t *testing.T) {
	group := kernelGroup(t)
	if err := checkDeviceRules(group); err != nil {
		t.Skip(err)
	}
	var rules []deviceRule
	for n := range uint32(2000) {
		rules = append(rules, deviceRule{deviceNumber{n%2 == 0, 400 + n/100, n}, grid.Access(n % 8)})
	}
	want(t, "error", attachDeviceRules(group, rules), nil)
}

// awaitEvent returns what waits until a line of cgroup.events has a value. It takes next to no processor from what
// it waits for, and looks each millisecond: the kernel delays the notice to poll(2) when it has sent one in the last 10
// ms.
func awaitEvent(t *testing.T, group, name string) (until func(value uint64)) {
	fd, err := unix.Open(filepath.Join(group, "cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return func(value uint64) {
		t.Helper()
		var buf [256]byte
		for end := time.Now().Add(testkit.Patience); time.Now().Before(end); {
			n, err := unix.Pread(fd, buf[:], 0)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(buf[:n]), fmt.Sprintf("%s %d\n", name, value)) {
				return
			}
			unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, 1)
		}
		t.Fatalf("%s is never %d", name, value)
	}
}

// All processes of a suspended job stand still soon after the shepherd has received the signal: at most 10 ms are its
// own. What the kernel takes after the write, and what a request takes from this process and back, is measured in turns
// with it, because an emulated machine takes a multiple of a real one for both.
func TestKernelFreeze(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	p := within(
		group, h.plan(1, "for i in 1 2 3 4 5 6 7; do sleep 1000 & done; while :; do read x </proc/self/stat; done"))
	h.start(p)
	h.await(1, plan.Running)
	h.until("it has all processes", func() bool { return len(groupMembers(p.Cgroup.Path)) == 8 })
	frozen := awaitEvent(t, p.Cgroup.Path, "frozen")
	once := func(freeze, thaw func()) time.Duration {
		begin, asked := time.Now(), make(chan struct{})
		go func() {
			defer close(asked)
			freeze() // its answer may come later
		}()
		frozen(1)
		took := time.Since(begin)
		<-asked
		thaw()
		frozen(0)
		return took
	}
	write := func(value string) func() {
		return func() { want(t, "error", writeGroupFile(p.Cgroup.Path, freezeFile, value), nil) }
	}
	ask := func(kind report.SignalKind) func() { return func() { h.signal(kind, 1) } }
	var asked, written, answered []time.Duration
	for range 50 {
		asked = append(asked, once(ask(report.Suspend), ask(report.Resume)))
		written = append(written, once(write("1"), write("0")))
		begin := time.Now()
		h.signal(report.Resume, 1) // which runs already
		answered = append(answered, time.Since(begin))
	}
	median := func(what string, took []time.Duration) time.Duration {
		slices.Sort(took)
		n := len(took)
		t.Logf("%s: median %.1f, nine tenths %.1f, slowest %.1f ms of %d", what, ms(took[n/2]), ms(took[n*9/10]),
			ms(took[n-1]), n)
		return took[n/2]
	}
	all, kernel := median("frozen after the request to the shepherd", asked),
		median("frozen after a write to cgroup.freeze", written)
	own := all - kernel - median("a request that does nothing", answered)
	t.Logf("%.1f times what the kernel takes; beside that and a request the shepherd takes %.1f ms",
		float64(all)/float64(kernel), ms(own))
	if all > 50*time.Millisecond {
		t.Errorf("it takes %v", all)
	}
	if own > 10*time.Millisecond {
		t.Errorf("the shepherd takes %v until it writes", own)
	}
	h.signal(report.Terminate, 1)
	h.end(1)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Nothing is left of a job that hides: of processes with a session, an environment and a root directory of their own.
func TestKernelNothingLeft(t *testing.T) {
	h := hostOfUsers(t)
	group := kernelGroup(t)
	root := filepath.Join(h.dir, "root")
	if out,
		err := exec.Command("/bin/sh", "-ec",
		`mkdir $0; for f in $(which sleep) $(ldd $(which sleep) | grep -o "/[^ ]*"); do cp --parents -L $f $0; done`,
		root).CombinedOutput(); err != nil {
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

// The attempts of a parallel job on a host have usage of their own, also of processes that no process waits for.
func TestKernelUsageOfPETasks(t *testing.T) {
	h := newHost(t)
	job := filepath.Join(kernelGroup(t), "job")
	for _, fifo := range []string{"one", "two"} {
		if err := syscall.Mkfifo(filepath.Join(h.dir, fifo), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	master := h.plan(1, "read x <one")
	task := h.plan(2, `(setsid sh -c "sh -c 'ulimit -t 1; while :; do :; done'; echo >one; echo >two" &) & read x <two`)
	master.Cgroup, task.Cgroup = plan.Cgroup{Job: job, Path: job + "/master"}, plan.Cgroup{Job: job, Path: job + "/task.1"}
	h.start(master, task)
	its, others := h.end(2).Usage.CPU, h.end(1).Usage.CPU
	if its < 0.5 || others > its/2 { // a second by the system's ticks, of which half may be missing: see cause.go
		t.Errorf("CPU time of the task %v s, of the master %v s", its, others)
	}
	want(t, "group of the job", exists(job), false)
}

// A process that has ended and waits for its parent has no environment any more. What it used counts for the attempt in
// whose control group it was, or in a group within it.
func TestKernelDeadOrphan(t *testing.T) {
	group := kernelGroup(t)
	a, b := &attemptProcesses{}, &attemptProcesses{}
	r := &reaper{orphans: map[int]*orphan{}, ownerless: map[int]*orphan{},
		groups: map[string]*attemptProcesses{group + "/a": a, group + "/b": b}}
	for _, c := range []struct {
		in    string
		owner *attemptProcesses
	}{{"a", a}, {"b/steps", b}, {"other", nil}} {
		dir := filepath.Join(group, c.in)
		want(t, "error", os.MkdirAll(dir, 0o755), nil)
		fd, err := syscall.Open(dir, unix.O_PATH|syscall.O_CLOEXEC, 0)
		want(t, "error", err, nil)
		dead := exec.Command("/bin/true")
		dead.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd, Setsid: true}
		want(t, "error", dead.Start(), nil)
		want(t, "error", unix.Waitid(unix.P_PID, dead.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), nil)
		classifyPID(t, r, dead.Process.Pid)
		want(t, "owner of a process in "+c.in, r.orphans[dead.Process.Pid].owner, c.owner)
		want(t, "error", dead.Wait(), nil)
		syscall.Close(fd)
		for ; dir != group; dir = filepath.Dir(dir) {
			want(t, "error", syscall.Rmdir(dir), nil)
		}
	}
}

// The most memory of a job is that of all its processes together, without the cache of files, and what went to the disk
// counts as io.
func TestKernelUsage(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	enableControllers(filepath.Dir(group))
	if lacks, err := enableControllers(group); err != nil || lacks != "" || !exists(filepath.Join(group, "io.stat")) {
		t.Skip("the controllers memory and io cannot be had")
	}
	disk, err := os.MkdirTemp("/var/tmp", "quill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(disk) })
	var s unix.Statfs_t
	if unix.Statfs(disk, &s) != nil || uint32(s.Type) == unix.TMPFS_MAGIC || uint32(s.Type) == unix.OVERLAYFS_SUPER_MAGIC {
		t.Skip("no disk")
	}
	h.run(within(group,
		h.plan(1, `for i in $(seq 20); do dd if=/dev/zero of=`+disk+`/file$i bs=1M count=3 conv=fsync 2>/dev/null; done`)))
	if mb := h.end(1).Usage.IO * 1024; mb < 60 { // of processes that lived too short to be seen
		t.Errorf("60 MB were written: io is %.0f MB", mb)
	}
	// Each keeps its memory until the other has its own, and both were sampled.
	h.run(within(group, h.plan(2, "dd if=/dev/zero of="+disk+`/file bs=1M count=60 conv=fsync 2>/dev/null
		cd `+h.dir+`
		sleep 2
		for i in 1 2; do
			(head -c 40000000 /dev/zero; touch has$i; until test -e has1 -a -e has2; do sleep 0.1; done; sleep 2.5) | tail -c 40000000 >/dev/null &
		done
		wait`)))
	if mb := h.end(2).Usage.MaxRSS / 1024; mb < 2*38 || mb > 2*38+40 {
		t.Errorf("two processes with 38 MB each, and 60 MB of cache: maxrss is %.0f MB", mb)
	}
}

// A log-in that joins a job is in its control group: it has its limits, and ends with it.
func TestKernelAdopt(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	p := within(group, h.plan(1, "sleep 1000"))
	h.start(p)
	h.await(1, plan.Running)
	output, pid := h.session(os.Getuid())
	if !strings.Contains(output, "joined 1.1.1") {
		t.Fatal(output)
	}
	in, err := cgroupOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "control group", in, p.Cgroup.Path)
	h.signal(report.Suspend, 1)
	frozen := awaitEvent(t, p.Cgroup.Path, "frozen")
	frozen(1)
	h.signal(report.Terminate, 1)
	h.end(1)
	h.until("the log-in has ended", func() bool { return !alive(pid) })
	want(t, "its group", exists(p.Cgroup.Path), false)
}

// Limits of a group that has processes are changed both ways; one below what it uses is refused and changes nothing.
func TestKernelChange(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	enableControllers(filepath.Dir(group))
	if lacks, err := enableControllers(group); err != nil || lacks != "" {
		t.Skip("the controllers cannot be had")
	}
	p := within(group, h.plan(1, "(head -c 40000000 /dev/zero; sleep 1000) | tail -c 40000000"))
	p.Cgroup.MemoryMax, p.Cgroup.PidsMax = 100<<20, 50
	h.start(p)
	h.await(1, plan.Running)
	dir := p.Cgroup.Path
	h.until("it has its memory", func() bool { return procfs.ReadGroupUsage(dir).Memory > 38<<20 })
	version := uint32(0)
	change := func(memory, pids uint64) string {
		version++
		return h.change(1, plan.LimitsChange{Limits: plan.Limits{Version: version}, MemoryMax: memory, PidsMax: pids})
	}
	limits := func() string {
		return fmt.Sprint(procfs.ReadGroupNumber(dir, "memory.max")>>20, " ", procfs.ReadGroupNumber(dir, "pids.max"))
	}
	want(t, "raised", change(200<<20, 60), "")
	want(t, "limits", limits(), "200 60")
	want(t, "lowered", change(60<<20, 20), "")
	want(t, "limits", limits(), "60 20")
	if refused := change(20<<20, 10); !strings.Contains(refused, "it uses 3") ||
		!strings.HasSuffix(refused, "M of memory") {
		t.Errorf("less than is used: %q", refused)
	}
	want(t, "fewer than there are", strings.HasSuffix(change(60<<20, 1), "processes and threads"), true)
	want(t, "limits", limits(), "60 20")
	h.signal(report.Terminate, 1)
	h.end(1)
}

// A change that fails while the prolog runs leaves the prolog, which has no limits, without.
func TestKernelChangeFailsInProlog(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t) // gives its controllers to no other: the memory of an attempt cannot be limited
	fifo := filepath.Join(h.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	limit := []plan.Rlimit{{Resource: plan.CPU, Soft: 1000, Hard: 1000}}
	p := within(group, h.plan(1, "ulimit -t"))
	p.Limits.Rlimits = limit
	p.Steps = append([]plan.Step{script(plan.Prolog, "echo ready; read x <"+fifo+"; ulimit -t")}, p.Steps...)
	h.start(p)
	h.says(1, "ready")
	c := plan.LimitsChange{
		Limits:    plan.Limits{Version: 1, Rlimits: []plan.Rlimit{{Resource: plan.CPU, Soft: 500, Hard: 500}}},
		MemoryMax: 100 << 20}
	if refused := h.change(1, c); !strings.Contains(refused, "memory") {
		t.Errorf("refused for %q", refused)
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	h.end(1)
	want(t, "limits of prolog and job", h.output(1), "ready\nunlimited\n1000\n")
}

// A bound job cannot leave its processors.
func TestKernelProcessors(t *testing.T) {
	h := newHost(t)
	group := kernelGroup(t)
	enableControllers(filepath.Dir(group))
	if _, err := enableControllers(group); err != nil || !exists(filepath.Join(group, cpus)) {
		t.Skip("the controller cpuset cannot be had")
	}
	all, first := allowed(t)
	p := within(group,
		h.plan(1, "taskset -pc "+all+
			" $$ >/dev/null; grep Cpus_allowed_list /proc/self/status; taskset -pc 1023 $$ >/dev/null 2>&1 || echo refused"))
	p.Affinity = []int{first}
	h.run(p)
	want(t, "where it runs", h.output(1), fmt.Sprintf("Cpus_allowed_list:\t%d\nrefused\n", first))
}
