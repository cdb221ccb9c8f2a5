package cluster_test

import (
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/qstat/cluster"
	"github.com/quill-grid/quill/tools/qstat/clustertest"
)

// small is the small cell with changes.
func small(more ...grid.Object) *cluster.Cluster {
	c := new(cluster.Cluster)
	for _, o := range append(slices.Clone(clustertest.Small()), more...) {
		c.Add(o)
	}
	return c
}

func instance(t *testing.T, c *cluster.Cluster, name string) *cluster.Instance {
	t.Helper()
	for _, i := range c.Instances() {
		if i.Name() == name {
			return i
		}
	}
	t.Fatalf("no instance %s", name)
	return nil
}

// TestConsumablesByLevel: what tasks hold is missing at every level that they
// touch, and the scarcest level decides.
func TestConsumablesByLevel(t *testing.T) {
	c := small(
		&grid.Centry{Name: "disk", Shortcut: "disk", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "1G"},
		&grid.Centry{Name: "token", Shortcut: "tok", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "JOB", Default: "0"},
		&grid.ExecHost{Name: "global", ComplexValues: grid.Values{{Name: "token", Text: "10"}, {Name: "disk", Text: "100G"}}},
		&grid.ExecHost{Name: "node1", ComplexValues: grid.Values{{Name: "disk", Text: "8G"}}})
	job := &grid.Job{ID: 1, JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "token", Value: "3", Num: 3}}}}
	c.Debit(job, &grid.JATask{Job: 1, ID: 1, Status: grid.Running,
		Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 2}, {Queue: "all.q", Host: "node2", Slots: 2}}})
	c.Debit(job, &grid.JATask{Job: 1, ID: 2, Status: grid.Idle, Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 9}}})
	for _, want := range []struct{ instance, resource, level, text string }{
		{"all.q@node1", "disk", "hc", "6.000G"}, // 2 slots at the default of 1G
		{"all.q@node2", "disk", "gc", "96.000G"},
		{"all.q@node3", "disk", "gc", "96.000G"},
		{"all.q@node1", "token", "gc", "7"}, // once for the job
		{"all.q@node1", "slots", "qc", "2"},
		{"all.q@node2", "slots", "qc", "0"},
	} {
		r, ok := instance(t, c, want.instance).Resource(want.resource)
		if !ok || r.Dominance() != want.level || r.Text() != want.text {
			t.Errorf("%s at %s: %s:%s, want %s:%s", want.resource, want.instance, r.Dominance(), r.Text(), want.level, want.text)
		}
	}
	if used := instance(t, c, "all.q@node2").Used; used != 2 {
		t.Errorf("%d slots used at node2, want 2", used)
	}
}

// TestConsumableByShortcut: the administrator and the user may have called the
// attribute by its other name.
func TestConsumableByShortcut(t *testing.T) {
	c := small(
		&grid.Centry{Name: "licence", Shortcut: "lic", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "0"},
		&grid.ExecHost{Name: "global", ComplexValues: grid.Values{{Name: "lic", Text: "2"}}})
	job := &grid.Job{ID: 1, JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "lic", Value: "1", Num: 1}}}}
	c.Debit(job, &grid.JATask{Job: 1, ID: 1, Status: grid.Running, Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}})
	r, ok := instance(t, c, "all.q@node1").Resource("licence")
	if !ok || r.Dominance() != "gc" || r.Text() != "1" {
		t.Errorf("%s:%s, want gc:1", r.Dominance(), r.Text())
	}
}

// TestAlarm: thresholds are compared by the attribute's relational operator;
// a value nobody reports is an alarm.
func TestAlarm(t *testing.T) {
	for _, want := range []struct{ threshold, text, letters string }{
		{"load_avg", "0.11", ""}, {"load_avg", "0.1", "a"},
		{"np_load_avg", "0.05", ""}, {"np_load_avg", "0.025", "a"},
		{"mem_free", "5G", ""}, {"mem_free", "7G", "a"},
		{"swap_rsvd", "1G", "a"},
	} {
		c := small()
		i := instance(t, c, "all.q@node1")
		i.CQueue.LoadThresholds = grid.PerHost[grid.Values]{Value: grid.Values{{Name: want.threshold, Text: want.text}}}
		if got := i.States().Letters(); got != want.letters {
			t.Errorf("%s=%s: state %q, want %q", want.threshold, want.text, got, want.letters)
		}
	}
	silent := small(&grid.Load{Host: "node2", Unheard: true})
	if got := instance(t, silent, "all.q@node2").States().Letters(); got != "au" {
		t.Errorf("a silent host's queue is %q, want au", got)
	}
}

