package shepherd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// full has the shepherd find no room for more than so many bytes in a file: a limit that all users can set stands for
// the disk. What it logs goes to a file, too. again takes it away.
func (h *host) full(bytes int64) (again func()) {
	h.t.Helper()
	pid := shepherdPid(h.dir)
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &before); err != nil {
		h.t.Fatal(err)
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(bytes), Max: before.Max}, nil); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &before, nil); err != nil {
			h.t.Error(err)
		}
	}
}

func (h *host) journalSize() int64 {
	h.t.Helper()
	s, err := os.Stat(filepath.Join(h.dir, journalName))
	if err != nil {
		h.t.Fatal(err)
	}
	return s.Size()
}

// What cannot be journaled is not begun: each plan is refused with the file and the cause, and may come again.
func TestStartOnFullDisk(t *testing.T) {
	h := newHost(t)
	again := h.full(h.journalSize() + 10)
	answers, err := h.k.Start(h.ctx, []plan.Plan{h.plan(1, "true"), h.plan(2, "true")})
	if err != nil || len(answers) != 2 {
		t.Fatalf("answers %v, %v", answers, err)
	}
	for _, a := range answers {
		if !strings.Contains(a.Text, "shepherd.journal: "+syscall.EFBIG.Error()) || a.State != 0 {
			t.Errorf("%s: %q, %s", a.Attempt, a.Text, a.State)
		}
	}
	all, err := h.k.List(h.ctx)
	if err != nil || len(all) != 0 {
		t.Errorf("the shepherd has %v, %v", all, err)
	}
	again()
	want(t, "exit status", h.run(h.plan(1, "exit 3")).ExitStatus, 3)
}

// An end that cannot be journaled is reported all the same, logged once, and journaled when there is room: the next
// shepherd has it, too.
func TestEndOnFullDisk(t *testing.T) {
	h := newHost(t)
	gate := filepath.Join(h.dir, "gate")
	h.start(h.plan(1, "until [ -e "+gate+" ]; do sleep 0.01; done; exit 3"))
	h.await(1, plan.Running)
	again := h.full(h.journalSize() + 10)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, "exit status", h.end(1).ExitStatus, 3)
	size := h.journalSize()
	again()
	h.until("the end is journaled", func() bool { return h.journalSize() > size })
	h.until("the shepherd may go", func() bool { return h.k.Shutdown(h.ctx, false) == nil })
	log, err := os.ReadFile(filepath.Join(h.dir, logName))
	if err != nil || strings.Count(string(log), "\n") > 1 || !strings.Contains(string(log), "1.1.1: end not journaled") {
		t.Errorf("the shepherd said, %v:\n%s", err, log)
	}
	h.saw = map[report.Attempt][]plan.Status{}
	h.connect(false)
	want(t, "exit status, of the next shepherd", h.end(1).ExitStatus, 3)
	if err := os.Truncate(filepath.Join(h.dir, logName), 0); err != nil {
		t.Fatal(err)
	}
}

// alone reports whether the test runs in a process of its own, which it starts when it does not. A limit on file sizes
// would meet what go test writes about the files that this process opens, too.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "SHEPHERD_TEST_ALONE"
	if os.Getenv(mark) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A journal that cannot be rewritten leaves no half of the new one: it would take room that there is not.
func TestRewriteOnFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "journal")
	var before syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before)
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: before.Max})
	_, _, err := rewriteJournal(path, []journalRecord{testEnd(1)})
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	if err == nil {
		t.Error("what did not fit was called written")
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A shepherd without descriptors is no fault of the job that comes next, and none of its queue.
func TestNoDescriptors(t *testing.T) {
	h := newHost(t)
	pid := shepherdPid(h.dir)
	if _, err := h.k.List(h.ctx); err != nil { // we are let in
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	limit := func(n int) {
		unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before)
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(n), Max: before.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	usual := len(open) + 100
	for job := 1; job <= 8; job++ {
		limit(len(open) + job - 4)
		e := h.run(h.plan(job, "exit 3"))
		limit(usual)
		switch {
		case e.Failed == report.NoFailure && e.ExitStatus == 3:
		case e.Failed.Fault(false) == report.NoFault && e.Failed.Next() == report.Again &&
			strings.HasSuffix(e.Text, "oo many open files"):
		default:
			t.Errorf("%d descriptors more: failed %d, %s", job-4, e.Failed, e.Text)
		}
	}
}
