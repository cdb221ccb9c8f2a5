package ticket

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/model"
)

// naive finds the order of jobs from nothing but the state: at every step it
// weighs every job anew by the formulas and takes the best. It knows no
// classes, no lines and no heap.
type naive struct {
	st      *grid.SchedConf
	m       *model.Model
	now     grid.Time
	tree    *shares.Tree
	begin   *shares.Node
	jobs    []*naiveJob // pending
	running []*naiveJob // once for each task that runs, or was started
	posix   bounds
	urgent  bounds
	most    float64
	worths  map[naiveKey][]float64 // functional tickets in order
	taken   map[naiveKey]int
	counted []*naiveJob // what the functional policy counts as running
}

type naiveKey struct {
	user, department, project string
	jobShare                  uint32
}

type naiveJob struct {
	*grid.Job
	leaf  *shares.Node
	rr    float64
	tasks uint32
	begun uint32
	gone  bool
	late  float64 // deadline tickets
}

func (j *naiveJob) key() naiveKey {
	return naiveKey{j.Owner, j.Department, j.Project, j.JobShare}
}

// newNaive reads the state of a model; jobs are those that are pending.
func newNaive(conf *grid.SchedConf, m *model.Model, now grid.Time) *naive {
	n := &naive{st: conf, m: m, now: now, posix: nothing, urgent: nothing, worths: map[naiveKey][]float64{},
		taken: map[naiveKey]int{}}
	n.tree = shares.NewTree(m.State, conf, now)
	var all []*naiveJob
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := &naiveJob{Job: o.(*grid.Job), rr: m.Cluster.ResourceUrgency(o.(*grid.Job))}
		started := 0
		for _, t := range m.State.Tasks(j.ID) {
			if t.Started() {
				started++
				if t.State&(grid.StateSuspended|grid.StateSuspendedThreshold) == 0 {
					n.running = append(n.running, j)
				}
			}
		}
		limit := m.Cluster.TasksAtOnce(j.Job)
		pending := len(j.Predecessors) == 0 && j.ExecTime <= now && m.NextTask(j.Job, 0) != 0 &&
			(limit == 0 || uint32(started) < limit)
		if pending {
			n.jobs = append(n.jobs, j)
			for id := m.NextTask(j.Job, 0); id != 0; id = m.NextTask(j.Job, id) {
				j.tasks++
			}
		}
		if pending || started > 0 {
			all = append(all, j)
		}
		return true
	})
	for _, j := range all {
		n.posix.observe(float64(j.Priority))
		n.urgent.observe(n.urgency(j))
		if conf.WeightTicketsShare > 0 {
			j.leaf = n.tree.Leaf(j.Owner, j.Project)
		}
	}
	n.tree.ComputeTargets()
	if n.tree.Root != nil {
		n.begin = n.tree.Root
		if only := n.begin.ActiveChildren(); len(only) == 1 {
			n.begin = only[0]
		}
	}
	if text, _ := conf.Param("PRIORITY_RANGE"); text == "fixed" {
		n.posix = bounds{-1024, 1024}
	}
	n.lateness(all)
	n.counted = slices.Clone(n.running)
	n.functional()
	for _, j := range n.running {
		n.most = max(n.most, n.runningTickets(j))
	}
	for _, j := range n.jobs {
		n.most = max(n.most, n.others(j)+n.share(j.leaf))
	}
	return n
}

func (n *naive) urgency(j *naiveJob) float64 {
	return shares.UrgencyOf(n.st, j.rr, j.Submit, j.Deadline, n.now).Sum()
}

func (n *naive) lateness(all []*naiveJob) {
	s := newSettings(n.st)
	pool, shared := s.pool, s.shared
	sum := 0.0
	for _, j := range all {
		if pool > 0 && j.Deadline != 0 {
			j.late = deadlineTickets(pool, max(j.Submit, j.ExecTime), j.Deadline, n.now)
			sum += j.late
		}
	}
	for _, j := range all {
		if shared && sum > pool {
			j.late *= pool / sum
		}
	}
}

// count is of how many among some jobs f is true.
func count(jobs []*naiveJob, f func(*naiveJob) bool) (n float64) {
	for _, j := range jobs {
		if f(j) {
			n++
		}
	}
	return n
}

