package state

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
)

// State is everything that the events so far say. The zero value is not
// usable; begin with New.
type State struct {
	// Seq and At are those of the last list applied.
	Seq uint64
	At  grid.Time

	tables     [grid.KindsEnd]table
	onHost     tree[hostTask]
	successors tree[dependency]
	reserved   tree[dependency] // jobs by their advance reservation
	owned      tree[ownership]  // jobs by their owner
	receipts   receipts
	members    map[string]map[string]bool // by host group; never changed, only replaced
	finished   []*grid.Job                // see Finished
	finishing  int                        // how many of them there are at most
	tally      Tally
}

// hostTask means that a started task holds slots on a host.
type hostTask struct {
	host string
	task uint64 // see number
	of   *grid.JATask
}

// dependency means that job waits for the end of another, or runs in an advance
// reservation.
type dependency struct{ on, job uint32 }

// ownership is whose a job is.
type ownership struct {
	owner string
	job   uint32
}

// New returns a State in which nothing has happened yet.
func New() *State {
	s := &State{}
	for k := range s.tables {
		s.tables[k].rows = newRows()
	}
	s.onHost = newTree(func(a, b hostTask) bool {
		if a.host != b.host {
			return a.host < b.host
		}
		return a.task < b.task
	})
	before := func(a, b dependency) bool {
		if a.on != b.on {
			return a.on < b.on
		}
		return a.job < b.job
	}
	s.successors, s.reserved = newTree(before), newTree(before)
	s.receipts = newReceipts()
	s.owned = newTree(func(a, b ownership) bool {
		if a.owner != b.owner {
			return a.owner < b.owner
		}
		return a.job < b.job
	})
	return s
}

// Copy returns a State that stays as this one is now.
func (s *State) Copy() *State {
	s.resolveGroups()
	c := *s
	for k := range s.tables {
		c.tables[k] = s.tables[k].copied()
	}
	c.onHost, c.successors, c.reserved, c.owned = s.onHost.copied(), s.successors.copied(),
		s.reserved.copied(), s.owned.copied()
	c.receipts, c.finished = s.receipts.copied(), slices.Clip(s.finished)
	return &c
}

// Apply changes the state as the list says. Lists of LIST events build a full
// state up and may be applied in any number of pieces.
func (s *State) Apply(l events.List) {
	s.Seq, s.At = l.Seq, max(s.At, l.At)
	full, user := false, ""
	for _, e := range l.Events {
		full = full || e.Op == events.OpList
		s.apply(e)
		if e.Op != events.OpAdd || l.Cause.Ref == "" {
			continue
		}
		r := grid.Receipt{Request: l.Cause.Ref, At: l.At}
		switch e.Kind {
		case grid.KindJob:
			r.Job = e.Key.ID
		case grid.KindAR:
			r.AR = e.Key.ID
		case grid.KindPETask:
			r.Job, r.PETask = e.Key.ID, e.Key.Name
		default:
			continue
		}
		if user == "" {
			user = l.Cause.User()
		}
		r.User = user
		s.apply(events.Add(&r))
	}
	if !full { // a full state has none to forget
		s.forgetReceipts()
	}
}

func (s *State) apply(e events.Event) {
	if e.Kind >= grid.KindsEnd || e.Kind == grid.KindAccounting {
		return
	}
	t := s.tables[e.Kind].own()
	var old grid.Object
	switch e.Op {
	case events.OpDel:
		was, ok := t.delete(e.Key)
		if !ok {
			return
		}
		old = was
	case events.OpMod:
		if j, is := e.Object.(*grid.Job); is {
			e.Object = j.After(s.Job(j.ID))
		}
		old = t.set(e.Key, e.Object)
	default:
		old = t.add(e.Key, e.Object)
	}
	s.derive(e, old)
}

// derive keeps up what follows from the change of one object.
func (s *State) derive(e events.Event, old grid.Object) {
	switch e.Kind {
	case grid.KindJob:
		s.deriveJob(e, old)
	case grid.KindJATask:
		s.deriveTask(e, old)
	case grid.KindHGroup:
		s.members = nil
	case grid.KindConf:
		if c, ok := e.Object.(*grid.Conf); ok && c.Host == grid.GlobalConf {
			s.finishing, _ = strconv.Atoi(c.Get("finished_jobs"))
		}
	case grid.KindAR:
		if e.Op == events.OpAdd {
			s.set(&grid.Counter{Name: grid.ARSeqNum, Value: uint64(e.Key.ID)})
		}
	case grid.KindToken:
		if e.Op == events.OpAdd {
			s.set(&grid.Counter{Name: grid.TokenSeqNum, Value: uint64(e.Key.ID)})
		}
	case grid.KindProposal:
		if e.Op == events.OpAdd {
			s.set(&grid.Counter{Name: grid.ProposalSeqNum, Value: uint64(e.Key.ID)})
		}
	case grid.KindReceipt:
		s.keepReceipt(e, old)
	}
}

