package shepherd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
)

// tree is a made-up hierarchy of control groups: directories with files. The kernel would make the files.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) tree { return tree{t, t.TempDir()} }

// group makes a group with these controllers.
func (g tree) group(name, controllers string) string {
	g.t.Helper()
	dir := filepath.Join(g.root, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.t.Fatal(err)
	}
	g.write(name, "cgroup.controllers", controllers+"\n")
	return dir
}

func (g tree) write(name, file, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.root, name, file), []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// show returns what was written in a group, one file a line.
func (g tree) show(name string) string {
	var b strings.Builder
	entries, _ := os.ReadDir(filepath.Join(g.root, name))
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(g.root, name, e.Name())); err == nil && e.Name() != "cgroup.controllers" {
			b.WriteString(e.Name() + " " + strings.TrimSpace(string(text)) + "\n")
		}
	}
	return b.String()
}

func TestLimitsOfAControlGroup(t *testing.T) {
	g := newTree(t)
	want(t, "error", makeCgroup(&plan.Cgroup{Path: filepath.Join(g.root, "free"), CPUWeight: plan.WeightSlot}), nil)
	want(t, "without limits", g.show("free"), "memory.oom.group 1\n")
	limited := plan.Cgroup{Path: filepath.Join(g.root, "limited"), MemoryHigh: 900, MemoryMax: 1000, PidsMax: 50,
		CPUWeight: 300, IOWeight: 3000}
	want(t, "error", makeCgroup(&limited), nil)
	want(t, "limits", g.show("limited"),
		"cpu.weight 300\nio.bfq.weight 1000\nio.weight 3000\nmemory.high 900\nmemory.max 1000\nmemory.oom.group 1\nmemory.swap.max 0\npids.max 50\n")
	want(t, "error", restrictProcessors(limited.Path, nil), nil)
	want(t, "error", restrictProcessors(limited.Path, []int{0, 2, 5}), nil)
	text, _ := os.ReadFile(filepath.Join(limited.Path, cpus))
	want(t, "processors", string(text), "0,2,5")
	if err := makeCgroup(&limited); !os.IsExist(err) {
		t.Errorf("a second group of that name: %v", err)
	}
	if err := makeCgroup(&plan.Cgroup{Path: filepath.Join(g.root, "no/such")}); !os.IsNotExist(err) {
		t.Errorf("a group in none: %v", err)
	}
}

// The attempts of a parallel job are in one group with the limits of all.
func TestControlGroupOfAParallelJob(t *testing.T) {
	g := newTree(t)
	job := g.group("13.1.1", "cpu io memory pids") // as the kernel makes it: the limits are there already
	task := func(name string) plan.Cgroup {
		return plan.Cgroup{Job: job, Path: filepath.Join(job, name), MemoryMax: 1000, CPUWeight: plan.WeightSlot}
	}
	for _, name := range []string{"master", "task.1.node1"} {
		a := task(name)
		want(t, "error", makeCgroup(&a), nil)
		want(t, "limits of "+name, g.show("13.1.1/"+name), "")
	}
	want(t, "limits of the job", g.show("13.1.1"), "")
	removeCgroup(filepath.Join(job, "master"), job)
	want(t, "group of the job while another attempt runs", exists(job), true)
	os.Remove(filepath.Join(job, "cgroup.controllers"))
	removeCgroup(filepath.Join(job, "task.1.node1"), job)
	want(t, "group of the job after the last", exists(job), false)
}

func TestGroupsThatWereDelegated(t *testing.T) {
	g := newTree(t)
	jobs := g.group("jobs", "cpuset cpu io memory hugetlb pids")
	g.group("jobs/quill-node1", "cpu io memory pids")
	group, err := hostGroup(jobs, "quill-node1")
	want(t, "error", err, nil)
	want(t, "group", group, filepath.Join(jobs, "quill-node1"))
	want(t, "what the group of all jobs shares out", g.show("jobs"),
		"cgroup.subtree_control +memory +pids +cpu +io +cpuset\n")
	want(t, "what the group of the host shares out", g.show("jobs/quill-node1"),
		"cgroup.subtree_control +memory +pids +cpu +io\n")
	for _, c := range []struct{ name, controllers, lacks string }{
		{"unified", "", "memory"}, {"some", "memory cpu", "pids"}, {"noio", "memory pids cpu", ""},
	} {
		dir := g.group(c.name, c.controllers)
		g.group(c.name+"/h", c.controllers)
		_, err := hostGroup(dir, "h")
		switch {
		case c.lacks == "":
			want(t, c.name, err, nil)
		case err == nil || !strings.Contains(err.Error(), `"`+c.lacks+`"`):
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if _, err := hostGroup(filepath.Join(g.root, "none"), "h"); err == nil ||
		!strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("no group: error %v", err)
	}
}
