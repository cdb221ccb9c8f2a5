package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// change asks for other limits of a job and returns why they are refused.
func (h *host) change(job int, c plan.LimitsChange) string {
	h.t.Helper()
	c.Attempt = report.Attempt{Job: uint32(job), Task: 1, N: 1}
	answers, err := h.k.Change(h.ctx, []plan.LimitsChange{c})
	if err != nil || len(answers) != 1 || answers[0].Attempt != c.Attempt || answers[0].Version != c.Limits.Version {
		h.t.Fatalf("change of job %d: %v, %v", job, answers, err)
	}
	return answers[0].Refused
}

// The run time limits of a job that runs are changed both ways.
func TestChangeRunTime(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "sleep 100")
	p.Limits.RT.Hard = 3600
	h.start(p)
	h.await(1, plan.Running)
	h.until("it has run for a second", func() bool {
		used, err := h.k.Used(h.ctx)
		return err == nil && len(used) == 1 && used[0].Usage.WallSeconds >= 1
	})
	want(t, "below the run time", h.change(1, plan.LimitsChange{Limits: plan.Limits{Version: 1, RT: plan.Bound{Hard: 1}}}),
		"")
	e := h.end(1)
	want(t, "limit", e.Limit, "h_rt")
	want(t, "reason", e.Text, "h_rt: 1 s of 1 s")
	want(t, "after the end", h.change(1, plan.LimitsChange{Limits: plan.Limits{Version: 2}}), "the job has ended")
}

func TestChangeRaisesRunTime(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "sleep 2; echo done")
	p.Limits.RT.Hard = 1
	h.start(p)
	h.await(1, plan.Running)
	want(t, "raised", h.change(1, plan.LimitsChange{Limits: plan.Limits{Version: 1, RT: plan.Bound{Hard: 3600}}}), "")
	e := h.end(1)
	want(t, "limit", e.Limit, "")
	want(t, "exit status", e.ExitStatus, 0)
}

// A job that s_rt has warned ends when its time is over, whatever becomes of h_rt, and is not warned again.
func TestChangeAfterWarning(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, `trap "echo warned" USR1; echo ready; while :; do sleep 0.01; done`)
	p.Limits.RT, p.Limits.Grace = plan.Bound{Soft: 1, Hard: 3600}, 2*time.Second
	h.start(p)
	h.says(1, "warned")
	want(t, "changed",
		h.change(1, plan.LimitsChange{Limits: plan.Limits{Version: 1, RT: plan.Bound{Soft: 1, Hard: 7200}}}), "")
	e := h.end(1)
	want(t, "limit", e.Limit, "s_rt")
	want(t, "warnings", strings.Count(h.output(1), "warned"), 1)
}

// Alarms of a run time limit that does not change stay.
func TestAlarmsOfLimits(t *testing.T) {
	a := &attempt{plan: plan.Plan{Limits: plan.Limits{RT: plan.Bound{Soft: 100, Hard: 300}}}}
	var l alarms
	l.addAfter(time.Hour, signalRequest{checkpointNow, ""})
	due := func() (text string) {
		for _, d := range l.due {
			text += fmt.Sprintf("%s %.0f;", d.request.limit, time.Until(d.at).Seconds())
		}
		return text
	}
	a.setAlarms(&l, plan.Bound{}, 0)
	want(t, "at the start", due(), "s_rt 100;h_rt 300; 3600;")
	a.plan.Limits.RT.Hard = 500
	a.setAlarms(&l, plan.Bound{Soft: 100, Hard: 300}, 50*time.Second)
	want(t, "another h_rt", due(), "s_rt 100;h_rt 450; 3600;")
	a.plan.Limits.RT = plan.Bound{Hard: 500}
	a.setAlarms(&l, plan.Bound{Soft: 100, Hard: 500}, 60*time.Second)
	want(t, "no s_rt", due(), "h_rt 450; 3600;")
}