func (s *State) deriveJob(e events.Event, old grid.Object) {
	if was, ok := old.(*grid.Job); ok {
		s.tally.AddJob(was, -1)
		for _, p := range was.Predecessors {
			s.successors.own().Delete(dependency{p, was.ID})
		}
		for _, p := range was.ArrayPredecessors {
			s.successors.own().Delete(dependency{p, was.ID})
		}
		if was.AR != 0 {
			s.reserved.own().Delete(dependency{was.AR, was.ID})
		}
	}
	s.deriveOwner(e, old)
	if e.Op == events.OpDel {
		s.finish(old.(*grid.Job))
		for _, t := range s.Tasks(e.Key.ID) {
			s.apply(events.Del(grid.KindJATask, t.Key()))
		}
		if s.Get(grid.KindPriority, e.Key) != nil {
			s.tables[grid.KindPriority].own().delete(e.Key)
		}
		s.dropReservations(e.Key.ID, func(uint32) bool { return true })
		return
	}
	j := e.Object.(*grid.Job)
	s.tally.AddJob(j, 1)
	if was, ok := old.(*grid.Job); ok {
		s.dropReservations(j.ID, func(task uint32) bool { return was.Version != j.Version || !s.Waits(j.ID, task) })
	}
	for _, p := range j.Predecessors {
		s.successors.own().Set(dependency{p, j.ID})
	}
	for _, p := range j.ArrayPredecessors {
		s.successors.own().Set(dependency{p, j.ID})
	}
	if j.AR != 0 {
		s.reserved.own().Set(dependency{j.AR, j.ID})
	}
	if e.Op != events.OpAdd {
		return
	}
	if c := s.Counter(grid.JobSeqNum); uint64(j.ID) > c {
		s.set(&grid.Counter{Name: grid.JobSeqNum, Value: uint64(j.ID)})
	}
}

// deriveOwner keeps the index of jobs by owner. Most changes of a job leave its
// owner as it is and cost nothing here.
func (s *State) deriveOwner(e events.Event, old grid.Object) {
	now, _ := e.Object.(*grid.Job)
	if e.Op == events.OpDel {
		now = nil
	}
	was, _ := old.(*grid.Job)
	if was != nil && now != nil && was.Owner == now.Owner {
		return
	}
	if was != nil {
		s.owned.own().Delete(ownership{was.Owner, was.ID})
	}
	if now != nil {
		s.owned.own().Load(ownership{now.Owner, now.ID})
	}
}

// A job that has left is kept without its requests when these have more bytes, and without ranges of tasks when there
// are more.
const (
	finishedMost   = 4 << 10
	finishedRanges = 100
)

// finish keeps a job that has left, without its Spec, in place of the oldest.
func (s *State) finish(j *grid.Job) {
	if s.finishing <= 0 {
		s.finished = nil
		return
	}
	brief := *j
	if brief.Spec = nil; brief.Size() > finishedMost {
		brief.JobRequest, brief.Predecessors, brief.ArrayPredecessors = &grid.JobRequest{}, nil, nil
	}
	if n := len(brief.Pending) + len(brief.UserHold) + len(brief.OperHold) + len(brief.SysHold) +
		len(brief.ArrayHold); n > finishedRanges {
		brief.Pending, brief.UserHold, brief.OperHold, brief.SysHold, brief.ArrayHold = nil, nil, nil, nil, nil
	}
	s.finished = append(s.finished, &brief)
	if n := len(s.finished) - s.finishing; n > 0 {
		s.finished = s.finished[n:]
	}
}

// Finished returns the jobs that left last, ended or deleted, as many as
// finished_jobs of sge_conf(5), without their Spec; the last one comes last. A
// full state does not hold them: there are none before the first job leaves.
func (s *State) Finished() []*grid.Job { return s.finished }

