package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// Two users who are not the shepherd's.
var (
	mallory = plan.Owner{UID: 65533, GID: 65533}
	honest  = plan.Owner{UID: 65532, GID: 65532}
)

// hostOfUsers is a host whose directory all may enter; its shepherd runs as root.
func hostOfUsers(t *testing.T) *host {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: jobs of several users")
	}
	h := newHost(t)
	if err := os.Chmod(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// home is a directory of an owner.
func (h *host) home(o plan.Owner) string {
	h.t.Helper()
	dir := filepath.Join(h.dir, fmt.Sprint("home", o.UID))
	os.Mkdir(dir, 0o755)
	if err := os.Chown(dir, int(o.UID), int(o.GID)); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// by makes the plan one of an owner's, in that owner's home.
func (h *host) by(o plan.Owner, p plan.Plan) plan.Plan {
	home := h.home(o)
	p.Owner, p.Cwd, p.Stdout.Path = o, home, filepath.Join(home, fmt.Sprint("out.", p.Attempt.Job))
	return p
}

func (h *host) fifo(o plan.Owner, name string) string {
	h.t.Helper()
	path := filepath.Join(h.home(o), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chown(path, int(o.UID), int(o.GID)); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// Jobs whose input or output waits for another process hold up no other jobs, and can be deleted.
func TestFIFOsHoldUpNoOthers(t *testing.T) {
	h := hostOfUsers(t)
	in, out := h.fifo(mallory, "in"), h.fifo(mallory, "out")
	const n = startsMax + 6
	var plans []plan.Plan
	for job := 1; job <= n; job++ {
		p := h.by(mallory, h.plan(job, "cat"))
		switch job % 3 {
		case 0:
			p.Stdin = in
		case 1:
			p.Stdout.Path = out
		case 2:
			p.Stderr.Path = out
		}
		plans = append(plans, p)
	}
	h.start(plans...)
	e := h.run(h.by(honest, h.plan(1000, "exit 3")))
	want(t, "another user's job", fmt.Sprint(e.Failed, ", ", e.ExitStatus), "no failure, 3")
	for job := 1; job <= n; job++ {
		h.signal(report.Terminate, job)
	}
	for job := 1; job <= n; job++ {
		if e := h.end(job); e.Failed != report.FailedAfterJob {
			t.Fatalf("job %d: failed %d, %s", job, e.Failed, e.Text)
		}
	}
}

// A job may read from a FIFO that another process fills, and write to one that another process reads.
func TestFIFOsWork(t *testing.T) {
	h := hostOfUsers(t)
	fifo := h.fifo(mallory, "fifo")
	p := h.by(mallory, h.plan(1, `umask; pwd; read x; echo got "$x"`))
	p.Stdin, p.Umask = fifo, 0o27
	p.Limits.Rlimits = []plan.Rlimit{{Resource: plan.Core, Soft: 0, Hard: 0}}
	h.start(p)
	h.await(1, plan.Running)
	if err := os.WriteFile(fifo, []byte("a line\n"), 0); err != nil {
		t.Fatal(err)
	}
	e := h.end(1)
	want(t, "reason", e.Text, "")
	out, _ := os.ReadFile(p.Stdout.Path)
	want(t, "output", string(out), "0027\n"+p.Cwd+"\ngot a line\n")

	p = h.by(mallory, h.plan(2, "echo written; echo too >&2"))
	p.Stdout, p.Stderr = plan.Output{Path: fifo}, plan.Output{}
	h.start(p)
	text, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	h.end(2)
	want(t, "read", string(text), "written\ntoo\n")

	p = h.by(mallory, h.plan(3, "true")) // what cannot be started carefully says why
	p.Stdin, p.Steps[0].Argv[0] = fifo, h.home(mallory)+"/fifo"
	h.start(p)
	if err := os.WriteFile(fifo, nil, 0); err != nil {
		t.Fatal(err)
	}
	e = h.end(3)
	want(t, "failed", e.Failed, report.FailedOwnStart) // no fault of the queue: a process of the owner says so
	want(t, "reason", e.Text, fmt.Sprintf("execvlp(%s, %q) failed: Permission denied", fifo, fifo))
	if s := h.saw[report.Attempt{Job: 3, Task: 1, N: 1}]; s[len(s)-1].Start != 0 {
		t.Error("the job is said to have started")
	}
}

// hang mounts a file system that never answers. A user could do the same.
func hang(t *testing.T, dir string) {
	t.Helper()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no file system that hangs can be had: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("hangs", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		fd)); err != nil {
		syscall.Close(fd)
		t.Skipf("no file system that hangs can be had: %v", err)
	}
	t.Cleanup(func() {
		syscall.Unmount(dir, syscall.MNT_DETACH)
		syscall.Close(fd) // all calls that wait return an error
	})
}

func TestHangingFileSystem(t *testing.T) {
	h := hostOfUsers(t)
	dir := filepath.Join(h.dir, "hangs")
	hang(t, dir)
	h.home(mallory)
	changes := []func(*plan.Plan){
		func(p *plan.Plan) { p.Cwd = dir },
		func(p *plan.Plan) { p.Stdin = dir + "/in" },
		func(p *plan.Plan) { p.Stdout.Path = dir + "/out" },
		func(p *plan.Plan) { p.Steps[0].Argv = []string{dir + "/program"} },
		func(p *plan.Plan) {
			p.Steps[0].Argv = []string{dir + "/program"}
			p.Limits.Rlimits = []plan.Rlimit{{Resource: plan.Core, Soft: 0, Hard: 0}}
		},
		func(p *plan.Plan) {
			p.Steps = append([]plan.Step{{Name: plan.Prolog, Argv: []string{dir + "/program"}}}, p.Steps...)
		},
		func(p *plan.Plan) {
			p.Steps = append(
				[]plan.Step{{Name: plan.PEStart, Argv: []string{"/bin/true"}, Stdout: plan.Output{Path: dir + "/out"}}}, p.Steps...)
		},
	}
	for job, change := range changes {
		p := h.by(mallory, h.plan(job+1, "true"))
		change(&p)
		h.start(p)
	}
	for i := range 3 {
		e := h.run(h.by(honest, h.plan(1000+i, "exit 3")))
		want(t, "another user's job", fmt.Sprint(e.Failed, ", ", e.ExitStatus), "no failure, 3")
	}
	// What could not be looked at in time, as everything of mallory's now, is found to be a directory by the process that
	// opens it.
	p := h.by(mallory, h.plan(2000, "echo written; echo too >&2"))
	p.Stdout, p.Stderr = plan.Output{Path: p.Cwd, Name: "work.o1"}, plan.Output{Path: p.Cwd + "/", Name: "work.e1"}
	want(t, "reason", h.run(p).Text, "")
	out, _ := os.ReadFile(p.Cwd + "/work.o1")
	errors, _ := os.ReadFile(p.Cwd + "/work.e1")
	want(t, "output in the directory", string(out)+string(errors), "written\ntoo\n")
	for job := range changes {
		h.signal(report.Terminate, job+1)
	}
	for job := range changes {
		if e := h.end(job + 1); e.Failed != report.FailedAfterJob {
			t.Errorf("job %d: failed %d, %s", job+1, e.Failed, e.Text)
		}
	}
}

// A job that would write into its input does not begin, by whatever name it calls the file.
func TestInputIsOutput(t *testing.T) {
	h := newHost(t)
	file, link := filepath.Join(h.dir, "file"), filepath.Join(h.dir, "link")
	if err := os.WriteFile(file, []byte("input\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ in, out, err, reason string }{
		{file, file, "", fmt.Sprintf(`same paths given for stdin (%q) and stdout (%q)`, file, file)},
		{link, file, "", fmt.Sprintf(`same paths given for stdin (%q) and stdout (%q)`, link, file)},
		{file, h.out(9), file, fmt.Sprintf(`same paths given for stdin (%q) and stderr (%q)`, file, file)},
		{file, h.out(9), link, fmt.Sprintf(`same paths given for stdin (%q) and stderr (%q)`, file, link)},
		{"/dev/null", "/dev/null", "", ""},
	} {
		p := h.plan(i+1, "cat")
		p.Stdin, p.Stdout.Path, p.Stderr.Path = c.in, c.out, c.err
		e := h.run(p)
		want(t, "reason", e.Text, c.reason)
		if c.reason != "" {
			want(t, "failed", e.Failed, report.FailedOutput)
		}
	}
	text, _ := os.ReadFile(file)
	want(t, "the input", string(text), "input\n")
}

// A step that runs as another user has nothing of the job but what its own environment says.
func TestOtherUsersStep(t *testing.T) {
	h := hostOfUsers(t)
	p := h.by(mallory, h.plan(1, "true"))
	p.Env = append(p.Env, "LD_LIBRARY_PATH=/evil", "BASH_ENV=/evil")
	p.Umask = 0o77
	in := filepath.Join(p.Cwd, "in")
	if err := os.WriteFile(in, []byte("from the owner\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Stdin = in
	look := plan.Step{
		Argv: []string{"/bin/bash", "-c", "id -u; pwd; umask; cat; env | grep -v -e ^_= -e ^SHLVL= -e ^PWD= | sort"}}
	for _, name := range []plan.StepName{plan.Prolog, plan.Epilog} {
		s := look
		s.Name, s.As, s.Environ = name, &plan.Owner{}, []string{"PATH=/usr/bin:/bin", "JOB_ID=1"}
		p.Steps = append(p.Steps, s)
	}
	p.Steps[0], p.Steps[1] = p.Steps[1], p.Steps[0]
	e := h.run(p)
	want(t, "reason", e.Text, "")
	out, _ := os.ReadFile(p.Stdout.Path)
	seen := "0\n/\n0022\nJOB_ID=1\nPATH=/usr/bin:/bin\n"
	want(t, "what they see", string(out), seen+"SGE_JOB_SPOOL_DIR="+p.Spool+"\n"+seen+
		"SGE_JOBEXIT_STAT=0\nSGE_JOB_SPOOL_DIR="+p.Spool+"\n")
}

// The files that prologs, epilogs and wrappers read.
func TestSpoolFiles(t *testing.T) {
	h := newHost(t)
	p := h.plan(1,
		`cd $SGE_JOB_SPOOL_DIR; until [ -s job_pid ]; do sleep 0.01; done; echo $(ls); [ $(cat job_pid) = $$ ] && echo me; grep ^MINE= environment; stat -c %a environment`)
	p.Env = append(p.Env, "MINE=a\nb")
	h.run(p)
	want(t, "of a job", h.output(1), "environment job_pid pid\nme\nMINE=a\\nb\n600\n")

	p = h.plan(2, "exit 3")
	list := "cd $SGE_JOB_SPOOL_DIR; echo $(ls); cat error exit_status;"
	p.Steps = []plan.Step{script(plan.Prolog, list), p.Steps[0],
		script(plan.Epilog, list+" grep -E '^(exit_status|signal)=' usage; cut -d: -f4- trace")}
	h.run(p)
	want(t, "of a job with a prolog", h.output(2), "environment error exit_status pid trace\n"+
		"environment error exit_status job_pid pid trace usage\nexit_status=3\nsignal=0\n"+
		h.output(2)[strings.Index(h.output(2), "signal=0\n")+9:])
	for _, name := range []string{"prolog", "job", "epilog"} {
		if !strings.Contains(h.output(2), `forked "`+name+`" with pid`) {
			t.Errorf("the trace does not speak of %s:\n%s", name, h.output(2))
		}
	}

	p = h.plan(3, "true")
	p.Keep, p.Cwd = true, "/no/such"
	h.run(p)
	for name, text := range map[string]string{
		statusFile: "28\n", errorFile: "can't chdir to /no/such: No such file or directory\n"} {
		b, _ := os.ReadFile(filepath.Join(p.Spool, name))
		want(t, name, string(b), text)
	}
}

// What a job uses is its own, not what the shepherd had when it started it.
func TestMaxRSS(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "exec tail -f /dev/null"))
	h.await(1, plan.Running)
	h.until("the shepherd has sampled it", func() bool { return h.used(1).VMem > 0 })
	h.signal(report.Terminate, 1)
	if got := h.end(1).Usage.MaxRSS; got == 0 || got > 8<<10 {
		t.Errorf("tail used %v KB", got)
	}
	h.start(h.plan(2, "(head -c 100000000 /dev/zero; sleep 1000) | tail >/dev/null"))
	h.until("it holds 100 MB, also where the shepherd has more", func() bool { return h.used(2).MaxRSS > 90<<10 })
	h.signal(report.Terminate, 2)
	if got := h.end(2).Usage.MaxRSS; got < 90<<10 {
		t.Errorf("100 MB are %v KB", got)
	}
}

// Owners take turns: a start does not wait for all that another owner has begun.
func TestTurns(t *testing.T) {
	starting := newStartPlaces()
	var mu sync.Mutex
	leave := map[uint32][]func(){}
	enter := func(owner uint32) {
		f := awaitPlace(starting, owner)
		mu.Lock()
		defer mu.Unlock()
		leave[owner] = append(leave[owner], f)
	}
	release := func(owner uint32) {
		mu.Lock()
		f := leave[owner][0]
		leave[owner] = leave[owner][1:]
		mu.Unlock()
		f()
	}
	for range startsEach {
		enter(1)
	}
	order := make(chan uint32, 100)
	queue := func(owner uint32) {
		before := starting.Queued()
		go func() {
			enter(owner)
			order <- owner
		}()
		testkit.Until(t, "the owner waits", testkit.Patience,
			func() (bool, string) { return starting.Queued() != before, "" })
	}
	for range 3 {
		queue(1)
	}
	for range startsMax - startsEach {
		enter(2)
	}
	queue(2)
	queue(2)
	for range 5 {
		release(1)
	}
	var got []uint32
	for range 5 {
		got = append(got, <-order)
	}
	want(t, "all five have begun", fmt.Sprint(len(got)), "5")
	for _, owner := range []uint32{1, 2} {
		for len(leave[owner]) > 0 {
			release(owner)
		}
	}
	want(t, "all are free again", starting.Count(), 0)
}
