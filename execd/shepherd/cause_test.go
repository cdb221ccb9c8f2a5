package shepherd

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

const killed, tooLarge = 128 + int(syscall.SIGKILL), 128 + int(syscall.SIGXFSZ)

// The reason of a failure is what the kernel counted for the control group, or what the shepherd did; else there is
// none.
func TestCauseOfAnEnd(t *testing.T) {
	const none = "oom 0\noom_kill 0\n"
	for _, c := range []struct {
		name         string
		group        plan.Cgroup
		memory, pids string // events
		peak         string
		status       int
		killed       bool // by request
		parallel     bool // the events are those of the job's group
		want         string
	}{
		{name: "limit of memory", group: plan.Cgroup{MemoryMax: 4 << 30}, memory: "oom 1\noom_kill 3\n", peak: "4294967296",
			status: killed, want: "out of memory: 4.00G of 4.00G on node1"},
		{name: "an older kernel", group: plan.Cgroup{MemoryMax: 64 << 20}, memory: "oom 1\noom_kill 3\n", status: killed,
			want: "out of memory: 64.00M of 64.00M on node1"},
		{name: "limit of a parallel job", group: plan.Cgroup{MemoryMax: 4 << 30}, memory: "oom 1\noom_kill 3\n",
			peak: "4294967296", status: killed, parallel: true, want: "out of memory: 4.00G of 4.00G on node1"},
		{name: "another job's memory", group: plan.Cgroup{MemoryMax: 4 << 30}, memory: "oom 0\noom_kill 3\n",
			peak: "1073741824", status: killed,
			want: "out of memory on node1: all jobs together have no more, this one had 1.00G"},
		{name: "no limit", memory: "oom 0\noom_kill 1\n", peak: "1023", status: killed,
			want: "out of memory on node1: all jobs together have no more, this one had 1023"},
		{name: "killed by itself", group: plan.Cgroup{MemoryMax: 4 << 30}, memory: none, status: killed},
		{name: "a memory event and another end", group: plan.Cgroup{MemoryMax: 4 << 30},
			memory: "oom 1\noom_kill 1\n", status: 1},
		{name: "qdel", group: plan.Cgroup{MemoryMax: 4 << 30}, memory: "oom 1\noom_kill 3\n", status: killed, killed: true},
		{name: "limit of processes", group: plan.Cgroup{PidsMax: 100}, pids: "max 7\n", status: 254,
			want: "process limit: 100 of 100 on node1"},
		{name: "limit of processes of a parallel job", group: plan.Cgroup{PidsMax: 100}, pids: "max 7\n", status: 254,
			parallel: true, want: "process limit: 100 of 100 on node1"},
		{name: "a job that lived with it", group: plan.Cgroup{PidsMax: 100}, pids: "max 7\n", status: 0},
		{name: "a job that begins again", group: plan.Cgroup{PidsMax: 100}, pids: "max 7\n", status: report.ExitRestart},
		{name: "a job in error", group: plan.Cgroup{PidsMax: 100}, pids: "max 7\n", status: report.ExitError},
		{name: "another group's limit", pids: "max 7\n", status: 254},
		{name: "limit not reached", group: plan.Cgroup{PidsMax: 100}, pids: "max 0\n", status: 254},
		{name: "limit of files", status: tooLarge, want: "file size limit (h_fsize): 1.00K"},
	} {
		g := newTree(t)
		job := g.group("job", "")
		c.group.Path = g.group("job/task", "")
		if c.parallel {
			c.group.Job = job
		}
		for _, name := range []string{"job", "job/task"} {
			g.write(name, "memory.peak", c.peak)
			memory, pids := c.memory, c.pids
			if c.parallel && name != "job" { // the limit was not its own
				memory, pids = "oom 0\noom_kill 1\n", "max 0\n"
			}
			g.write(name, "memory.events", memory)
			g.write(name, "pids.events", pids)
		}
		a := &attempt{killed: c.killed, plan: plan.Plan{Host: "node1", Cgroup: c.group}}
		a.limits.Rlimits = []plan.Rlimit{{Resource: plan.FSize, Soft: 1024, Hard: 1024}}
		got := ""
		if failed := a.failureOfJob(c.status); failed != nil {
			got = failed.reason
			want(t, c.name, failed.code, report.FailedAfterJob)
		}
		want(t, c.name, got, c.want)
		a.cgroup = -1
		if failed := a.failureOfJob(c.status); failed != nil && c.status != tooLarge {
			t.Errorf("%s, without control group: %s", c.name, failed.reason)
		}
	}
}

func TestCauseByTheShepherd(t *testing.T) {
	a := &attempt{cgroup: -1, plan: plan.Plan{Host: "node1"}}
	a.limits = plan.Limits{RT: plan.Bound{Soft: 50, Hard: 60}, CPU: plan.Bound{Hard: 10}, VMem: plan.Bound{Hard: 1 << 30}}
	now := time.Now()
	a.used.began, a.used.ended = now, now.Add(60*time.Second+3*time.Millisecond)
	a.used.seen = attemptUsage{userTime: 9 * time.Second, sysTime: 1100 * time.Millisecond}
	for limit, text := range map[string]string{
		"s_rt": "s_rt: 60 s of 50 s", "h_rt": "h_rt: 60 s of 60 s", "h_cpu": "h_cpu: 10 s of 10 s",
		"h_vmem": "h_vmem: 0 of 1.00G on node1",
	} {
		a.end.Limit, a.killed = "", true
		a.setLimit(limit)
		failed := a.failureOfJob(killed)
		want(t, limit, failed.code, report.FailedLimit)
		want(t, limit, failed.reason, text)
		a.setLimit("h_rt")
		want(t, "the first limit", a.failureOfJob(killed).reason, text)
	}
}