func (s *State) deriveTask(e events.Event, old grid.Object) {
	if was, ok := old.(*grid.JATask); ok {
		s.tally.AddTask(was, -1)
		if now, changed := e.Object.(*grid.JATask); was.Started() && !(changed && now.Started() && samePlaces(was, now)) {
			eachPlace(was, func(host string) { s.onHost.own().Delete(hostTask{host: host, task: number(was.Key())}) })
		}
	}
	s.dropReservations(e.Key.ID, func(task uint32) bool { return task == e.Key.Sub && !s.Waits(e.Key.ID, task) })
	if e.Op == events.OpDel {
		if s.Len(grid.KindPETask) > 0 {
			for _, p := range s.PETasks(e.Key.ID, e.Key.Sub) {
				s.apply(events.Del(grid.KindPETask, p.Key()))
			}
		}
		return
	}
	t := e.Object.(*grid.JATask)
	s.tally.AddTask(t, 1)
	if t.Started() {
		eachPlace(t, func(host string) { s.onHost.own().Set(hostTask{host, number(t.Key()), t}) })
	}
	if e.Op == events.OpAdd { // enrolled: it leaves the pending range
		if j := s.Job(t.Job); j != nil && j.Pending.Contains(t.ID) {
			s.tally.enrol(j, t.ID)
			c := *j
			c.Pending = j.Pending.Without(t.ID)
			s.set(&c)
		}
	}
}

// dropReservations removes reservations of a job, of the tasks of which over is true.
func (s *State) dropReservations(job uint32, over func(task uint32) bool) {
	if s.Len(grid.KindJobReservation) == 0 {
		return
	}
	for _, r := range s.JobReservations(job) {
		if over(r.Task) {
			s.tables[grid.KindJobReservation].own().delete(r.Key())
		}
	}
}

// Waits reports whether a task waits and may start as far as its job goes, the start time aside: it is neither held nor
// in error, and waits for no other job.
func (s *State) Waits(job, task uint32) bool {
	j := s.Job(job)
	if j == nil || j.Held(task) || len(j.Predecessors) > 0 {
		return false
	}
	if t := s.Task(job, task); t != nil {
		return t.Waits()
	}
	return j.Pending.Contains(task)
}

// eachPlace calls f with the hosts of a task, and with "global" if it has instances of a
// resource map there.
func eachPlace(t *grid.JATask, f func(host string)) {
	for _, g := range t.Grants {
		f(g.Host)
	}
	if holdsGlobal(t) {
		f(grid.GlobalHost)
	}
}

// samePlaces reports whether eachPlace has the same hosts for both.
func samePlaces(a, b *grid.JATask) bool {
	return slices.EqualFunc(a.Grants, b.Grants, func(a, b grid.Grant) bool {
		return a.Host == b.Host
	}) && holdsGlobal(a) == holdsGlobal(b)
}

// holdsGlobal reports whether a task has instances of a resource map of "global".
func holdsGlobal(t *grid.JATask) bool {
	return slices.ContainsFunc(t.Maps, func(m grid.MapGrant) bool { return m.Global })
}

// set replaces an object as a consequence, without further consequences.
func (s *State) set(o grid.Object) { s.tables[o.Kind()].own().set(o.Key(), o) }

// Get returns the object of a kind, nil when there is none.
func (s *State) Get(k grid.Kind, key grid.Key) grid.Object {
	if k >= grid.KindsEnd {
		return nil
	}
	return s.tables[k].rows.get(key)
}

// Len is how many objects of the kind there are.
func (s *State) Len(k grid.Kind) int { return s.tables[k].rows.len() }

// Each calls f with every object of a kind in key order until f returns false.
// f must not apply events to this State.
func (s *State) Each(k grid.Kind, f func(grid.Object) bool) {
	s.tables[k].rows.scan(f)
}

// From is Each, beginning at the first key that is not less than from.
func (s *State) From(k grid.Kind, from grid.Key, f func(grid.Object) bool) {
	s.tables[k].rows.from(from, f)
}

// Full calls f with the state as LIST events, kind by kind in the order of grid.Kinds,
// until f returns false.
func (s *State) Full(f func(events.Event) bool) {
	for _, spec := range grid.Kinds {
		on := true
		s.Each(spec.Kind, func(o grid.Object) bool {
			on = f(events.Listed(o))
			return on
		})
		if !on {
			return
		}
	}
}

