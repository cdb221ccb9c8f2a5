package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

func script(name plan.StepName, text string) plan.Step {
	return plan.Step{Name: name, Argv: []string{"/bin/sh", "-c", text}}
}

func TestStepsInOrder(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo job")
	p.Steps = []plan.Step{
		script(plan.Prolog, "echo prolog"), script(plan.PEStart, "echo pe_start"), script(plan.Job, "echo job; exit 7"),
		script(plan.PEStop, "echo pe_stop"), script(plan.Epilog, "echo epilog"),
	}
	e := h.run(p)
	want(t, "output", h.output(1), "prolog\npe_start\njob\npe_stop\nepilog\n")
	want(t, "exit status is the job's", e.ExitStatus, 7)
	want(t, "failed", e.Failed, report.NoFailure)
}

func TestFailedSteps(t *testing.T) {
	h := newHost(t)
	for i, c := range []struct {
		fails  plan.StepName
		status int
		failed report.Failure
		output string
	}{
		{plan.Prolog, 1, report.FailedProlog, "prolog epilog"},
		{plan.Prolog, 99, report.FailedProlog, "prolog epilog"},
		{plan.PEStart, 100, report.FailedPEStart, "prolog pe_start pe_stop epilog"},
		{plan.PEStop, 2, report.FailedPEStop, "prolog pe_start job pe_stop epilog"},
		{plan.Epilog, 3, report.FailedEpilog, "prolog pe_start job pe_stop epilog"},
	} {
		p := h.plan(i+1, "")
		p.Steps = nil
		for name := plan.Prolog; name <= plan.Epilog; name++ {
			text := "echo " + name.String()
			if name == c.fails {
				text += "; exit " + strconv.Itoa(c.status)
			}
			p.Steps = append(p.Steps, script(name, text))
		}
		e := h.run(p)
		want(t, c.fails.String()+" fails: what ran", strings.Join(strings.Fields(h.output(i+1)), " "), c.output)
		want(t, c.fails.String()+" fails: failed", e.Failed, c.failed)
		want(t, c.fails.String()+" fails: step", e.Step, c.fails)
		want(t, c.fails.String()+" fails: exit status", e.ExitStatus, uint32(c.status))
	}
}

func TestFailuresBeforeTheJob(t *testing.T) {
	h := newHost(t)
	file := filepath.Join(h.dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name   string
		change func(*plan.Plan)
		failed report.Failure
		reason string
	}{
		{"no working directory", func(p *plan.Plan) { p.Cwd = "/no/such" }, report.FailedDirectory,
			"can't chdir to /no/such: No such file or directory"},
		{"working directory is a file", func(p *plan.Plan) { p.Cwd = file }, report.FailedDirectory,
			"can't chdir to " + file + ": Not a directory"},
		{"no working directory for the output", func(p *plan.Plan) { p.Cwd, p.Stdout.Path = "/no/such", "/no/such/o" },
			report.FailedDirectory,
			"can't chdir to /no/such: No such file or directory"},
		{"no shell", func(p *plan.Plan) { p.Steps[0].Argv[0], p.Env = "/bin/nosuch", append(p.Env, "SHELL=/bin/nosuch") },
			report.FailedShell,
			`unable to find shell "/bin/nosuch"`},
		{"no program", func(p *plan.Plan) { p.Steps[0].Argv[0] = "/bin/nosuch" }, report.FailedShell,
			`execvlp(/bin/nosuch, "/bin/nosuch") failed: No such file or directory`},
		{"no program, with limits", func(p *plan.Plan) {
			p.Steps[0].Argv[0] = "/bin/nosuch"
			p.Limits.Rlimits = []plan.Rlimit{{Resource: plan.Core, Soft: 0, Hard: 0}}
		}, report.FailedShell, `execvlp(/bin/nosuch, "/bin/nosuch") failed: No such file or directory`},
		{"not executable", func(p *plan.Plan) { p.Steps[0].Argv[0] = file }, report.FailedShell,
			`execvlp(` + file + `, "` + file + `") failed: Permission denied`},
		{"output in no directory", func(p *plan.Plan) { p.Stdout.Path = "/no/such/o" }, report.FailedOutput,
			`can't open "/no/such/o" as stdout_path: No such file or directory`},
		{"output is a directory", func(p *plan.Plan) { p.Stdout.Path = "/tmp" }, report.FailedOutput,
			`can't open "/tmp" as stdout_path: Is a directory`},
		{"no input", func(p *plan.Plan) { p.Stdin = "/no/such" }, report.FailedOutput,
			`can't open "/no/such" as stdin_path: No such file or directory`},
		{"no prolog", func(p *plan.Plan) {
			p.Steps = append([]plan.Step{{Name: plan.Prolog, Argv: []string{"/no/such"}}}, p.Steps...)
		}, report.FailedShell,
			`execvlp(/no/such, "/no/such") failed: No such file or directory`},
		{"no TMPDIR", func(p *plan.Plan) { p.Dirs = []plan.Dir{{Path: "/no/such/tmp", Mode: 0o755}} }, report.FailedBeforeJob,
			"can't make directory: mkdir /no/such/tmp: no such file or directory"},
	} {
		p := h.plan(i+1, "echo ran")
		c.change(&p)
		e := h.run(p)
		want(t, c.name+": failed", e.Failed, c.failed)
		want(t, c.name+": reason", e.Text, c.reason)
		if _, err := os.Stat(p.Spool); !os.IsNotExist(err) {
			t.Errorf("%s: spool directory still there", c.name)
		}
	}
}