func (n *naive) fshares(j *naiveJob) [4]float64 {
	var s [4]float64
	if u := n.m.State.User(j.Owner); u != nil {
		s[byUser] = float64(u.FShare)
	}
	if p := n.m.State.Project(j.Project); p != nil {
		s[byProject] = float64(p.FShare)
	}
	if d := n.m.State.Userset(j.Department); d != nil {
		s[byDepartment] = float64(d.FShare)
	}
	s[byJob] = float64(j.JobShare)
	return s
}

// alike reports whether two jobs have the same holder in a category.
func alike(category int, a, b *naiveJob) bool {
	switch category {
	case byUser:
		return a.Owner == b.Owner
	case byProject:
		return a.Project == b.Project
	case byDepartment:
		return a.Department == b.Department
	}
	return a.JobShare == b.JobShare
}

// functionalOf is what one of j would have when others run; ranking as the
// greedy choice sees it; among says that j is one of them.
func (n *naive) functionalOf(others []*naiveJob, j *naiveJob, ranking, among bool) (tickets float64) {
	w := [4]float64{byUser: n.st.WeightUser, byDepartment: n.st.WeightDepartment, byProject: n.st.WeightProject,
		byJob: n.st.WeightJob}
	shares := n.fshares(j)
	var sums [4]float64
	for k := range sums {
		for i, o := range others {
			first := !slices.ContainsFunc(others[:i], func(b *naiveJob) bool { return alike(k, o, b) })
			if k == byJob || !n.st.ShareFunctionalShares || first {
				sums[k] += n.fshares(o)[k]
			}
		}
		if among && sums[k] == 0 {
			w[k] = 0
		}
	}
	total := w[0] + w[1] + w[2] + w[3]
	for k, share := range shares {
		if share == 0 || w[k] == 0 {
			continue
		}
		with := count(others, func(o *naiveJob) bool { return alike(k, o, j) })
		sum := sums[k]
		switch {
		case k == byJob || !n.st.ShareFunctionalShares:
			if ranking {
				sum += 0.001
			}
			if !among {
				sum += share
			}
		default:
			switch {
			case among:
			case ranking:
				sum += 0.001
			case with == 0:
				sum += share
			}
			if !among {
				with++
			}
			share /= with
		}
		tickets += w[k] / total * share * float64(n.st.WeightTicketsFunctional) / sum
	}
	return tickets
}