// All processes have the new limit of processor time, and a version is carried out once.
func TestChangeRlimits(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "sleep 100 & echo $!; wait")
	p.Limits.CPU.Hard, p.Limits.Rlimits = 1000, []plan.Rlimit{{Resource: plan.CPU, Soft: 1000, Hard: 1000}}
	h.start(p)
	child := h.pidIn(1)
	cpu := func() uint64 {
		var l unix.Rlimit
		if err := unix.Prlimit(child, unix.RLIMIT_CPU, nil, &l); err != nil {
			t.Fatal(err)
		}
		return l.Max
	}
	want(t, "limit", cpu(), 1000)
	lower := plan.Limits{Version: 1, CPU: plan.Bound{Hard: 500},
		Rlimits: []plan.Rlimit{{Resource: plan.CPU, Soft: 500, Hard: 500}}}
	want(t, "lowered", h.change(1, plan.LimitsChange{Limits: lower}), "")
	want(t, "limit", cpu(), 500)
	lower.Rlimits[0].Hard = 400
	want(t, "the same version", h.change(1, plan.LimitsChange{Limits: lower}), "")
	want(t, "limit", cpu(), 500)
	higher := plan.Limits{Version: 2, CPU: plan.Bound{Hard: 900},
		Rlimits: []plan.Rlimit{{Resource: plan.CPU, Soft: 900, Hard: 900}}}
	refused := h.change(1, plan.LimitsChange{Limits: higher})
	version := uint32(2)
	// it takes CAP_SYS_RESOURCE, which root of a container need not have
	if strings.Contains(refused, "operation not permitted") {
		version = 1
		want(t, "limit", cpu(), 500)
	} else {
		want(t, "raised", refused, "")
		want(t, "limit", cpu(), 900)
	}
	list, err := h.k.List(h.ctx)
	if err != nil || len(list) != 1 || list[0].Limits != version {
		t.Errorf("listed as %+v, %v", list, err)
	}
	h.signal(report.Terminate, 1)
	h.end(1)
}

// The files of a control group are written whole or not at all; less than is in use is refused.
func TestChangeGroup(t *testing.T) {
	g := newTree(t)
	dir := g.group("job", "memory pids cpu io")
	g.write("job", "memory.current", "5000")
	g.write("job", "memory.stat", "inactive_file 1000\n")
	g.write("job", "pids.current", "7")
	a := &attempt{plan: plan.Plan{Cgroup: plan.Cgroup{Path: dir, MemoryMax: 9000, PidsMax: 20}}}
	for _, c := range []struct {
		cgroup plan.Cgroup
		want   string
	}{
		{plan.Cgroup{MemoryMax: 3999, PidsMax: 20}, "it uses 3.91K of memory"},
		{plan.Cgroup{MemoryMax: 4000, PidsMax: 20}, ""},
		{plan.Cgroup{MemoryHigh: 100, MemoryMax: 9000, PidsMax: 20}, "it uses 3.91K of memory"},
		{plan.Cgroup{MemoryMax: 9000, PidsMax: 6}, "it uses 7 processes and threads"},
		{plan.Cgroup{MemoryMax: 9000, PidsMax: 7}, ""},
		{plan.Cgroup{}, ""},
	} {
		want(t, "refused",
			a.usageAbove(&plan.LimitsChange{MemoryHigh: c.cgroup.MemoryHigh, MemoryMax: c.cgroup.MemoryMax,
				PidsMax: c.cgroup.PidsMax}), c.want)
	}
	want(t, "error", a.setGroupLimits(&plan.Cgroup{MemoryMax: 6000}), nil)
	want(t, "files", g.show("job"),
		"memory.current 5000\nmemory.high max\nmemory.max 6000\nmemory.stat inactive_file 1000\nmemory.swap.max 0\npids.current 7\npids.max max\n")
	want(t, "limits", a.plan.Cgroup, plan.Cgroup{Path: dir, MemoryMax: 6000})
	if err := os.Remove(filepath.Join(dir, "pids.max")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "pids.max"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := a.setGroupLimits(&plan.Cgroup{MemoryMax: 7000, PidsMax: 3}); err == nil {
		t.Error("a file that cannot be written is no error")
	}
	want(t, "limits", a.plan.Cgroup, plan.Cgroup{Path: dir, MemoryMax: 6000})
	if b, _ := os.ReadFile(filepath.Join(dir, "memory.max")); string(b) != "6000" {
		t.Errorf("memory.max is %s", b)
	}
}
