package shepherd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// The shepherd of these tests is this test binary, run again under another argument.
func TestMain(m *testing.M) {
	testkit.BecomeShepherd(Run)
	os.Exit(m.Run())
}

// host is an exec host: a directory, a shepherd in it, and what it reported.
type host struct {
	t   testing.TB
	dir string
	k   *Client
	ctx context.Context
	saw map[report.Attempt][]plan.Status
}

func newHost(t testing.TB) *host {
	t.Helper()
	dir, err := os.MkdirTemp("", "shepherd")
	if err != nil {
		t.Fatal(err)
	}
	return hostIn(t, dir)
}

func hostIn(t testing.TB, dir string) *host {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	h := &host{t: t, dir: dir, ctx: ctx, saw: map[report.Attempt][]plan.Status{}}
	h.connect(false)
	t.Cleanup(func() {
		if err := h.k.Shutdown(ctx, true); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		cancel()
		if log, _ := os.ReadFile(filepath.Join(dir, logName)); len(log) > 0 {
			t.Errorf("the shepherd complained:\n%s", log)
		}
		os.RemoveAll(dir)
	})
	return h
}

// The address of a Unix socket is short; the path of a spool directory need not be.
func TestDeepDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a-very-deep-directory/", 12))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := hostIn(t, dir)
	want(t, "exit status", h.run(h.plan(1, "exit 3")).ExitStatus, 3)
	h.k.Close()
	h.connect(false)
	h.run(h.plan(2, "true"))
}

func (h *host) connect(durable bool) {
	h.t.Helper()
	k, err := Connect(h.ctx, ConnectOptions{Dir: h.dir, Durable: durable})
	if err != nil {
		h.t.Fatal(err)
	}
	h.k = k
}

func me() plan.Owner { return plan.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())} }

// plan is a job that runs a shell script in the host's directory with its output in out.JOB.
func (h *host) plan(job int, script string) plan.Plan {
	return plan.Plan{
		Attempt: report.Attempt{Job: uint32(job), Task: 1, N: 1},
		Owner:   me(),
		Spool:   filepath.Join(h.dir, "spool."+strconv.Itoa(job)),
		Cwd:     h.dir,
		Env:     []string{"PATH=/usr/bin:/bin"},
		Stdout:  plan.Output{Path: h.out(job)},
		Steps:   []plan.Step{{Name: plan.Job, Argv: []string{"/bin/sh", "-c", script}}},
	}
}

func (h *host) out(job int) string { return filepath.Join(h.dir, "out."+strconv.Itoa(job)) }

func (h *host) output(job int) string {
	h.t.Helper()
	b, err := os.ReadFile(h.out(job))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

func (h *host) start(plans ...plan.Plan) {
	h.t.Helper()
	answers, err := h.k.Start(h.ctx, plans)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, a := range answers {
		if a.Text != "" {
			h.t.Fatalf("%s refused: %s", a.Attempt, a.Text)
		}
	}
}

// await returns the first status of a job that is in the state and not suspended.
func (h *host) await(job int, state plan.State) plan.Status {
	h.t.Helper()
	return h.awaitStatus(job, state.String(), func(s plan.Status) bool { return s.State == state && !s.Suspended })
}

func (h *host) awaitSuspended(job int) {
	h.t.Helper()
	h.awaitStatus(job, "suspended", func(s plan.Status) bool { return s.State == plan.Running && s.Suspended })
}

// awaitStatus returns the first status of a job for which ok holds.
func (h *host) awaitStatus(job int, what string, ok func(plan.Status) bool) plan.Status {
	h.t.Helper()
	key := report.Attempt{Job: uint32(job), Task: 1, N: 1}
	for {
		if i := slices.IndexFunc(h.saw[key], ok); i >= 0 {
			return h.saw[key][i]
		}
		select {
		case batch, open := <-h.k.Changes():
			if !open {
				h.t.Fatalf("connection lost while waiting for job %d to be %s", job, what)
			}
			for _, s := range batch {
				h.saw[s.Attempt] = append(h.saw[s.Attempt], s)
			}
		case <-h.ctx.Done():
			h.t.Fatalf("job %d never was %s; saw %v", job, what, h.saw[key])
		}
	}
}

func (h *host) end(job int) plan.End {
	h.t.Helper()
	return *h.await(job, plan.Ended).End
}

// run starts a plan and returns its end.
func (h *host) run(p plan.Plan) plan.End {
	h.t.Helper()
	h.start(p)
	return h.end(int(p.Attempt.Job))
}

// used returns what a job has used so far.
func (h *host) used(job int) grid.Usage {
	h.t.Helper()
	used, err := h.k.Used(h.ctx, report.Attempt{Job: uint32(job), Task: 1, N: 1})
	if err != nil || len(used) != 1 {
		h.t.Fatalf("usage of job %d: %v, %v", job, used, err)
	}
	return used[0].Usage
}

// says waits until a job's output contains the text.
func (h *host) says(job int, text string) {
	h.t.Helper()
	h.until(fmt.Sprintf("job %d says %q", job, text), func() bool {
		b, _ := os.ReadFile(h.out(job))
		return strings.Contains(string(b), text)
	})
}

func (h *host) until(what string, ok func() bool) {
	h.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-h.ctx.Done():
			h.t.Fatalf("waited in vain until %s", what)
		}
	}
}

func alive(pid int) bool {
	s, ok := procfs.ReadStat(pid)
	return ok && s.State != 'Z'
}

func (h *host) pidIn(job int) int {
	h.t.Helper()
	h.says(job, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(h.output(job)))
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

func want[T comparable](t testing.TB, what string, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: got %v, want %v", what, got, wanted)
	}
}

func TestExitStatus(t *testing.T) {
	h := newHost(t)
	e := h.run(h.plan(1, "echo hello; echo oops >&2; exit 3"))
	want(t, "exit status", e.ExitStatus, 3)
	want(t, "failed", e.Failed, report.NoFailure)
	want(t, "step", e.Step, plan.Job)
	want(t, "output, stderr merged", h.output(1), "hello\noops\n")
	if _, err := os.Stat(filepath.Join(h.dir, "spool.1")); !os.IsNotExist(err) {
		t.Errorf("spool directory still there: %v", err)
	}
}

func TestSignalStatus(t *testing.T) {
	h := newHost(t)
	e := h.run(h.plan(1, "kill -9 $$"))
	want(t, "exit status", e.ExitStatus, 137)
	want(t, "signal", e.Signal, uint32(syscall.SIGKILL))
	want(t, "failed", e.Failed, report.FailedAfterJob)
}