// functional counts pending tasks as if they ran, the best first.
func (n *naive) functional() {
	if n.st.WeightTicketsFunctional == 0 {
		return
	}
	left := map[*naiveJob]uint32{}
	for _, j := range n.jobs {
		left[j] = min(j.tasks, n.st.MaxPendingTasksPerJob)
	}
	urgent := slices.Clone(n.jobs)
	slices.SortFunc(urgent, func(a, b *naiveJob) int {
		return cmp.Or(cmp.Compare(n.urgency(b), n.urgency(a)), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
	for range n.st.MaxFunctionalJobsToSchedule {
		var best *naiveJob
		rank := 0.0
		var seen []*naiveJob
		for _, j := range urgent {
			if left[j] == 0 || slices.ContainsFunc(seen, func(o *naiveJob) bool { return samePolicy(o, j) }) {
				continue
			}
			seen = append(seen, j)
			r := n.functionalOf(n.counted, j, true, false)
			if best == nil || r > rank || r == rank && (j.Submit < best.Submit || j.Submit == best.Submit && j.ID < best.ID) {
				best, rank = j, r
			}
		}
		if best == nil {
			return
		}
		n.worths[best.key()] = append(n.worths[best.key()], n.functionalOf(n.counted, best, false, false))
		n.counted = append(n.counted, best)
		left[best]--
	}
}

// samePolicy reports whether policies treat two jobs alike: of such jobs,
// the most urgent is first.
func samePolicy(a, b *naiveJob) bool {
	return a.key() == b.key() && a.Priority == b.Priority && a.OverrideTickets == b.OverrideTickets &&
		a.Deadline == 0 && b.Deadline == 0
}

func (n *naive) override(j *naiveJob, next float64) (sum float64) {
	sum = float64(j.OverrideTickets)
	add := func(oticket uint32, category int) {
		with := 1.0
		if n.st.ShareOverrideTickets {
			with = max(count(n.running, func(o *naiveJob) bool { return alike(category, o, j) })+next, 1)
		}
		sum += float64(oticket) / with
	}
	if u := n.m.State.User(j.Owner); u != nil {
		add(u.OTicket, byUser)
	}
	if p := n.m.State.Project(j.Project); p != nil {
		add(p.OTicket, byProject)
	}
	if d := n.m.State.Userset(j.Department); d != nil {
		add(d.OTicket, byDepartment)
	}
	return sum
}

// others are a pending job's tickets, those of the share tree aside.
func (n *naive) others(j *naiveJob) float64 {
	f := 0.0
	if n.st.WeightTicketsFunctional > 0 {
		if k := j.key(); n.taken[k] < len(n.worths[k]) {
			f = n.worths[k][n.taken[k]]
		} else {
			f = n.functionalOf(n.counted, j, false, false)
		}
	}
	return n.override(j, 1) + f + j.late
}

func (n *naive) runningTickets(j *naiveJob) float64 {
	sum := n.override(j, 0) + j.late
	if n.st.WeightTicketsFunctional > 0 {
		sum += n.functionalOf(n.running, j, false, true)
	}
	if j.leaf != nil {
		shares := 0.0
		for _, o := range n.running {
			if o.leaf == j.leaf {
				shares += float64(o.JobShare)
			}
		}
		part := 1 / n.runningBelow(j.leaf)
		if shares > 0 {
			part = float64(j.JobShare) / shares
		}
		sum += j.leaf.Overall * part * float64(n.st.WeightTicketsShare)
	}
	return sum
}

func (n *naive) runningBelow(s *shares.Node) float64 {
	return count(n.running, func(j *naiveJob) bool {
		for l := j.leaf; l != nil; l = l.Parent {
			if l == s {
				return true
			}
		}
		return false
	})
}

func (n *naive) value(s *shares.Node) float64 { return s.Target / (n.runningBelow(s) + 1) }

// share is the share tree tickets of the next task of a leaf.
func (n *naive) share(leaf *shares.Node) float64 {
	for s := leaf; s != nil; s = s.Parent {
		if s == n.begin || s.Parent == n.begin {
			return n.value(s) * float64(n.st.WeightTicketsShare)
		}
	}
	return 0
}

// priority is a job's dispatch priority with these tickets.
func (n *naive) priority(j *naiveJob, tickets float64) float64 {
	return n.st.WeightPriority*shares.Normalise(float64(j.Priority), n.posix.lo, n.posix.hi) +
		n.st.WeightUrgency*shares.Normalise(n.urgency(j), n.urgent.lo, n.urgent.hi) +
		n.st.WeightTicket*shares.Normalise(tickets, 0, n.most)
}

func (n *naive) spent(j *naiveJob) bool {
	return j.Array && j.begun >= n.st.MaxPendingTasksPerJob && n.anyTickets()
}

func (n *naive) anyTickets() bool { return n.m.Tickets() }

// next is the job to start next, and its priority.
func (n *naive) next() (best *naiveJob, priority float64) {
	// the best below each node, from the leaves up
	at := map[*shares.Node][]*naiveJob{}
	var top []*naiveJob
	for _, j := range n.jobs {
		switch {
		case j.gone:
		case n.spent(j) || j.leaf == nil:
			top = append(top, j)
		default:
			at[j.leaf] = append(at[j.leaf], j)
		}
	}
	var winner func(s *shares.Node) *naiveJob
	winner = func(s *shares.Node) (best *naiveJob) {
		value := 0.0
		for _, j := range at[s] {
			if best == nil || n.before(j, best, n.priority(j, n.others(j)), n.priority(best, n.others(best))) {
				best = j
			}
		}
		for _, c := range s.ActiveChildren() {
			j := winner(c)
			if j == nil {
				continue
			}
			if best == nil {
				best, value = j, n.value(c)
				continue
			}
			p, q := n.priority(j, n.others(j)), n.priority(best, n.others(best))
			if p > q || p == q && n.value(c) > value || p == q && n.value(c) == value && n.before(j, best, p, q) {
				best, value = j, n.value(c)
			}
		}
		return best
	}
	if n.begin != nil {
		starts := n.begin.ActiveChildren()
		if len(starts) == 0 {
			starts = []*shares.Node{n.begin}
		}
		for _, s := range starts {
			if j := winner(s); j != nil {
				top = append(top, j)
			}
		}
	}
	full := func(j *naiveJob) float64 {
		if n.spent(j) {
			return n.priority(j, 0)
		}
		return n.priority(j, n.others(j)+n.share(j.leaf))
	}
	for _, j := range top {
		if best == nil || n.before(j, best, full(j), full(best)) {
			best = j
		}
	}
	if best == nil {
		return nil, 0
	}
	return best, full(best)
}

func (n *naive) before(a, b *naiveJob, p, q float64) bool {
	switch {
	case p != q:
		return p > q
	case n.m.UserSort() && n.runsOf(a) != n.runsOf(b):
		return n.runsOf(a) < n.runsOf(b)
	case a.Submit != b.Submit:
		return a.Submit < b.Submit
	}
	return a.ID < b.ID
}

func (n *naive) runsOf(j *naiveJob) float64 {
	return count(n.running, func(o *naiveJob) bool { return o.Owner == j.Owner })
}

// start counts a task of a job.
func (n *naive) start(j *naiveJob) {
	n.running = append(n.running, j)
	n.taken[j.key()]++
	j.tasks--
	j.begun++
}

// TestNaive holds the order of jobs against the naive one, on random cells
// with random policies. What is started and what is rejected is random too.
func TestNaive(t *testing.T) {
	testkit.EachSeed(t, 5000, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		m, conf, now := randomCell(r)
		c := m.Copy()
		c.Start(now)
		room := (*memory)(nil).again()
		o, n := newOrder(newPolicies(newSettings(conf), c, now, room), room), newNaive(conf, c, now)
		out := map[string]bool{}
		for step := 0; ; step++ {
			h, ok := o.head()
			j, priority := n.next()
			if ok != (j != nil) {
				t.Fatalf("step %d: head %v, naive %v", step, h, j)
			}
			if !ok {
				break
			}
			if w := o.worth().Priority; h.Job != j.ID || w-priority > 1e-9 || priority-w > 1e-9 {
				t.Fatalf("step %d: head %d %.12f, naive %d %.12f", step, h.Job, w, j.ID, priority)
			}
			switch r.IntN(8) {
			case 0: // nobody of the category fits
				out[h.Of.Category] = true
				o.reject()
				n.jobs = slices.DeleteFunc(n.jobs, func(j *naiveJob) bool { return out[c.Cluster.Category(j.Job)] })
			case 1: // not this job
				o.pass()
				j.gone = true
			default:
				if n.start(j); j.tasks > 0 {
					o.started()
				} else {
					o.finished()
					j.gone = true
				}
			}
		}
	})
}

// randomCell is a model of a cell of two hosts with users, projects, policies,
// jobs that wait and tasks that run.
func randomCell(r *rand.Rand) (*model.Model, *grid.SchedConf, grid.Time) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	now := grid.Time(1_000_000_000)
	conf := grid.DefaultSchedConf()
	conf.WeightWaitingTime = float64(r.IntN(2)) * 0.5
	conf.WeightTicketsShare, conf.WeightTicketsFunctional = uint32(r.IntN(2)*1000), uint32(r.IntN(2)*1000)
	conf.WeightTicket, conf.WeightPriority = float64(r.IntN(3)), float64(r.IntN(2))
	conf.ShareFunctionalShares, conf.ShareOverrideTickets = r.IntN(2) == 0, r.IntN(2) == 0
	conf.MaxFunctionalJobsToSchedule, conf.MaxPendingTasksPerJob = uint32(r.IntN(12)), uint32(1+r.IntN(4))
	conf.CompensationFactor = float64(r.IntN(3))
	conf.PolicyHierarchy = "NONE"
	conf.Params = pick("none", "PRIORITY_RANGE=fixed", "USER_SORT=true", "WEIGHT_TICKETS_DEADLINE=500")
	es := []events.Event{events.Listed(conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1", Urgency: pick("0", "1000")}),
		events.Listed(&grid.Centry{Name: "lic", Shortcut: "lic", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "NO", Default: "0", Urgency: "50"}),
		events.Listed(&grid.PE{Name: "mpi", Slots: 99, AllocationRule: "$fill_up", UrgencySlots: pick("min", "max", "avg")}),
	}
	users, projects, departments := []string{"A", "B", "C", "D"}, []string{"", "P", "Q"}, []string{"", "X", "Y"}
	some := func() uint32 { return uint32(max(r.IntN(5)-1, 0) * 10) }
	override := r.IntN(2) == 0
	oticket := func() uint32 {
		if override {
			return some()
		}
		return 0
	}
	for _, u := range users {
		es = append(es, events.Listed(&grid.User{Name: u, FShare: some(), OTicket: oticket()}))
		for _, p := range projects {
			b := &grid.Booking{User: u, Project: p, At: now}
			b.Decayed[grid.UsageCPU] = float64(r.IntN(3) * r.IntN(1000))
			es = append(es, events.Listed(b))
		}
	}
	for i := range 2 {
		b := &grid.Booking{Project: projects[i+1], At: now}
		b.Decayed[grid.UsageCPU] = float64(r.IntN(3) * 2000)
		es = append(es, events.Listed(&grid.Project{Name: projects[i+1], FShare: some(), OTicket: oticket()}),
			events.Listed(b),
			events.Listed(&grid.Userset{Name: departments[i+1], Type: "DEPT", FShare: some(), OTicket: oticket()}))
	}
	shares := func() uint32 { return uint32(1 + r.IntN(3)*r.IntN(30)) }
	tree := &grid.ShareTree{Nodes: []grid.ShareNode{
		{ID: 0, Name: "Root", Children: []uint32{1, 2, 3}},
		{ID: 1, Name: "P", Type: 1, Shares: shares(), Children: []uint32{4, 5}},
		{ID: 2, Name: "G", Shares: shares(), Children: []uint32{6, 7}}, {ID: 3, Name: "default", Shares: shares()},
		{ID: 4, Name: "A", Shares: shares()}, {ID: 5, Name: "default", Shares: shares()},
		{ID: 6, Name: "A", Shares: shares()}, {ID: 7, Name: "B", Shares: shares()},
	}}
	if r.IntN(4) > 0 {
		es = append(es, events.Listed(tree))
	}
	for id := range uint32(4 + r.IntN(20)) {
		j := &grid.Job{ID: id + 1, Version: 1, Owner: users[r.IntN(4)], Project: projects[r.IntN(3)],
			Department: departments[r.IntN(3)],
			Submit:     now - grid.Time(r.IntN(5)*1000), Priority: int16(r.IntN(3) * r.IntN(100)),
			JobShare: uint32(r.IntN(2) * 10),
			Tasks:    grid.Range{First: 1, Last: 1, Step: 1}, Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}},
			JobRequest: &grid.JobRequest{}}
		if override {
			j.OverrideTickets = uint32(r.IntN(2) * 7)
		}
		switch r.IntN(5) {
		case 0:
			j.Array, j.Tasks.Last, j.Pending = true, 6, grid.Ranges{{First: 1, Last: 6, Step: 1}}
		case 1:
			j.Hard = grid.Requests{{Name: "lic", Value: "3", Num: float64(r.IntN(4))}}
		case 2:
			j.PE, j.PERange = "mpi", grid.Ranges{{First: 2, Last: uint32(2 + r.IntN(6)), Step: 1}}
		case 3:
			j.Deadline = now + grid.Time(r.IntN(8)*1000-2000)
		}
		es = append(es, events.Listed(j))
		if r.IntN(4) == 0 { // its first task runs
			t := &grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, Start: now,
				Grants: []grid.Grant{{Queue: "all.q", Host: "h", Slots: 1}}}
			if r.IntN(5) == 0 {
				t.State = grid.StateSuspended
			}
			es = append(es, events.Listed(t))
		}
	}
	m := model.New()
	m.Apply(events.List{Seq: 1, At: now, Events: es})
	return m, conf, now
}