// FullList returns the full state as one list of LIST events, as a registration sends it.
func (s *State) FullList() events.List {
	l := events.List{Seq: s.Seq, At: s.At}
	s.Full(func(e events.Event) bool {
		l.Events = append(l.Events, e)
		return true
	})
	return l
}

// get is Get for one Go type.
func get[T any, P interface {
	*T
	grid.Object
}](s *State, k grid.Kind, key grid.Key) P {
	if o, ok := s.Get(k, key).(P); ok {
		return o
	}
	return nil
}

// list returns the objects of a kind as their Go type.
func list[P grid.Object](s *State, k grid.Kind) []P {
	out := make([]P, 0, s.Len(k))
	s.Each(k, func(o grid.Object) bool {
		out = append(out, o.(P))
		return true
	})
	return out
}

func name(n string) grid.Key { return grid.Key{Name: n} }

// Job and its siblings return one object, nil when there is none.
func (s *State) Job(id uint32) *grid.Job { return get[grid.Job](s, grid.KindJob, grid.Key{ID: id}) }
func (s *State) Task(job, task uint32) *grid.JATask {
	return get[grid.JATask](s, grid.KindJATask, grid.Key{ID: job, Sub: task})
}
func (s *State) CQueue(n string) *grid.CQueue { return get[grid.CQueue](s, grid.KindCQueue, name(n)) }
func (s *State) ExecHost(n string) *grid.ExecHost {
	return get[grid.ExecHost](s, grid.KindExecHost, name(n))
}
func (s *State) Load(host string) *grid.Load  { return get[grid.Load](s, grid.KindLoad, name(host)) }
func (s *State) PE(n string) *grid.PE         { return get[grid.PE](s, grid.KindPE, name(n)) }
func (s *State) Ckpt(n string) *grid.Ckpt     { return get[grid.Ckpt](s, grid.KindCkpt, name(n)) }
func (s *State) Centry(n string) *grid.Centry { return get[grid.Centry](s, grid.KindCentry, name(n)) }
func (s *State) Userset(n string) *grid.Userset {
	return get[grid.Userset](s, grid.KindUserset, name(n))
}
func (s *State) User(n string) *grid.User { return get[grid.User](s, grid.KindUser, name(n)) }
func (s *State) Project(n string) *grid.Project {
	return get[grid.Project](s, grid.KindProject, name(n))
}
func (s *State) Booking(user, project string) *grid.Booking {
	return get[grid.Booking](s, grid.KindBooking, grid.BookingKey(user, project))
}
func (s *State) JobReservation(job, task uint32) *grid.JobReservation {
	return get[grid.JobReservation](s, grid.KindJobReservation, grid.Key{ID: job, Sub: task})
}
func (s *State) Priority(job uint32) *grid.Priority {
	return get[grid.Priority](s, grid.KindPriority, grid.Key{ID: job})
}
func (s *State) PriorityRange() *grid.PriorityRange {
	return get[grid.PriorityRange](s, grid.KindPriorityRange, (*grid.PriorityRange)(nil).Key())
}
func (s *State) HGroup(n string) *grid.HGroup { return get[grid.HGroup](s, grid.KindHGroup, name(n)) }
func (s *State) ShareTree() *grid.ShareTree {
	return get[grid.ShareTree](s, grid.KindShareTree, (*grid.ShareTree)(nil).Key())
}
func (s *State) Token(id uint32) *grid.Token {
	return get[grid.Token](s, grid.KindToken, grid.Key{ID: id})
}
func (s *State) Login(id string) *grid.Login { return get[grid.Login](s, grid.KindLogin, name(id)) }
func (s *State) Proposal(id uint32) *grid.Proposal {
	return get[grid.Proposal](s, grid.KindProposal, grid.Key{ID: id})
}
func (s *State) AR(id uint32) *grid.AR       { return get[grid.AR](s, grid.KindAR, grid.Key{ID: id}) }
func (s *State) Conf(host string) *grid.Conf { return get[grid.Conf](s, grid.KindConf, name(host)) }
func (s *State) QInstance(queue, host string) *grid.QInstance {
	return get[grid.QInstance](s, grid.KindQInstance, name(queue+"@"+host))
}

// SchedConf is the scheduler configuration; the shipped one before any was set.
func (s *State) SchedConf() *grid.SchedConf {
	if c := get[grid.SchedConf](s, grid.KindSchedConf, (*grid.SchedConf)(nil).Key()); c != nil {
		return c
	}
	return &grid.SchedConf{}
}