// A program or a user that does not exist is reported by the step whose turn it was; what had begun before is
// undone as far as it goes. So does Grid Engine.
func TestStepsThatCannotBegin(t *testing.T) {
	h := newHost(t)
	gone := func(s *plan.Step) { s.Argv = []string{"/no/such"} }
	refused := func(s *plan.Step) { s.Argv, s.Refused = []string{""}, "can't run as nobody" }
	for i, c := range []struct {
		step   plan.StepName
		change func(*plan.Step)
		failed report.Failure
		ran    string
	}{
		{plan.Prolog, gone, report.FailedShell, ""},
		{plan.PEStart, gone, report.FailedShell, "prolog epilog"},
		{plan.Job, gone, report.FailedShell, "prolog pe_start pe_stop epilog"},
		{plan.PEStop, gone, report.FailedShell, "prolog pe_start job epilog"},
		{plan.Epilog, gone, report.FailedShell, "prolog pe_start job pe_stop"},
		{plan.Prolog, refused, report.FailedBeforeProlog, ""},
		{plan.PEStart, refused, report.FailedBeforePEStart, "prolog epilog"},
		{plan.PEStop, refused, report.FailedBeforePEStop, "prolog pe_start job epilog"},
		{plan.Epilog, refused, report.FailedBeforeEpilog, "prolog pe_start job pe_stop"},
	} {
		p := h.plan(i+1, "")
		p.Steps = nil
		for name := plan.Prolog; name <= plan.Epilog; name++ {
			s := script(name, "echo "+name.String())
			if name == c.step {
				c.change(&s)
			}
			p.Steps = append(p.Steps, s)
		}
		e := h.run(p)
		what := fmt.Sprintf("%s cannot begin (%d)", c.step, i)
		want(t, what+": what ran", strings.Join(strings.Fields(h.output(i+1)), " "), c.ran)
		want(t, what+": failed", e.Failed, c.failed)
		want(t, what+": step", e.Step, c.step)
	}
	p := h.plan(20, "true")
	p.Steps = append([]plan.Step{{Name: plan.PEStart, Argv: []string{"/no/such"}}}, p.Steps...)
	p.Steps = append(p.Steps, script(plan.PEStop, "echo pe_stop"), script(plan.Epilog, "echo epilog"))
	h.run(p)
	want(t, "pe_start cannot begin and there is no prolog: what ran", h.output(20), "epilog\n")
}

func TestFilesAndStreams(t *testing.T) {
	h := newHost(t)
	in := filepath.Join(h.dir, "in")
	if err := os.WriteFile(in, []byte("from stdin\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := h.plan(1,
		`cat; echo err >&2; $SGE_JOB_SPOOL_DIR/script a "b c"; echo $MINE; mkdir $TMPDIR/sub; touch $TMPDIR/sub/f; ls $TMPDIR; umask`)
	tmp := filepath.Join(h.dir, "tmp.1")
	p.Stdin = in
	p.Stderr.Path = filepath.Join(h.dir, "err.1")
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o700, Owned: true}}
	p.Files = []plan.File{
		{Path: filepath.Join(p.Spool, "script"), Data: []byte("#!/bin/sh\necho script $2\n"), Mode: 0o755}}
	p.Env = append(p.Env, "MINE=yes", "TMPDIR="+tmp)
	p.Umask = 0o27
	e := h.run(p)
	want(t, "exit status", e.ExitStatus, 0)
	want(t, "stdout", h.output(1), "from stdin\nscript b c\nyes\nsub\n0027\n")
	b, _ := os.ReadFile(p.Stderr.Path)
	want(t, "stderr", string(b), "err\n")
	for _, path := range []string{tmp, p.Spool} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there", path)
		}
	}
	e = h.run(func() plan.Plan { p := h.plan(2, "umask; echo again"); p.Stdout.Path = h.out(1); return p }())
	want(t, "output is appended to", h.output(1), "from stdin\nscript b c\nyes\nsub\n0027\n0022\nagain\n")
}

