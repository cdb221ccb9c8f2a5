package core

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// checkSettings holds the law that settings say what the configuration says now,
// and reads those of every host and queue, to be held against the next change.
func (h *harness) checkSettings() {
	c := h.core
	are, read := *c.cell.Settings(), *c.cell.NewSettings()
	for host, s := range are.Hosts {
		fresh := c.cell.NewHostSettings(host)
		for q := range s.Queues {
			fresh.Queues[q] = c.cell.Resolved(c.state.CQueue(q), host)
		}
		read.Hosts[host] = fresh
	}
	are.Admit, read.Admit = nil, nil
	if !reflect.DeepEqual(are, read) {
		h.t.Fatalf("the settings are of an older configuration:\n%+v\nnot\n%+v", are, read)
	}
	for _, host := range c.state.ExecHosts() {
		for _, q := range c.cell.All(grid.KindCQueue) {
			c.cell.QueueFor(q.(*grid.CQueue), host.Name, nil)
		}
	}
}

// TestSettingsFollow changes at random what settings are read from.
func TestSettingsFollow(t *testing.T) {
	hosts := []string{"h1", "h2", "h3", "h1 h2", "h2 h3", "NONE"}
	changes := []struct {
		kind            grid.Kind
		name, attribute string
		texts           []string
	}{
		{grid.KindSchedConf, "", "halftime", []string{"0", "1", "168"}},
		{grid.KindSchedConf, "", "algorithm", []string{"default", "test"}},
		{grid.KindUserset, "physics", "entries", []string{"alice", "bob", "alice,bob"}},
		{grid.KindUserset, "physics", "type", []string{"ACL", "DEPT", "ACL DEPT"}},
		{grid.KindExecHost, "h1", "usage_scaling", []string{"NONE", "cpu=2", "cpu=0.5,mem=3"}},
		{grid.KindExecHost, "h3", "usage_scaling", []string{"NONE", "io=2"}},
		{grid.KindExecHost, "h1", "complex_values", []string{"NONE", "h_pids=100"}},
		{grid.KindCQueue, "all.q", "complex_values", []string{"NONE", "h_pids=50,[@slow=h_pids=20]"}},
		{grid.KindHGroup, "@slow", "hostlist", hosts},
		{grid.KindHGroup, "@all", "hostlist", append(hosts, "@slow", "@slow h1")},
		{grid.KindCQueue, "all.q", "h_rt", []string{"INFINITY", "60", "INFINITY,[h1=10]", "70,[@slow=20]", "5,[@all=9]"}},
		{grid.KindCQueue, "all.q", "s_vmem", []string{"INFINITY", "1G,[@slow=2G]"}},
		{grid.KindCQueue, "all.q", "shell", []string{"/bin/sh", "/bin/csh,[@all=/bin/ksh]"}},
		{grid.KindCQueue, "b.q", "prolog", []string{"NONE", "/bin/true"}},
	}
	parameters := []struct {
		name  string
		texts []string
	}{
		{"max_u_jobs", []string{"0", "7"}}, {"max_aj_tasks", []string{"75000", "3"}},
		{"enforce_user", []string{"auto", "true", "false"}},
		{"user_lists", []string{"NONE", "physics"}}, {"reschedule_unknown", []string{"0:0:0", "0:1:0"}},
		{"max_unheard", []string{"0:5:0", "0:1:0"}},
		{"execd_params", []string{"NONE", "ACCT_RESERVED_USAGE=true", "SHARETREE_RESERVED_USAGE=1"}},
	}
	fresh := map[grid.Kind]func(name string) grid.Object{
		grid.KindUserset:  func(n string) grid.Object { return &grid.Userset{Name: n, Type: "ACL"} },
		grid.KindExecHost: func(n string) grid.Object { return &grid.ExecHost{Name: n} },
		grid.KindHGroup:   func(n string) grid.Object { return &grid.HGroup{Name: n} },
		grid.KindCQueue: func(n string) grid.Object {
			q := grid.DefaultCQueue(n)
			q.PEList.Value = nil
			return q
		},
	}
	testkit.EachSeed(t, 20, func(t *testing.T, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 2))
		one := func(of []string) string { return of[dice.IntN(len(of))] }
		h := &harness{t: t, now: 1_700_000_000_000}
		h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1", "h2"}}}})
		done := map[grid.Kind]int{}
		ask := func(k grid.Kind, b gdi.Body) {
			before := h.core.state.Seq
			h.step(UserRequest{Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "qconf", Body: b}})
			done[k] += int(h.core.state.Seq - before)
			h.checkSettings()
		}
		for range 200 {
			if dice.IntN(4) == 0 { // the configuration, all hosts' or one's
				host, p := one([]string{grid.GlobalConf, "h1"}), parameters[dice.IntN(len(parameters))]
				key, is := grid.Key{Name: host}, grid.Conf{Host: host}
				old := h.core.state.Conf(host)
				if old != nil {
					is = *old
				}
				is.Entries, is.Version = is.Entries.With(p.name, one(p.texts)), 0
				switch {
				case old == nil:
					ask(grid.KindConf, &gdi.Add{Objects: []grid.Object{&is}})
				case dice.IntN(5) == 0:
					ask(grid.KindConf, &gdi.Delete{Kind: grid.KindConf, Keys: []grid.Key{key}})
				default:
					ask(grid.KindConf, &gdi.Modify{Objects: []grid.Object{&is}})
				}
				continue
			}
			x := changes[dice.IntN(len(changes))]
			key := grid.Key{Name: x.name}
			if x.kind == grid.KindSchedConf {
				key = h.core.state.SchedConf().Key()
			}
			old := h.core.state.Get(x.kind, key)
			switch {
			case old == nil && x.kind == grid.KindExecHost && dice.IntN(2) == 0: // its execution daemon comes
				h.step(Report{Report: report.Report{Host: x.name, Hello: true}})
				h.checkSettings()
			case old == nil:
				ask(x.kind, &gdi.Add{Objects: []grid.Object{fresh[x.kind](x.name)}})
			case dice.IntN(5) == 0:
				ask(x.kind, &gdi.Delete{Kind: x.kind, Keys: []grid.Key{key}})
			default:
				o, err := conf.Set(old, x.attribute, one(x.texts))
				if err != nil {
					t.Fatal(x.attribute, err)
				}
				ask(x.kind, &gdi.Modify{Objects: []grid.Object{o}})
			}
		}
		for _, k := range []grid.Kind{grid.KindConf, grid.KindSchedConf, grid.KindUserset, grid.KindExecHost, grid.KindHGroup,
			grid.KindCQueue} {
			if done[k] < 3 {
				t.Errorf("%s was changed %d times", grid.SpecOf(k).Name, done[k])
			}
		}
		h.checkReplay()
	})
}
