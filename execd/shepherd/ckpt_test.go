package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// note is a command that writes its arguments into a file of the job's directory, then does more.
func (h *host) note(more string, args ...string) []string {
	return append([]string{"/bin/sh", "-c", `echo "$@" >>` + h.notes() + "; " + more, "sh"}, args...)
}

func (h *host) notes() string { return filepath.Join(h.dir, "notes") }

func (h *host) noted() string {
	b, _ := os.ReadFile(h.notes())
	return strings.Join(strings.Fields(string(b)), " ")
}

func TestCheckpointsByTheClock(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, `trap "echo saved" URG; while :; do sleep 0.01; done`) // no harm to a shell that is not so far yet
	p.Ckpt = plan.Ckpt{Every: 30 * time.Millisecond, Make: plan.Method{Signal: int(syscall.SIGURG)}}
	q := h.plan(2, "echo $$; while :; do sleep 0.01; done")
	q.Ckpt = plan.Ckpt{Every: 30 * time.Millisecond, Make: plan.Method{Argv: h.note("", "ckpt", "$job_pid")},
		Clean: h.note("", "clean", "$job_pid")}
	h.start(p, q)
	h.says(1, "saved\nsaved\nsaved")
	pid := fmt.Sprint(h.pidIn(2))
	h.until("it is checkpointed again and again",
		func() bool { return strings.HasPrefix(h.noted(), "ckpt "+pid+" ckpt "+pid) })
	h.signal(report.Terminate, 2)
	want(t, "failed", h.end(2).Failed, report.FailedAfterJob)
	want(t, "cleaned up", strings.HasSuffix(h.noted(), " clean "+pid), true)
}

// A job that is to continue elsewhere is saved, then ended; its checkpoints stay.
func TestMigrate(t *testing.T) {
	h := newHost(t)
	for i, c := range []struct {
		name   string
		ckpt   plan.Ckpt
		notify time.Duration
		output string
		noted  string
	}{
		{"nothing to do but end it", plan.Ckpt{}, 0, "up", ""},
		{"by a signal, with a warning", plan.Ckpt{Migrate: plan.Method{Signal: int(syscall.SIGUSR1)}}, time.Hour,
			"up usr1 usr2", ""},
		{"by a command", plan.Ckpt{Migrate: plan.Method{Argv: h.note("", "migr")}, Clean: h.note("", "clean")},
			0, "up", "migr"},
		{"by a command that ends it",
			plan.Ckpt{Migrate: plan.Method{Argv: h.note("kill -KILL -$2; sleep 5", "migr", "$job_pid")}}, 0, "up", "*"},
		{"by a command whose failure does not matter", plan.Ckpt{Migrate: plan.Method{Argv: h.note("exit 1", "migr")}},
			0, "up", "migr"},
		{"by a command that is not there", plan.Ckpt{Migrate: plan.Method{Argv: []string{"/no/such"}}}, 0, "up", ""},
	} {
		os.Remove(h.notes())
		n := i + 1
		p := h.plan(n,
			`exec 2>/dev/null; trap "echo usr1" USR1; trap "echo usr2; kill -9 $$" USR2; echo up; while :; do sleep 0.01; done`)
		p.Steps = append(p.Steps, script(plan.Epilog, "true"))
		p.Ckpt, p.Notify = c.ckpt, c.notify
		h.start(p)
		h.says(n, "up")
		h.signal(report.Migrate, n)
		e := h.end(n)
		want(t, c.name+": failed", e.Failed, report.FailedMigrated)
		want(t, c.name+": reason", e.Text, "migrating")
		want(t, c.name+": exit status", e.ExitStatus, 137)
		want(t, c.name+": output", strings.Join(strings.Fields(h.output(n)), " "), c.output)
		if c.noted != "*" {
			want(t, c.name+": commands", h.noted(), c.noted)
		}
	}
	h.complained("6.1.1: migr_command /no/such: execvlp(/no/such, \"/no/such\") failed: No such file or directory")
}