// What an attempt that was cut off left in the directory is not for the next.
func TestLeftDirectoryIsMadeAnew(t *testing.T) {
	h := newHost(t)
	tmp := filepath.Join(h.dir, "tmp.1")
	if err := os.MkdirAll(filepath.Join(tmp, "left"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := h.plan(1, "ls "+tmp+"; stat -c %a "+tmp)
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o755, Owned: true}}
	want(t, "failed", h.run(p).Failed, 0)
	want(t, "output", h.output(1), "755\n")
	if _, err := os.Stat(tmp); !os.IsNotExist(err) {
		t.Error("the directory is still there")
	}
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	h := newHost(t)
	target := filepath.Join(h.dir, "target")
	link := filepath.Join(h.dir, "link")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	p := h.plan(1, "true")
	p.Dirs = []plan.Dir{{Path: link, Mode: 0o755, Owned: true}}
	want(t, "failed", h.run(p).Failed, report.FailedBeforeJob)
	if _, err := os.Lstat(link); err != nil {
		t.Errorf("the link was removed: %v", err)
	}
}

func TestLoginShell(t *testing.T) {
	h := newHost(t)
	for i, limits := range [][]plan.Rlimit{nil, {{Resource: plan.Core, Soft: 0, Hard: 0}}} {
		p := h.plan(i+1, "echo $0")
		p.Steps[0] = plan.Step{Name: plan.Job, Login: true, Argv: []string{"/bin/bash", "-c", "echo $0; shopt login_shell"}}
		p.Limits.Rlimits = limits
		h.run(p)
		if out := h.output(i + 1); !strings.HasPrefix(out, "-bash\n") || !strings.Contains(out, "on") {
			t.Errorf("no login shell: %q", out)
		}
	}
}

func TestRlimits(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "cat /proc/self/limits")
	const mb = 1 << 20
	p.Limits.Rlimits = []plan.Rlimit{
		{Resource: plan.CPU, Soft: 10, Hard: 20}, {Resource: plan.FSize, Soft: 64 * mb, Hard: 128 * mb},
		{Resource: plan.Data, Soft: 256 * mb, Hard: 512 * mb}, {Resource: plan.Stack, Soft: 4 * mb, Hard: 6 * mb},
		{Resource: plan.Core, Soft: 0, Hard: 1024},
		{Resource: plan.RSS, Soft: 300 * mb, Hard: plan.Infinity}, {Resource: plan.VMem, Soft: 1024 * mb, Hard: 2048 * mb},
		{Resource: plan.NoFile, Soft: 50, Hard: 60}, {Resource: plan.NProc, Soft: 5000, Hard: 6000},
		{Resource: plan.MemLock, Soft: 1024, Hard: 2048}, {Resource: plan.Locks, Soft: 30, Hard: 40},
	}
	e := h.run(p)
	want(t, "exit status", e.ExitStatus, 0)
	got := map[string]string{}
	for line := range strings.Lines(h.output(1)) {
		if len(line) > 67 {
			got[strings.TrimSpace(line[:26])] = strings.Join(strings.Fields(line[26:67]), " ")
		}
	}
	for name, wanted := range map[string]string{
		"Max cpu time": "10 20", "Max file size": "67108864 134217728", "Max data size": "268435456 536870912",
		"Max stack size": "4194304 6291456", "Max core file size": "0 1024", "Max resident set": "314572800 unlimited",
		"Max address space": "1073741824 2147483648", "Max open files": "50 60", "Max processes": "5000 6000",
		"Max locked memory": "1024 2048", "Max file locks": "30 40",
	} {
		want(t, name, got[name], wanted)
	}
	for line := range strings.Lines(h.output(1)) {
		if strings.Contains(line, "ulimit") {
			t.Error(line)
		}
	}
}

