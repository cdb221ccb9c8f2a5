package ticket_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// newPolicyBed is a cell in which every policy is on: 200 users and 50 projects in
// every combination, with functional shares, override tickets and a share tree;
// `running` of the jobs run, on hosts of 16 slots.
func newPolicyBed(b testing.TB, hosts, running, pending int) *bed {
	conf := grid.DefaultSchedConf()
	conf.WeightTicketsShare, conf.WeightTicketsFunctional, conf.WeightWaitingTime = 10_000, 10_000, 0.1
	conf.JobLoadAdjustments = nil
	a, err := ticket.Entry.New(*conf)
	if err != nil {
		b.Fatal(err)
	}
	t := &bed{a: a, now: 1_700_000_000_000}
	var es []events.Event
	tell := func(o grid.Object) { es = append(es, events.Listed(o)) }
	tell(conf)
	for _, c := range grid.DefaultCentries() {
		tell(c)
	}
	r := rand.New(rand.NewPCG(1, 1))
	tree := &grid.ShareTree{Nodes: []grid.ShareNode{{ID: 0, Name: "Root", Shares: 1}}}
	for i := range uint32(50) {
		name := fmt.Sprintf("project%d", i)
		tell(&grid.Project{Name: name, FShare: 10 + i})
		tell(&grid.Booking{Project: name, At: t.now, Decayed: grid.Amounts{float64(r.IntN(1e7))}})
		tree.Nodes[0].Children = append(tree.Nodes[0].Children, i+1)
		tree.Nodes = append(tree.Nodes, grid.ShareNode{ID: i + 1, Type: 1, Name: name, Shares: 10 + i,
			Children: []uint32{51 + i}})
	}
	for i := range uint32(50) {
		tree.Nodes = append(tree.Nodes, grid.ShareNode{ID: 51 + i, Name: "default", Shares: 10})
	}
	tell(tree)
	for i := range uint32(200) {
		tell(&grid.User{Name: fmt.Sprintf("user%d", i), FShare: 100 + i, OTicket: i % 3})
		for p := range 50 {
			tell(&grid.Booking{User: fmt.Sprintf("user%d", i), Project: fmt.Sprintf("project%d", p), At: t.now,
				Decayed: grid.Amounts{float64(r.IntN(1e5))}})
		}
	}
	q := grid.DefaultCQueue("all.q")
	q.Slots.Value = 16
	for i := range hosts {
		h := fmt.Sprintf("h%05d", i)
		q.HostList = append(q.HostList, h)
		tell(&grid.ExecHost{Name: h})
		tell(&grid.Load{Host: h, Processors: 16,
			Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%04d", i%997)}, {Name: "arch", Text: "lx-amd64"}}})
	}
	tell(q)
	for _, h := range q.HostList {
		tell(&grid.QInstance{Queue: "all.q", Host: h})
	}
	t.seq = 1
	a.Apply(events.List{Seq: t.seq, At: t.now, Events: es})
	t.submit(running, pending, q.HostList)
	return t
}

// submit adds jobs as a feed does, in lists of a thousand.
func (t *bed) submit(running, pending int, hosts []string) {
	r := rand.New(rand.NewPCG(2, 2))
	requests := make([]*grid.JobRequest, 500)
	for i := range requests {
		seconds := float64(60 * (i + 1))
		requests[i] = &grid.JobRequest{
			Hard: grid.Requests{{Name: "h_rt", Value: "x", Num: seconds}, {Name: "arch", Value: "lx-*"}}}
	}
	once := grid.Ranges{{First: 1, Last: 1, Step: 1}}
	users, projects := names("user", 200), names("project", 50)
	var es []events.Event
	for i := range running + pending {
		j := &grid.Job{ID: uint32(i + 1), Version: 1, Name: "job", Owner: users[r.IntN(200)], Project: projects[r.IntN(50)],
			Department: "defaultdepartment",
			Submit:     t.now - 1_000_000 + grid.Time(i), Tasks: once[0], Pending: once, JobRequest: requests[r.IntN(500)]}
		es = append(es, events.Add(j))
		if i < running {
			es = append(
				es, events.Add(&grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, State: grid.StateRunning, Start: t.now,
					Grants: []grid.Grant{{Queue: "all.q", Host: hosts[i%len(hosts)], Slots: 1}}}))
		}
		if len(es) >= 1000 {
			t.apply(es)
			es = nil
		}
	}
	t.apply(es)
}

func names(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

// policySizes hold the number of hosts and so of decisions; only more jobs wait.
var policySizes = []struct{ hosts, pending int }{{1000, 10_000}, {1000, 100_000}, {1000, 1_000_000},
	{10_000, 1_000_000}}

// BenchmarkPolicies is Idle, an explaining Idle, Refill and Fill with all
// policies on.
func BenchmarkPolicies(b *testing.B) {
	for _, s := range policySizes {
		if testing.Short() && s.pending > 100_000 {
			continue
		}
		name := func(what string) string { return fmt.Sprintf("%s/hosts=%d/pending=%d", what, s.hosts, s.pending) }
		full := newPolicyBed(b, s.hosts, s.hosts*16, s.pending)
		b.Run(name("idle"), func(b *testing.B) {
			for b.Loop() {
				full.decide()
			}
		})
		b.Run(name("explain"), func(b *testing.B) {
			for b.Loop() {
				full.runs++
				for range full.a.Begin()(algorithm.Run{Number: full.runs, Now: full.now, Explain: true}) {
				}
			}
		})
		b.Run(name("refill"), func(b *testing.B) {
			var es []events.Event
			for i := range uint32(1000) {
				id := 1 + i*uint32(s.hosts*16/1000)
				es = append(es, events.Del(grid.KindJATask, grid.Key{ID: id, Sub: 1}), events.Del(grid.KindJob, grid.Key{ID: id}))
			}
			full.apply(es)
			b.ReportAllocs()
			for b.Loop() {
				if n := starts(full.decide()); n != 1000 {
					b.Fatalf("%d started", n)
				}
			}
		})
		full = nil
		runtime.GC()
		empty := newPolicyBed(b, s.hosts, 0, max(s.pending, s.hosts*16))
		b.Run(name("fill"), func(b *testing.B) {
			for b.Loop() {
				if n := starts(empty.decide()); n != s.hosts*16 {
					b.Fatalf("%d started", n)
				}
			}
			b.ReportMetric(float64(s.hosts*16)*float64(b.N)/b.Elapsed().Seconds(), "starts/s")
		})
	}
}

// BenchmarkMemory is what a scheduler needs for a pending job, with all
// policies on.
func BenchmarkMemory(b *testing.B) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const jobs = 200_000
	for b.Loop() {
		t := newPolicyBed(b, 10, 0, 0)
		before := heap()
		t.submit(0, jobs, nil)
		b.ReportMetric(float64(heap()-before)/jobs, "B/job")
		runtime.KeepAlive(t)
	}
}