// A job that continues after the warning has the time that it promises, and no more.
func TestMigrateAfterTheWarning(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, `trap "" USR2; echo up; while :; do sleep 0.01; done`)
	p.Notify = 200 * time.Millisecond
	h.start(p)
	h.says(1, "up")
	asked := time.Now()
	h.signal(report.Migrate, 1)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedMigrated)
	want(t, "exit status", e.ExitStatus, 137)
	if waited := e.End.Std().Add(time.Millisecond).Sub(asked); waited < p.Notify {
		t.Errorf("killed after %v, notify is %v", waited, p.Notify)
	}
}

// A kernel level checkpoint that could not be made leaves the job where it is; qdel ends it for good.
func TestMigrateFails(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo up; while :; do sleep 0.01; done")
	p.Ckpt = plan.Ckpt{Migrate: plan.Method{Argv: h.note("exit 1", "migr")}, Clean: h.note("", "clean"), Must: true}
	h.start(p)
	h.says(1, "up")
	h.signal(report.Migrate, 1)
	h.until("the command has run", func() bool { return h.noted() == "migr" })
	h.until("it can be tried again", func() bool {
		h.signal(report.Migrate, 1)
		return h.noted() != "migr" // it may have been, more than once
	})
	h.signal(report.Terminate, 1)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedAfterJob)
	want(t, "commands", strings.HasSuffix(h.noted(), "migr clean"), true)
	h.complained("1.1.1: migr_command failed: the job stays")
}

// A job that ends while it is being saved does not wait for the command, whose end changes nothing.
func TestEndWhileMigrating(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo up; while :; do sleep 0.01; done")
	p.Ckpt = plan.Ckpt{Migrate: plan.Method{Argv: h.note("sleep 100", "migr")}, Must: true}
	h.start(p)
	h.says(1, "up")
	h.signal(report.Migrate, 1)
	h.until("the command runs", func() bool { return h.noted() == "migr" })
	h.signal(report.Terminate, 1)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedAfterJob)
}

// complained expects a line in the shepherd's log, and forgets it.
func (h *host) complained(text string) {
	h.t.Helper()
	log := filepath.Join(h.dir, logName)
	b, _ := os.ReadFile(log)
	want(h.t, "complained: "+text, strings.Contains(string(b), text), true)
	os.Truncate(log, 0)
}

// Who migrates before the job has begun has nothing to save.
func TestMigrateBeforeTheJob(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "")
	p.Steps = []plan.Step{script(plan.Prolog, "echo prolog; sleep 100"), script(plan.Job, "echo job"),
		script(plan.Epilog, "echo epilog")}
	p.Ckpt = plan.Ckpt{Migrate: plan.Method{Argv: h.note("", "migr")}, Clean: h.note("", "clean")}
	h.start(p)
	h.says(1, "prolog")
	h.signal(report.Migrate, 1)
	e := h.end(1)
	want(t, "failed", e.Failed, report.FailedMigrated)
	want(t, "output", h.output(1), "prolog\nepilog\n")
	want(t, "commands", h.noted(), "")
}

// PE procedures have output files and variables of their own; what follows the job gets its exit status.
func TestStepsWithOutputOfTheirOwn(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "")
	p.Env = append(p.Env, "WHERE=here")
	own := func(s plan.Step) plan.Step {
		s.Stdout.Path, s.Stderr.Path, s.Env = h.out(2), h.out(3), []string{"WHERE=there"}
		return s
	}
	say := func(what string) string { return "echo " + what + " $WHERE $SGE_JOBEXIT_STAT; echo error >&2" }
	p.Steps = []plan.Step{
		own(script(plan.PEStart, say("start"))), script(plan.Job, say("job")+"; exit 7"),
		own(script(plan.PEStop, say("stop"))), script(plan.Epilog, say("epilog")),
	}
	e := h.run(p)
	want(t, "exit status", e.ExitStatus, 7)
	want(t, "output", h.output(1), "job here\nerror\nepilog here 7\nerror\n")
	want(t, "output of the procedures", h.output(2), "start there\nstop there 7\n")
	want(t, "errors of the procedures", h.output(3), "error\nerror\n")

	p = h.plan(4, "echo job")
	p.Steps = append([]plan.Step{own(script(plan.PEStart, "true"))}, p.Steps...)
	p.Steps[0].Stdout.Path = "/no/such/po"
	e = h.run(p)
	want(t, "failed", e.Failed, report.FailedOutput)
	want(t, "reason", e.Text, `can't open "/no/such/po" as stdout_path: No such file or directory`)
}