// Where a queue sets no limits, a job gets all that its host may give, not what execd was started with.
func TestUnlimited(t *testing.T) {
	h := newHost(t)
	h.run(h.plan(1, "cat /proc/self/limits"))
	for line := range strings.Lines(h.output(1)) {
		for _, name := range []string{"Max cpu time", "Max file size", "Max data size", "Max stack size",
			"Max core file size", "Max resident set", "Max address space"} {
			if !strings.HasPrefix(line, name) {
				continue
			}
			f := strings.Fields(line[26:])
			want(t, name+": soft", f[0], f[1])
			if os.Getuid() == 0 {
				want(t, name+": hard", f[1], "unlimited")
			}
		}
	}
}

// What stands before the job is not limited itself, but gets the job's limits to set; its own size is not the job's.
func TestFront(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "")
	p.Steps[0] = plan.Step{Name: plan.Job, Front: true,
		Argv: []string{"/bin/bash", "-c", `sh -c "$0"'exec "$@"' name sh -c 'ulimit -n'; ulimit -n`}}
	p.Limits.Rlimits = []plan.Rlimit{{Resource: plan.NoFile, Soft: 50, Hard: 60}}
	h.run(p)
	if job, front, _ := strings.Cut(h.output(1), "\n"); job != "50" || front == "50\n" {
		t.Errorf("limits %q", h.output(1))
	}
	p = h.plan(2, "")
	const most = 16 << 20
	p.Steps[0] = plan.Step{Name: plan.Job, Front: true,
		Argv: []string{"/bin/bash", "-c", "sleep 1000 & printf -v x %24000000s; echo up; while :; do :; done"}}
	p.Limits.VMem = plan.Bound{Hard: most}
	h.start(p)
	h.says(2, "up")
	h.sampled(2)
	h.signal(report.Terminate, 2)
	if e := h.end(2); e.Limit != "" || e.Usage.MaxVMem == 0 || e.Usage.MaxVMem > most {
		t.Errorf("%+v", e)
	}
}

// sampled waits until the shepherd has looked at a busy job from now on: two looks may have begun before.
func (h *host) sampled(job int) {
	h.t.Helper()
	looks, cpu := 0, 0.0
	h.until("the shepherd has sampled it", func() bool {
		if u := h.used(job); u.CPU > cpu {
			looks, cpu = looks+1, u.CPU
		}
		return looks == 3
	})
}

// A job starts with nothing of the shepherd's: no signal ignored or blocked, no file open, a session of its own.
// Signals 32 and 33 are the C library's own; what make starts has them ignored, and no program can undo it.
func TestCleanStart(t *testing.T) {
	h := newHost(t)
	h.run(h.plan(1, "grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd; yes 2>/dev/null | head -1"))
	var blocked, ignored uint64
	var open string
	if _, err := fmt.Sscanf(strings.Replace(h.output(1), "0\n1\n2\ny", "0,1,2,y", 1), "SigBlk: %x\nSigIgn: %x\n%s",
		&blocked, &ignored, &open); err != nil {
		t.Fatalf("output %q: %v", h.output(1), err)
	}
	const libc = 1<<(32-1) | 1<<(33-1)
	if blocked != 0 || ignored&^libc != 0 || open != "0,1,2,y" {
		t.Errorf("blocked %x, ignored %x, open files and answer %s", blocked, ignored, open)
	}
	h.run(h.plan(2, "cut -d' ' -f6 /proc/$$/stat; echo $$"))
	if f := strings.Fields(h.output(2)); len(f) != 2 || f[0] != f[1] {
		t.Errorf("session and process: %v", f)
	}
}

