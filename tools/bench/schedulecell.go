package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// The users, projects and requests of a large cell.
const (
	largeUsers    = 200
	largeProjects = 50
	largeRequests = 500
	slotsOfHost   = 16
)

// large is a cell for the scheduler alone: hosts of 16 slots in all.q, all
// policies on, and jobs. Everything stands in its state from the beginning.
type large struct {
	hosts        int
	running      int  // jobs of one slot that run
	pending      int  // jobs that wait
	mixed        bool // they are of 1 to 1024 slots and ask for a reservation; else of one slot
	reservations uint32
	adjust       bool // starts adjust the load of their hosts, as they do by default
	instances    int  // of a resource map at each host, of which every job needs one
	cores        int  // of each host, of which every job needs one beside its instance
}

// policies is a scheduler configuration in which every policy counts.
func (l large) policies() *grid.SchedConf {
	c := grid.DefaultSchedConf()
	c.WeightTicketsShare, c.WeightTicketsFunctional = 10_000, 10_000
	c.WeightWaitingTime = 0.1
	if !l.adjust {
		c.JobLoadAdjustments = nil
	}
	c.MaxReservation, c.DefaultDuration = l.reservations, "8:0:0"
	return c
}

// epoch is when a large cell begins.
const epoch grid.Time = 1_700_000_000_000

// each passes every object of the cell to its function.
func (l large) each(tell func(grid.Object)) {
	for _, e := range core.Fresh(epoch, "root", "master").Events {
		switch o := e.Object.(type) {
		case *grid.SchedConf, *grid.HGroup, *grid.Counter, *grid.PE:
		case *grid.CQueue:
			q := *o
			q.Slots.Value, q.PEList.Value = slotsOfHost, grid.Names{"mpi", "smp"}
			tell(&q)
		default:
			tell(o)
		}
	}
	if l.instances > 0 {
		tell(&grid.Centry{Name: "gpu_numa", Shortcut: "gpu_numa", Type: "INT", Relop: "==", Requestable: "YES",
			Consumable: "NO", Default: "0", Urgency: "0", Version: 1})
		tell(&grid.Centry{Name: "gpu", Shortcut: "gpu", Type: grid.TypeMap, Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0", Urgency: "0", Version: 1})
	}
	tell(l.policies())
	tell(&grid.Counter{Name: grid.JobSeqNum, Value: uint64(l.running + l.pending)})
	for name, rule := range map[string]string{"mpi": "$fill_up", "smp": "$pe_slots"} {
		p := grid.DefaultPE(name)
		p.Slots, p.AllocationRule, p.Version = 9_999_999, rule, 1
		tell(p)
	}
	tree := &grid.ShareTree{Nodes: []grid.ShareNode{{ID: 0, Name: "Root", Shares: 1}}, Version: 1}
	for i := range uint32(largeProjects) {
		name := "project" + strconv.Itoa(int(i))
		tell(&grid.Project{Name: name, FShare: 10 + i, Version: 1})
		tree.Nodes[0].Children = append(tree.Nodes[0].Children, i+1)
		tree.Nodes = append(tree.Nodes, grid.ShareNode{ID: i + 1, Type: grid.ShareProject, Name: name, Shares: 10 + i,
			Children: []uint32{largeProjects + i + 1}})
	}
	for i := range uint32(largeProjects) {
		tree.Nodes = append(tree.Nodes, grid.ShareNode{ID: largeProjects + i + 1, Name: grid.ShareDefault, Shares: 10})
	}
	tell(tree)
	for i := range uint32(largeUsers) {
		tell(&grid.User{Name: "user" + strconv.Itoa(int(i)), FShare: 100 + i, Version: 1})
	}
	l.eachHost(tell)
	l.eachJob(tell)
}

func (l large) eachHost(tell func(grid.Object)) {
	group := &grid.HGroup{Name: "@allhosts", Version: 1}
	for i := range l.hosts {
		name := hostName(i)
		group.HostList = append(group.HostList, name)
		h := &grid.ExecHost{Name: name, Version: 1}
		if l.instances > 0 {
			h.ComplexValues = grid.Values{{Name: "gpu", Text: fmt.Sprintf("%d(0-%d)", l.instances, l.instances-1)}}
		}
		load := &grid.Load{Host: name, Processors: slotsOfHost, Reported: epoch,
			Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprintf("0.%03d", i%997)}, {Name: "arch", Text: "lx-amd64"}}}
		if l.cores > 0 {
			h.ComplexValues = grid.Values{{Name: "gpu", Text: l.placed()}}
			load.Values = append(load.Values, grid.Value{Name: "m_topology_tree", Text: l.topology(-1)})
		}
		tell(h)
		tell(load)
	}
	tell(group)
	for i := range l.hosts {
		tell(&grid.QInstance{Queue: "all.q", Host: hostName(i)})
	}
}

