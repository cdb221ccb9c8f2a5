package shepherd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// shutDown sends the shepherd what systemd sends it when the host is shut down.
func (h *host) shutDown() {
	h.t.Helper()
	if err := syscall.Kill(h.k.pid, syscall.SIGTERM); err != nil {
		h.t.Fatal(err)
	}
}

// awaitGone returns when the shepherd has ended.
func (h *host) awaitGone() {
	h.t.Helper()
	for {
		select {
		case batch, open := <-h.k.Changes():
			if !open {
				return
			}
			for _, a := range batch {
				h.saw[a.Attempt] = append(h.saw[a.Attempt], a)
			}
		case <-h.ctx.Done():
			h.t.Fatal("the shepherd does not end")
		}
	}
}

// A job that runs when the host is shut down is reported as cut off, whatever it made of its end, so that it can begin
// again; one that had not begun can always begin. Both are known after the reboot.
func TestShutdownOfHost(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "exec sleep 1000"))
	polite := h.plan(2, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	polite.Terminate = plan.Method{Signal: int(syscall.SIGTERM)}
	before := h.plan(3, "true")
	before.Steps = append(
		[]plan.Step{{Name: plan.Prolog, Argv: []string{"/bin/sh", "-c", "echo prolog; exec sleep 1000"}}}, before.Steps...)
	after := h.plan(4, "exit 7")
	after.Steps = append(
		after.Steps, plan.Step{Name: plan.Epilog, Argv: []string{"/bin/sh", "-c", "echo epilog; exec sleep 1000"}})
	h.start(polite, before, after)
	h.await(1, plan.Running)
	h.says(2, "ready\n")
	h.says(3, "prolog\n")
	h.says(4, "epilog\n")

	h.shutDown()
	h.awaitGone()
	h.saw = map[report.Attempt][]plan.Status{}
	h.connect(false)
	for _, c := range []struct {
		job    int
		failed report.Failure
		status int
		reason string
	}{
		{1, report.FailedNoStatus, 137, "ended by shutdown of the host"},
		{2, report.FailedNoStatus, 0, "ended by shutdown of the host"},
		{3, report.FailedRestart, 137, "ended by shutdown of the host in prolog"},
		{4, report.FailedAfterJob, 137, "ended by shutdown of the host in epilog"},
	} {
		e := h.end(c.job)
		want(t, "failed", e.Failed, c.failed)
		want(t, "reason", e.Text, c.reason)
		want(t, "exit status", e.ExitStatus, uint32(c.status))
	}
}

// A PE task that had not begun may be waited for by a job that has: it cannot be put back without that.
func TestShutdownBeforePETask(t *testing.T) {
	a := &attempt{shut: true, key: report.Attempt{Job: 1, Task: 1, N: 1, PETask: "1.node1"}}
	want(t, "failed", a.cutOffFailure("before the job began").code, report.FailedNoStatus)
}

// While jobs end the shepherd starts nothing. The plans are not at fault: the call fails, so that execd repeats it.
func TestNoStartDuringShutdown(t *testing.T) {
	h := newHost(t)
	slow := h.plan(
		1, "trap 'while [ ! -e go ]; do sleep 0.01; done; exit 0' USR2; echo ready; while :; do sleep 0.01; done")
	slow.Notify = time.Minute
	h.start(slow)
	h.says(1, "ready\n")
	h.shutDown()
	var err error
	h.until("a start is refused", func() bool {
		_, err = h.k.Start(h.ctx, []plan.Plan{h.plan(2, "true")})
		return err != nil
	})
	if !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("Start: %v", err)
	}
	os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o644)
	h.awaitGone()
	h.connect(false)
	want(t, "failed", h.end(1).Failed, report.FailedNoStatus)
}

// An attempt that had begun under another boot and never ended was cut off by a power failure or a crash. Its folder in
// memory is gone with all around it, and is not reported as one that stays.
func TestPowerFailure(t *testing.T) {
	dir := t.TempDir()
	key := report.Attempt{Job: 1, Task: 1, N: 1}
	journal,
		err := openJournal(filepath.Join(dir, journalName),
		[]journalRecord{{Begin: &beginRecord{Attempt: key, Time: grid.TimeOf(time.Now()), Boot: "another",
			Spool: dir + "/spool.1", Remove: []string{dir + "/memory/1.1/"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	journal.close()
	h := hostIn(t, dir)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedNoStatus)
	want(t, "reason", e.Text, "the host went down without shutdown of the job: power failure, crash or forced shutdown")
	want(t, "what stays", e.Left, "")
}

// A host out of memory ends processes of jobs, not the shepherd.
func TestOOMScore(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "cat /proc/self/oom_score_adj")
	p.Steps = append(p.Steps, script(plan.Epilog, "cat /proc/self/oom_score_adj"))
	h.run(p)
	want(t, "scores of the job and its epilog", h.output(1), "500\n500\n")
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the score of the shepherd to be its own again", testkit.Patience, func() (bool, string) {
		of, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(h.k.pid), "oom_score_adj"))
		return err == nil && string(of) == string(own), string(of)
	})
}