func TestPriority(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "read x <"+filepath.Join(h.dir, "fifo")+
		"; nice; test ! -e /proc/self/autogroup || cut -d' ' -f3 /proc/self/autogroup")
	if err := syscall.Mkfifo(filepath.Join(h.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Priority = 7
	h.start(p)
	h.await(1, plan.Running)
	if err := os.WriteFile(filepath.Join(h.dir, "fifo"), []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	h.end(1)
	nice := "7\n"
	if _, err := os.Stat("/proc/self/autogroup"); err == nil {
		nice += "7\n" // the session's, where the kernel groups processes by session
	}
	want(t, "nice", h.output(1), nice)
}

// Jobs of a queue without a priority have that with which their host's daemon was started, as a session too.
func TestPriorityOfTheHost(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	k, err := Connect(t.Context(), ConnectOptions{Dir: dir, Program: []string{"nice", "-n", "5", self, "shepherd"}})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, dir: dir, ctx: t.Context(), k: k, saw: map[report.Attempt][]plan.Status{}}
	defer k.Shutdown(h.ctx, true)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	h.start(h.plan(1, "read x <"+fifo+"; nice; test ! -e /proc/self/autogroup || cut -d' ' -f3 /proc/self/autogroup"))
	h.await(1, plan.Running)
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	h.end(1)
	nice := fmt.Sprintln(niceness() + 5)
	if _, err := os.Stat("/proc/self/autogroup"); err == nil {
		nice += nice
	}
	want(t, "nice", h.output(1), nice)
}

// The shepherd goes before its jobs where it may, and no process of a job has its nice value.
func TestLead(t *testing.T) {
	h := newHost(t)
	h.run(h.plan(1, "setsid -w nice; nice; cut -d' ' -f19 /proc/$PPID/stat"))
	best := make(chan int)
	go func() {
		runtime.LockOSThread() // which ends with this goroutine
		unix.Setpriority(unix.PRIO_PROCESS, 0, niceness()-leadNice)
		best <- niceness()
	}()
	want(t, "nice of the job and the shepherd", h.output(1), fmt.Sprintf("%d\n%[1]d\n%d\n", niceness(), <-best))
}

func TestRefusedPlans(t *testing.T) {
	h := newHost(t)
	plans := []plan.Plan{h.plan(1, "true"), h.plan(2, "true"), h.plan(3, "true")}
	plans[0].Steps = nil
	plans[1].Spool = ""
	answers, err := h.k.Start(h.ctx, plans)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "no job", answers[0].Text, "1.1.1: 0 job steps instead of one")
	want(t, "no spool", answers[1].Text, "2.1.1: no spool directory")
	want(t, "the good one", answers[2].State, plan.Starting)
	want(t, "the good one ends", h.end(3).ExitStatus, 0)
}

// As root, jobs run as their owner: files, rights, groups.
func TestOtherOwner(t *testing.T) {
	if os.Getuid() != 0 {
		h := newHost(t)
		p := h.plan(1, "true")
		p.Owner = plan.Owner{UID: uint32(os.Getuid()) + 1}
		answers, err := h.k.Start(h.ctx, []plan.Plan{p})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(answers[0].Text, "not as root") {
			t.Errorf("not refused: %+v", answers[0])
		}
		return
	}
	h := newHost(t)
	const nobody, group = 65534, 65533
	owned := filepath.Join(h.dir, "owned")
	if err := os.Mkdir(owned, 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chown(owned, nobody, nobody)
	os.Chmod(h.dir, 0o755)
	tmp := filepath.Join(h.dir, "tmp")
	p := h.plan(1, "id -u; id -g; id -G; stat -c '%u %a' "+tmp+"; grep Cap[EP] /proc/self/status")
	p.Owner = plan.Owner{UID: nobody, GID: nobody, Groups: []uint32{nobody, group}}
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o700, Owned: true}}
	p.Stdout.Path = filepath.Join(owned, "out")
	p.Steps = append([]plan.Step{{Name: plan.Prolog, Argv: []string{"/bin/sh", "-c", "id -u"}, As: &plan.Owner{}}},
		p.Steps...)
	e := h.run(p)
	want(t, "reason", e.Text, "")
	b, _ := os.ReadFile(p.Stdout.Path)
	want(t, "output", string(b),
		"0\n65534\n65534\n65534 65533\n65534 700\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n")
	var s syscall.Stat_t
	if syscall.Stat(p.Stdout.Path, &s); s.Uid != nobody {
		t.Errorf("output belongs to %d", s.Uid)
	}

	os.Chmod(h.dir, 0o755)
	p = h.plan(2, "true") // output in root's directory
	p.Owner = plan.Owner{UID: nobody, GID: nobody}
	e = h.run(p)
	want(t, "failed", e.Failed, report.FailedOutput)
	want(t, "reason", e.Text, `can't open "`+p.Stdout.Path+`" as stdout_path: Permission denied`)

	closed := filepath.Join(h.dir, "closed")
	os.Mkdir(closed, 0o700)
	p = h.plan(3, "true")
	p.Owner, p.Stdout.Path, p.Cwd = plan.Owner{UID: nobody, GID: nobody}, "", closed
	e = h.run(p)
	want(t, "failed", e.Failed, report.FailedDirectory)
	want(t, "reason", e.Text, "can't chdir to "+closed+": Permission denied")
}