// Counter is a counter's value, 0 before it was ever set.
func (s *State) Counter(n string) uint64 {
	if c := get[grid.Counter](s, grid.KindCounter, name(n)); c != nil {
		return c.Value
	}
	return 0
}

// CQueues and its siblings return all objects of a kind in key order.
func (s *State) CQueues() []*grid.CQueue       { return list[*grid.CQueue](s, grid.KindCQueue) }
func (s *State) QInstances() []*grid.QInstance { return list[*grid.QInstance](s, grid.KindQInstance) }
func (s *State) ExecHosts() []*grid.ExecHost   { return list[*grid.ExecHost](s, grid.KindExecHost) }
func (s *State) PEs() []*grid.PE               { return list[*grid.PE](s, grid.KindPE) }
func (s *State) ARs() []*grid.AR               { return list[*grid.AR](s, grid.KindAR) }
func (s *State) Tokens() []*grid.Token         { return list[*grid.Token](s, grid.KindToken) }
func (s *State) Logins() []*grid.Login         { return list[*grid.Login](s, grid.KindLogin) }
func (s *State) Proposals() []*grid.Proposal   { return list[*grid.Proposal](s, grid.KindProposal) }
func (s *State) Centries() []*grid.Centry      { return list[*grid.Centry](s, grid.KindCentry) }

// EachNamed calls f with the objects of a kind whose names begin so, in order. Each costs a
// search: it is for few of many.
func (s *State) EachNamed(k grid.Kind, prefix string, f func(grid.Object)) {
	named := s.tables[k].rows.named
	for name, o, any := named.AtLeast(prefix); any && strings.HasPrefix(name, prefix); name, o, any = named.After(name) {
		f(o)
	}
}

// Tasks returns the enrolled tasks of a job in order.
func (s *State) Tasks(job uint32) []*grid.JATask { return ofJob[*grid.JATask](s, grid.KindJATask, job) }

// JobReservations returns the reservations of a job in the order of its tasks.
func (s *State) JobReservations(job uint32) []*grid.JobReservation {
	return ofJob[*grid.JobReservation](s, grid.KindJobReservation, job)
}

// ofJob returns the objects of a kind whose key is a job's number and a task's.
func ofJob[P grid.Object](s *State, k grid.Kind, job uint32) []P {
	rows := s.tables[k].rows.numbered
	of := rows.Range(number(grid.Key{ID: job}), number(grid.Key{ID: job, Sub: math.MaxUint32}))
	if len(of) == 0 {
		return nil
	}
	out := make([]P, len(of))
	for i, o := range of {
		out[i] = o.(P)
	}
	return out
}

func (s *State) PETask(key grid.Key) *grid.PETask { return get[grid.PETask](s, grid.KindPETask, key) }

// PETasks returns what a task has started with qrsh -inherit, and past_usage.
func (s *State) PETasks(job, task uint32) []*grid.PETask {
	if s.Len(grid.KindPETask) == 0 {
		return nil
	}
	var out []*grid.PETask
	s.From(grid.KindPETask, grid.Key{ID: job, Sub: task}, func(o grid.Object) bool {
		t := o.(*grid.PETask)
		if t.Job != job || t.Task != task {
			return false
		}
		out = append(out, t)
		return true
	})
	return out
}

// OnHost returns the started tasks that hold slots on a host, in order; for "global" those that
// hold instances of a resource map there.
func (s *State) OnHost(host string) []*grid.JATask {
	var out []*grid.JATask
	s.EachOnHost(host, func(t *grid.JATask) { out = append(out, t) })
	return out
}

// EachOnHost calls f with the tasks of OnHost.
func (s *State) EachOnHost(host string, f func(*grid.JATask)) {
	s.onHost.rows.Ascend(hostTask{host: host}, func(p hostTask) bool {
		if p.host != host {
			return false
		}
		f(p.of)
		return true
	})
}

// Successors returns the jobs that wait for the end of one, in order.
func (s *State) Successors(of uint32) []uint32 { return jobsOf(s.successors.rows, of) }

// EachSuccessor calls f with the jobs after one that wait for the end of another, in order, until f returns false.
func (s *State) EachSuccessor(of, after uint32, f func(job uint32) bool) {
	s.successors.rows.Ascend(dependency{of, after + 1}, func(d dependency) bool { return d.on == of && f(d.job) })
}