// The system kills a process at its limit of CPU time by a count of its own, in ticks of the clock; usage is exact. A
// process that others wake up beside may end at three quarters of its limit.
func TestCauseIsTheSystemsCPULimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		used   time.Duration
		killed bool // by request
		oom    bool
		want   string
	}{
		{name: "limit", used: 4010 * time.Millisecond, want: "h_cpu: 4 s of 4 s"},
		{name: "the system counted more", used: 2960 * time.Millisecond, want: "h_cpu: 3 s of 4 s"},
		{name: "killed by somebody", used: 1900 * time.Millisecond},
		{name: "qdel", used: 3900 * time.Millisecond, killed: true},
		{name: "out of memory", used: 3 * time.Second, oom: true,
			want: "out of memory on node1: all jobs together have no more, this one had 1023"},
	} {
		a := &attempt{cgroup: -1, killed: c.killed, plan: plan.Plan{Host: "node1"}}
		a.limits.CPU.Hard = 4
		a.used.seen.userTime = c.used
		if c.oom {
			g := newTree(t)
			a.cgroup, a.plan.Cgroup.Path = 0, g.group("job", "")
			g.write("job", "memory.peak", "1023")
			g.write("job", "memory.events", "oom 0\noom_kill 1\n")
		}
		got := ""
		if failed := a.failureOfJob(killed); failed != nil {
			got = failed.reason
			want(t, c.name, failed.code == report.FailedLimit, !c.oom)
		}
		want(t, c.name, got, c.want)
		want(t, c.name+": limit", a.end.Limit == "h_cpu", c.want != "" && !c.oom)
	}
}

func TestUsageOfAControlGroup(t *testing.T) {
	g := newTree(t)
	dir := g.group("job", "")
	g.write("job", "cpu.stat", "usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\nnr_periods 0\n")
	g.write("job", "memory.current", "10000\n")
	g.write("job", "memory.peak", "12000\n")
	g.write("job", "memory.stat", "anon 5000\nfile 4000\ninactive_file 1000\nactive_file 2000\nslab_reclaimable 500\n")
	g.write("job", "io.stat",
		"8:0 rbytes=100 wbytes=20 rios=3 wios=1 dbytes=9 dios=1\n8:16 rbytes=1 wbytes=2 rios=1 wios=1\n")
	want(t, "usage", procfs.ReadGroupUsage(dir), procfs.GroupUsage{User: 3 * time.Second, Sys: 500 * time.Millisecond,
		Memory: 6500, Cache: 3500, Peak: 12000, IO: 123})
	want(t, "usage of no group", procfs.ReadGroupUsage(filepath.Join(dir, "no")), procfs.GroupUsage{})

	m := meter{before: procfs.GroupUsage{User: time.Second, IO: 23}}
	m.addGroupUsage(procfs.ReadGroupUsage(dir))
	want(t, "user time of the job", m.totalUsage().userTime, 2*time.Second)
	want(t, "system time of the job", m.totalUsage().sysTime, 500*time.Millisecond)
	want(t, "io of the job", m.totalUsage().io, float64(100)/gigabyte)
}

// The most memory that a job had is the kernel's peak without the cache, where the job itself made the peak and its
// cache was seen.
func TestPeakOfAControlGroup(t *testing.T) {
	of := func(peak, cache uint64) procfs.GroupUsage { return procfs.GroupUsage{Peak: peak, Cache: cache} }
	for _, c := range []struct {
		name    string
		before  procfs.GroupUsage
		sampled bool
		seen    []procfs.GroupUsage
		want    uint64
	}{
		{"sampled", procfs.GroupUsage{}, true, []procfs.GroupUsage{of(9000, 1000), of(9000, 400)}, 8000},
		{"more later", procfs.GroupUsage{}, true, []procfs.GroupUsage{of(5000, 3000), of(9000, 1000)}, 6000},
		{"never sampled", procfs.GroupUsage{}, false, []procfs.GroupUsage{of(9000, 0)}, 0},
		{"of the prolog", of(9000, 0), true, []procfs.GroupUsage{of(9000, 0)}, 0},
		{"only cache", procfs.GroupUsage{}, true, []procfs.GroupUsage{of(9000, 9000)}, 0},
		{"not counted by the kernel", procfs.GroupUsage{}, true, []procfs.GroupUsage{of(0, 100)}, 0},
	} {
		m := meter{before: c.before, sampled: c.sampled}
		for _, g := range c.seen {
			m.addGroupUsage(g)
		}
		want(t, c.name, m.totalUsage().maxRSS, c.want)
	}
}

func TestFreeze(t *testing.T) {
	g := newTree(t)
	a := &attempt{plan: plan.Plan{Cgroup: plan.Cgroup{Path: g.group("job", "")}}}
	want(t, "frozen", a.freezeGroup(), true)
	want(t, "file", g.show("job"), "cgroup.freeze 1\n")
	want(t, "thawed", a.thawGroup(), true)
	want(t, "file", g.show("job"), "cgroup.freeze 0\n")
	want(t, "thawed again", a.thawGroup(), false)
	a.cgroup = -1
	want(t, "frozen without a group", a.freezeGroup(), false)
}
