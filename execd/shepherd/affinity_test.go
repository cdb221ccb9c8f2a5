package shepherd

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// allowed is where this process may run, as /proc shows it, and the first such processor.
func allowed(t *testing.T) (list string, first int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	list, _, _ = strings.Cut(rest, "\n")
	list = strings.TrimSpace(list)
	if _, err := fmt.Sscan(strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '-' })[0],
		&first); err != nil {
		t.Fatal(err)
	}
	return list, first
}

// Every step of an attempt with an Affinity runs on its processors, also under a umask and limits of its own; the
// shepherd and other attempts run where they may.
func TestAffinity(t *testing.T) {
	h := newHost(t)
	all, first := allowed(t)
	tell := "grep Cpus_allowed_list /proc/self/status"
	bound := h.plan(1, tell)
	bound.Steps = []plan.Step{
		{Name: plan.Prolog, Argv: []string{"/bin/sh", "-c", tell}}, {Name: plan.Job, Argv: []string{"/bin/sh", "-c", tell}},
		{Name: plan.Epilog, Argv: []string{"/bin/sh", "-c", tell}},
	}
	bound.Affinity, bound.Binding, bound.Umask = []int{first}, "ScC", 0o77
	bound.Limits.Rlimits = []plan.Rlimit{{Resource: plan.Core, Soft: 0, Hard: 0}}
	h.run(bound)
	h.run(h.plan(2, tell))
	line := func(list string) string { return "Cpus_allowed_list:\t" + list + "\n" }
	want(t, "bound", h.output(1), strings.Repeat(line(fmt.Sprint(first)), 3))
	want(t, "unbound", h.output(2), line(all))

	// What cannot be bound runs nevertheless.
	nowhere := h.plan(3, tell)
	nowhere.Affinity = []int{1023}
	want(t, "exit status", h.run(nowhere).ExitStatus, 0)
	h.complained("3.1.1: not bound to processors [1023]: invalid argument")
}

// The Binding of an attempt is listed for each client that connects.
func TestBindingIsReported(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "sleep 100")
	p.Binding = "ScC"
	h.start(p)
	h.await(1, plan.Running)
	h.k.Close()
	h.connect(false)
	list, err := h.k.List(h.ctx)
	if err != nil || len(list) != 1 || list[0].Binding != "ScC" {
		t.Errorf("list %+v, %v", list, err)
	}
}

// What an attempt has done to its job runs on the job's processors as well.
func TestMethodsAreBound(t *testing.T) {
	h := newHost(t)
	_, first := allowed(t)
	tell := func(what, more string) []string {
		return h.note("grep Cpus_allowed_list /proc/self/status >>"+h.notes()+"; "+more, what)
	}
	p := h.plan(1, "echo up; exec sleep 100")
	p.Affinity = []int{first}
	p.Suspend.Argv, p.Resume.Argv = tell("suspend", ""), tell("resume", "")
	p.Terminate.Argv = tell("terminate", "kill -KILL $job_pid")
	p.Ckpt.Clean = tell("clean", "")
	h.start(p)
	h.says(1, "up")
	noted := ""
	does := func(s report.SignalKind, what string) {
		h.signal(s, 1)
		noted = strings.TrimSpace(fmt.Sprintf("%s %s Cpus_allowed_list: %d", noted, what, first))
		h.until(what, func() bool { return strings.Count(h.noted(), ":") >= strings.Count(noted, ":") })
	}
	does(report.Suspend, "suspend")
	does(report.Resume, "resume")
	does(report.Terminate, "terminate")
	h.end(1)
	want(t, "noted", h.noted(), fmt.Sprintf("%s clean Cpus_allowed_list: %d", noted, first))
}