// placed is the value of gpu where hosts have cores: half of the instances at each of two NUMA nodes.
func (l large) placed() string {
	words := make([]string, l.instances)
	for i := range words {
		words[i] = fmt.Sprintf("%d[gpu_numa=%d]", i, i*2/l.instances)
	}
	return fmt.Sprintf("%d(%s)", l.instances, strings.Join(words, " "))
}

// topology is that of a host, with one of its cores in lower case: two sockets, which are NUMA nodes.
func (l large) topology(core int) string {
	var b strings.Builder
	for i := range l.cores {
		if i%(l.cores/2) == 0 {
			b.WriteString("NSX")
		}
		if i == core {
			b.WriteString("yctt")
		} else {
			b.WriteString("YCTT")
		}
	}
	return b.String()
}

func hostName(i int) string { return fmt.Sprintf("h%05d", i) }

// eachJob passes the jobs to its function: those that run have the lower numbers.
func (l large) eachJob(tell func(grid.Object)) {
	r := rand.New(rand.NewPCG(1, 1))
	requests := make([]*grid.JobRequest, largeRequests)
	for i := range requests {
		seconds := float64(60 * (i + 1))
		requests[i] = &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: strconv.Itoa(int(seconds)), Num: seconds},
			{Name: "arch", Value: "lx-*"}}}
		if l.instances > 0 {
			requests[i].Hard = append(requests[i].Hard, grid.Request{Name: "gpu", Value: "1", Num: 1})
		}
		if l.cores > 0 {
			requests[i].Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: 1, Unit: "C",
				Type: grid.BindSlot}
		}
	}
	spec := &grid.JobSpec{Command: "/bin/true", SubmitHost: "master"}
	once := grid.Range{First: 1, Last: 1, Step: 1}
	for i := range l.running + l.pending {
		id := uint32(i + 1)
		user, project := i%largeUsers, i%largeProjects
		j := &grid.Job{ID: id, Name: "job", Owner: "user" + strconv.Itoa(user), Group: "users", Project: "project" +
			strconv.Itoa(project),
			Department: grid.DefaultDepartment, Account: grid.DefaultAccount, Submit: epoch - 1_000_000 +
				grid.Time(i), Tasks: once,
			JobRequest: requests[r.IntN(len(requests))], Spec: spec}
		if i >= l.running {
			j.Pending = grid.Ranges{once}
			if l.mixed {
				j.Reserve = true
				mixSize(j, r)
			}
			tell(j)
			continue
		}
		tell(j)
		t := &grid.JATask{Job: id, ID: 1, Attempt: 1, Status: grid.Running, State: grid.StateRunning,
			Start:  epoch - grid.Time(r.IntN(30_000))*1000,
			Grants: []grid.Grant{{Queue: "all.q", Host: hostName(i % l.hosts), Slots: 1}}}
		if l.instances > 0 {
			t.Maps = []grid.MapGrant{{Resource: "gpu", Host: t.Grants[0].Host, IDs: []string{strconv.Itoa(i / l.hosts)}}}
		}
		if l.cores > 0 {
			at := i / l.hosts * l.cores / l.instances
			t.Cores = []grid.CoreGrant{{Host: t.Grants[0].Host, Text: l.topology(at)}}
		}
		tell(t)
	}
}