// EachAwaited calls f with the jobs for whose end others wait, each once and in order, until f returns false.
func (s *State) EachAwaited(f func(job uint32) bool) {
	for d, any := s.successors.rows.Min(); any && f(d.on); {
		d, any = s.successors.rows.After(dependency{d.on, math.MaxUint32})
	}
}

// JobsOf returns the jobs of an advance reservation, in order.
func (s *State) JobsOf(ar uint32) []uint32 { return jobsOf(s.reserved.rows, ar) }

func jobsOf(index ordered.Set[dependency], of uint32) []uint32 {
	var out []uint32
	for _, d := range index.Range(dependency{on: of}, dependency{of, math.MaxUint32}) {
		out = append(out, d.job)
	}
	return out
}

// Owners calls f with the owner of every job, each once and in order, until f
// returns false. The cost depends on the number of owners, not of jobs.
func (s *State) Owners(f func(owner string) bool) {
	for from := (ownership{}); ; {
		o, any := s.owned.rows.AtLeast(from)
		if !any || !f(o.owner) {
			return
		}
		from = ownership{owner: o.owner + "\x00"}
	}
}

// EachOwned calls f with every job of an owner in the order of their numbers, until
// f returns false. f must not apply events to this State.
func (s *State) EachOwned(owner string, f func(*grid.Job) bool) {
	s.owned.rows.Ascend(ownership{owner: owner}, func(o ownership) bool {
		return o.owner == owner && f(s.Job(o.job))
	})
}

// Owned is the number of jobs of an owner.
func (s *State) Owned(owner string) (n int) {
	s.owned.rows.Ascend(ownership{owner: owner}, func(o ownership) bool {
		if o.owner == owner {
			n++
		}
		return o.owner == owner
	})
	return n
}

// Member reports whether a host belongs to a host group, directly or through
// other groups.
func (s *State) Member(group, host string) bool {
	s.resolveGroups()
	return s.members[group][host]
}

// QueueState is what a queue instance is in whatever its host's load: its stored
// states, and c when its configuration is ambiguous.
func (s *State) QueueState(qi *grid.QInstance) grid.QueueState {
	q := s.CQueue(qi.Queue)
	if q != nil && q.Contested().Ambiguous(qi.Host, func(group string) bool { return s.Member(group, qi.Host) }) != nil {
		return qi.State | grid.QueueAmbiguous
	}
	return qi.State
}

// resolveGroups finds all members of all host groups, once per change.
func (s *State) resolveGroups() {
	if s.members != nil {
		return
	}
	s.members = map[string]map[string]bool{}
	s.Each(grid.KindHGroup, func(o grid.Object) bool {
		m := map[string]bool{}
		s.collect(o.Key().Name, m, map[string]bool{})
		s.members[o.Key().Name] = m
		return true
	})
}

// Hosts resolves a list of hosts and host groups to hosts, sorted.
func (s *State) Hosts(of grid.Names) grid.Names {
	m := map[string]bool{}
	for _, n := range of {
		if n != "" && n[0] == '@' {
			s.collect(n, m, map[string]bool{})
		} else {
			m[n] = true
		}
	}
	out := make(grid.Names, 0, len(m))
	for h := range m {
		out = append(out, h)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

func (s *State) collect(group string, into, seen map[string]bool) {
	g := s.HGroup(group)
	if g == nil || seen[group] {
		return
	}
	seen[group] = true
	for _, n := range g.HostList {
		if n != "" && n[0] == '@' {
			s.collect(n, into, seen)
		} else {
			into[n] = true
		}
	}
}

// IsManager and IsOperator answer for a user; managers are operators too.
func (s *State) IsManager(user string) bool { return s.Get(grid.KindManager, name(user)) != nil }
func (s *State) IsOperator(user string) bool {
	return s.IsManager(user) || s.Get(grid.KindOperator, name(user)) != nil
}

// Without returns a copy without objects of some kinds.
func (s *State) Without(kinds ...grid.Kind) *State {
	c := s.Copy()
	l := events.List{Seq: s.Seq, At: s.At}
	for _, k := range kinds {
		s.Each(k, func(o grid.Object) bool {
			l.Events = append(l.Events, events.Del(k, o.Key()))
			return true
		})
	}
	c.Apply(l)
	return c
}