func TestQueuePatterns(t *testing.T) {
	c := small(&grid.HGroup{Name: "@some", HostList: grid.Names{"node2", "@more"}}, &grid.HGroup{Name: "@more", HostList: grid.Names{"node3", "@some"}})
	for _, want := range []struct {
		pattern string
		names   []string
	}{
		{"all.q", []string{"all.q@node1", "all.q@node2", "all.q@node3"}},
		{"a*@node[12]", []string{"all.q@node1", "all.q@node2"}},
		{"*@@some", []string{"all.q@node2", "all.q@node3"}},
		{"@node3", []string{"all.q@node3"}},
		{"all", nil}, {"*@@none", nil}, {"[", nil},
	} {
		var names []string
		for _, i := range c.Instances() {
			if i.Matches(want.pattern) {
				names = append(names, i.Name())
			}
		}
		if !slices.Equal(names, want.names) {
			t.Errorf("%s: %v, want %v", want.pattern, names, want.names)
		}
	}
}

// TestAccess is -U: by the queue's user lists.
func TestAccess(t *testing.T) {
	c := small(&grid.Userset{Name: "staff", Entries: grid.Names{"alice", "@guests"}}, &grid.Userset{Name: "barred", Entries: grid.Names{"bob"}})
	q := instance(t, c, "all.q@node1").CQueue
	q.UserLists = grid.PerHost[grid.Names]{At: []grid.At[grid.Names]{{Target: "node1", Value: grid.Names{"staff"}}}}
	q.XUserLists = grid.PerHost[grid.Names]{At: []grid.At[grid.Names]{{Target: "node2", Value: grid.Names{"barred"}}}}
	for _, want := range []struct {
		user string
		n    int
	}{{"alice", 3}, {"bob", 1}, {"carol", 2}, {"@guests", 3}} {
		list, err := c.Select(cluster.Selection{Users: grid.Names{want.user}})
		if err != nil || len(list) != want.n {
			t.Errorf("%s: %d instances (%v), want %d", want.user, len(list), err, want.n)
		}
	}
}

func TestMemory(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0.000", 1023: "1023.000", 1024: "1.000K", 3420160: "3.262M", 6 << 30: "6.000G", 1 << 50: "1024.000T"} {
		if got := cluster.Memory(bytes, 3); got != want {
			t.Errorf("%v bytes: %s, want %s", bytes, got, want)
		}
	}
}

// TestReserved: running advance reservations are shown beside the slots used.
func TestReserved(t *testing.T) {
	grants := []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 2}, {Queue: "all.q", Host: "node2", Slots: 1}}
	c := small(&grid.AR{ID: 1, State: grid.ARRunning, Grants: grants}, &grid.AR{ID: 2, State: grid.ARError, Grants: grants[:1]},
		&grid.AR{ID: 3, State: grid.ARWaiting, Grants: grants})
	for name, want := range map[string]uint32{"all.q@node1": 4, "all.q@node2": 1, "all.q@node3": 0} {
		if got := instance(t, c, name).Reserved; got != want {
			t.Errorf("%d slots reserved at %s, want %d", got, name, want)
		}
	}
}

// TestExpressions: -l of texts are expressions of sge_types(1).
func TestExpressions(t *testing.T) {
	c := small(&grid.Load{Host: "node1", Processors: 4, Values: grid.Values{{Name: "arch", Text: "lx-amd64"}}})
	for request, want := range map[string]bool{"lx-*": true, "sol-*|lx-amd64": true, "!lx-*": false, "lx-*&!*-amd64": false, "(sol|lx)-amd64": false} {
		if got := instance(t, c, "all.q@node1").Satisfies(grid.Requests{{Name: "arch", Value: request}}); got != want {
			t.Errorf("arch=%s: %v, want %v", request, got, want)
		}
	}
}

// TestLoadScaling: jobs see a host's load scaled, qhost shows it as reported.
func TestLoadScaling(t *testing.T) {
	c := small(&grid.ExecHost{Name: "node2", LoadScaling: grid.Values{
		{Name: "load_avg", Text: "100"}, {Name: "np_load_avg", Text: "40"}, {Name: "mem_free", Text: "2"}}})
	i := instance(t, c, "all.q@node2")
	for _, want := range []struct{ resource, text string }{
		{"load_avg", "10.000000"}, {"np_load_avg", "2.000000"}, {"load_short", "0.100000"}, {"mem_free", "12.000G"},
	} {
		if r, ok := i.Resource(want.resource); !ok || r.Text() != want.text {
			t.Errorf("%s is %s, want %s", want.resource, r.Text(), want.text)
		}
	}
	if v, _ := i.Load("load_avg"); v != 10 {
		t.Errorf("load %v, want 10", v)
	}
	if i.States()&grid.QueueAlarm == 0 {
		t.Error("no alarm at np_load_avg=2")
	}
	if reported, _ := c.Load("node2", "load_avg"); reported != "0.10" {
		t.Errorf("reported load %s, want 0.10", reported)
	}
	for _, r := range c.HostResources("node2") {
		if r.Centry.Name == "mem_free" && r.Text() != "6.000G" {
			t.Errorf("mem_free of the host is %s, want 6.000G", r.Text())
		}
	}
}