// mixSize makes a job one of 1 to 1024 slots, on one host or on many.
func mixSize(j *grid.Job, r *rand.Rand) {
	size := uint32(1) << r.IntN(11)
	if size == 1 {
		return
	}
	ask := j.Ask()
	ask.PE, ask.PERange = "mpi", grid.Ranges{{First: size, Last: size, Step: 1}}
	if size <= slotsOfHost && j.ID%2 == 0 {
		ask.PE = "smp"
	}
}

// bed is a large cell at work.
type bed struct {
	*couple.Couple
	now  grid.Time
	next uint32 // the running job that ends next
}

// begin makes the cell and gives the scheduler its full state.
func (l large) begin() (*bed, error) {
	s := state.New()
	full := events.List{Seq: 1, At: epoch}
	l.each(func(o grid.Object) { full.Events = append(full.Events, events.Listed(o)) })
	s.Apply(full)
	b := &bed{Couple: couple.New(s, shipped.Algorithms()), now: epoch, next: 1}
	return b, b.Register()
}

// outcome is what a run has cost.
type outcome struct {
	took    time.Duration // from the copy to the last result
	decided time.Duration // of it, until the last order was there
	starts  int
}

// run is a scheduling run as schedd makes it: orders are sent while it still
// decides. Then the mirror follows.
func (b *bed) run(seconds float64) (out outcome, err error) {
	b.now = b.now.Add(seconds)
	begun := time.Now()
	list, decide := b.Begin(b.now, false)
	portions, done := make(chan []orders.Order), make(chan error)
	var lists []events.List
	go func() {
		var refused error
		for o := range portions {
			l := list
			l.Orders = o
			r := b.Core.Step(b.now, core.Orders{List: l})
			if no := r.Answers[0].Result.Refused; len(no) > 0 {
				refused = fmt.Errorf("%d orders are refused: %s", len(no), no[0].Reason)
			}
			lists = append(lists, r.List)
		}
		done <- refused
	}()
	counted := func(yield func(orders.Order) bool) {
		for o := range decide {
			if _, ok := o.(*orders.StartJob); ok {
				out.starts++
			}
			if !yield(o) {
				return
			}
		}
	}
	rest := schedd.Portions(counted, time.Now, func(portion []orders.Order, wait bool) bool {
		return schedd.Offer(portions, portion, wait)
	})
	out.decided = time.Since(begun)
	if len(rest) > 0 {
		portions <- rest
	}
	close(portions)
	err = <-done
	out.took = time.Since(begun)
	for _, l := range lists {
		b.Algorithm.Apply(l)
	}
	return out, err
}

// end has the next running jobs end, which were the first to start.
func (b *bed) end(jobs int) {
	ended := map[string][]report.Task{}
	for range jobs {
		t := b.Core.State().Task(b.next, 1)
		b.next++
		if t == nil || !t.Started() {
			continue
		}
		host := t.Grants[0].Host
		ended[host] = append(ended[host], report.Task{Attempt: report.Attempt{Job: t.Job, Task: 1, N: t.Attempt},
			Phase: report.Ended,
			Usage: grid.Usage{WallSeconds: 60, CPU: 60}, Result: &report.Result{Start: t.Start, End: b.now}})
	}
	for host, tasks := range ended {
		b.Step(b.now, core.Report{Report: report.Report{Host: host, Tasks: tasks}})
	}
}

// submit submits a parallel job.
func (b *bed) submit(least, most uint32) error {
	j := &grid.Job{
		Name: "wide", JobRequest: &grid.JobRequest{PE: "mpi", PERange: grid.Ranges{{First: least, Last: most, Step: 1}}}}
	r := b.Step(
		b.now,
		core.UserRequest{Request: gdi.Request{User: "user0", Host: "master", Command: "qsub", Body: &gdi.Submit{Job: j}}})
	return r.Answers[0].Reply.Err()
}
