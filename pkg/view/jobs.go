package view

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// JobFilter selects jobs and tasks as qstat(1) does. Zero values select all; States
// must be given.
type JobFilter struct {
	Users  grid.Names  // owners -u: names, patterns, @groups
	States JobStates   // -s
	Queues QueueFilter // tasks that stand in one of these instances, pending jobs that could run in one
}

// JobShow is what rows hold beside what they always do.
type JobShow struct {
	PerTask   bool // a row for each task of an array, -g d
	PerSlot   bool // a row for each slot of a started task, -g t
	PETasks   bool // what runs in a slot, -t
	Worth     bool // -urg and -pri
	Policy    bool // -ext
	Requested bool // -r
	Queues    bool // Jobs.View has rows of queues and hosts too
}

// Jobs is the jobs of one moment. Objects are added kind by kind as Get asks for
// them; of each job only what rows need is kept, so a hundred thousand pending jobs
// take a few dozen megabytes. Rows are made when they are read.
type Jobs struct {
	now    grid.Time
	filter JobFilter
	show   JobShow
	whole  bool // whole jobs are kept; else only of those with tasks that came before

	state   *state.State // all that is no job, task or priority; after Done with the started tasks
	known   bool         // there is such
	shared  bool         // the state has everything already, and is not ours
	base    *sched.Cluster
	conf    *grid.SchedConf
	within  *grid.PriorityRange
	entries []*entry
	ended   []*entry // -s z
	tasks   []*grid.JATask
	petasks []*grid.PETask
	found   []*grid.Priority
	block   []entry            // where the next entries go: many are made at once
	owners  map[[2]string]bool // owner and group: whether they were asked for
	looked  *grid.Job          // whose owner was looked at last: jobs of one often come together
	theirs  bool               // what was found

	view    *View
	queues  []Queue              // that are selected, when not all are
	stands  map[[2]string]bool   // the same by queue and host; nil: all
	running map[string][]started // by queue instance, made when asked for
	hosted  map[string][]started // by host
	out     Job                  // the row that is being read
	more    jobParts             // what it points to
}

// entry is what rows need of a job. job is the whole of it when rows show more, or
// when resources that its tasks hold are counted; else nil.
type entry struct {
	id, slots   uint32
	atOnce      uint32 // tasks that may run: -tc, with -j max_aj_instances too; 0 is no limit
	submit      grid.Time
	name, owner string
	priority    float64        // of what waits
	found       *grid.Priority // what the scheduler found, nil: nothing yet
	reckoned    bool           // priority follows from what it found of all jobs
	ran         *grid.Priority // reckoned, of a job that runs before anything was reported of it
	parts       *parts         // of arrays and of jobs with holds
	tasks       []*grid.JATask
	petasks     []*grid.PETask
	job         *grid.Job
	array       bool
	plain       bool // a plain job whose task is pending
	full        bool // as many tasks run as may: what waits is not in line, and worth 0
	dependent   bool // waits for predecessors
	later       bool // -a lies ahead
	theirs      bool // of one of the users who were asked for
}

// parts are the tasks of an entry that have not left the pending range, and
// those of all that are held: u o s and array.
type parts struct{ pending, user, oper, sys, array grid.Ranges }

func (p *parts) held() bool { return len(p.user)+len(p.oper)+len(p.sys)+len(p.array) > 0 }

// NewJobs returns the listing of a moment, empty.
func NewJobs(now grid.Time, f JobFilter, show JobShow) *Jobs {
	return &Jobs{now: now, filter: f, show: show, state: state.New(),
		whole: show.Worth || show.Policy || show.Requested || f.Queues.Configured()}
}

// Jobs returns the listing of all jobs of the state, Done.
func (v *View) Jobs(now grid.Time, f JobFilter, show JobShow) (*Jobs, error) {
	l := NewJobs(now, f, show)
	l.state, l.base, l.known, l.shared, l.view = v.state, v.cluster, true, true, v
	l.conf, l.within = v.state.SchedConf(), v.state.PriorityRange()
	for _, k := range []grid.Kind{grid.KindPriority, grid.KindJATask, grid.KindPETask} {
		v.state.Each(k, func(o grid.Object) bool { l.Add(o); return true })
	}
	v.state.Each(grid.KindJob, func(o grid.Object) bool {
		if l.owned(o.(*grid.Job)) { // the state counts what the others use
			l.Add(o)
		}
		return true
	})
	return l, l.Done()
}

// needsCluster reports whether rows need more than jobs and tasks.
func (l *Jobs) needsCluster() bool {
	return l.show.Queues || l.show.PerSlot || l.show.Requested || !l.filter.Queues.Empty()
}

// Get asks for the objects that are to be added.
func (l *Jobs) Get() gdi.Get {
	get := gdi.Get{Kinds: slices.Clone(worthKinds), Where: gdi.Where{Brief: true}}
	if l.needsCluster() {
		get.Kinds = append(get.Kinds, slices.DeleteFunc(ClusterKinds(), func(k grid.Kind) bool {
			return slices.Contains(worthKinds, k)
		})...)
	} else if !slices.ContainsFunc(l.filter.Users, isGroup) {
		get.Where.Owners = l.filter.Users
	}
	get.Kinds = append(get.Kinds, grid.KindPriority, grid.KindJATask, grid.KindJob)
	if l.show.PETasks || l.show.PerSlot && l.show.Policy {
		get.Kinds = append(get.Kinds, grid.KindPETask)
	}
	return get
}

// Add adds one object.
func (l *Jobs) Add(o grid.Object) {
	switch o := o.(type) {
	case *grid.JATask:
		l.tasks = append(l.tasks, o)
	case *grid.PETask:
		l.petasks = append(l.petasks, o)
	case *grid.Priority:
		l.found = append(l.found, o)
	case *grid.Job:
		e := l.newEntry(o, l.whole || l.hasTasks(o.ID))
		l.reckon(e, o)
		l.entries = append(l.entries, e)
	default:
		l.known = true
		l.apply(o)
	}
}

// AddFinished adds a job that has ended or was deleted, -s z.
func (l *Jobs) AddFinished(j *grid.Job) {
	if e := l.newEntry(j, true); e.theirs {
		l.ended = append(l.ended, e)
	}
}

func (l *Jobs) apply(o grid.Object) {
	l.state.Apply(events.List{Events: []events.Event{events.Listed(o)}})
}

func (l *Jobs) newEntry(j *grid.Job, whole bool) *entry {
	if len(l.block) == cap(l.block) {
		l.block = make([]entry, 0, 1024)
	}
	l.block = append(l.block, entry{id: j.ID, atOnce: j.Concurrency, submit: j.Submit, name: j.Name, owner: j.Owner,
		array: j.Array, dependent: len(j.Predecessors) > 0, later: j.ExecTime > l.now})
	e := &l.block[len(l.block)-1]
	e.plain = !j.Array && len(j.Pending) > 0
	if j.Array || j.AnyHold() {
		e.parts = &parts{j.Pending, j.UserHold, j.OperHold, j.SysHold, j.ArrayHold}
	}
	if whole {
		e.job = j
	}
	e.theirs = l.owned(j)
	e.slots = l.assumedSlots(j)
	return e
}

// hasTasks reports whether tasks of the job were added already.
func (l *Jobs) hasTasks(job uint32) bool {
	_, found := l.firstTask(job)
	return found
}

// Done ends adding. It fails as View.Queues does, but not with a NoneLeftError.
func (l *Jobs) Done() error {
	l.join()
	if !l.needsCluster() {
		l.keepOwned()
		return nil
	}
	l.count()
	l.keepOwned()
	if l.filter.Queues.Empty() {
		return nil
	}
	queues, err := l.view.left(l.filter.Queues)
	if err != nil {
		return err
	}
	l.queues, l.stands = queues, map[[2]string]bool{}
	for _, q := range queues {
		l.stands[[2]string{q.Queue, q.Host}] = true
	}
	return nil
}

// count adds tasks and their jobs to the state, which is what the View counts.
func (l *Jobs) count() {
	if l.shared {
		return
	}
	for _, e := range l.entries {
		if len(e.tasks) == 0 {
			continue
		}
		l.apply(e.job)
		for _, t := range e.tasks {
			l.apply(t)
		}
	}
	l.view = Of(l.state)
}

// View makes rows of queues and hosts of the same moment. It is nil before Done and
// when nothing needs it.
func (l *Jobs) View() *View { return l.view }

// join gives each job its tasks and its priority; all came in key order. Pending tasks of
// a job that no scheduling run has considered since one of its tasks ran have the
// priority with which that ran, and 0 while as many tasks run as may.
func (l *Jobs) join() {
	rest, found, petasks := l.tasks, l.found, l.petasks
	for _, e := range l.entries {
		for len(rest) > 0 && rest[0].Job < e.id {
			rest = rest[1:]
		}
		for len(found) > 0 && found[0].Job < e.id {
			found = found[1:]
		}
		if len(found) > 0 && found[0].Job == e.id && !e.reckoned {
			e.found, e.priority = found[0], found[0].Priority
		}
		n, started := 0, uint32(0)
		for n < len(rest) && rest[n].Job == e.id {
			if rest[n].Started() {
				started++
			}
			if rest[n].Status == grid.Idle && e.found == nil && !e.reckoned {
				e.priority = max(e.priority, rest[n].Priority)
			}
			n++
		}
		if n > 0 {
			e.tasks, rest = rest[:n:n], rest[n:]
		}
		if e.full = e.atOnce > 0 && started >= e.atOnce; e.full {
			e.priority = 0
		}
		for len(petasks) > 0 && petasks[0].Job <= e.id {
			if petasks[0].Job == e.id {
				e.petasks = append(e.petasks, petasks[0])
			}
			petasks = petasks[1:]
		}
	}
}

// keepOwned drops the jobs of users who were not asked for.
func (l *Jobs) keepOwned() {
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool { return !e.theirs })
}

// owned reports whether a job is one of the users' who were asked for.
func (l *Jobs) owned(j *grid.Job) bool {
	if len(l.filter.Users) == 0 {
		return true
	}
	if l.looked != nil && l.looked.Owner == j.Owner && l.looked.Group == j.Group {
		return l.theirs
	}
	of := [2]string{j.Owner, j.Group}
	theirs, known := l.owners[of]
	if !known {
		theirs = slices.ContainsFunc(l.filter.Users, func(u string) bool { return owned(j, u) })
		if l.owners == nil {
			l.owners = map[[2]string]bool{}
		}
		l.owners[of] = theirs
	}
	l.looked, l.theirs = j, theirs
	return theirs
}

// owned reports whether a word of -u stands for a job's owner: a user, a pattern,
// or a @group.
func owned(j *grid.Job, word string) bool {
	if isGroup(word) {
		return pattern.Match(word[1:], j.Group)
	}
	return pattern.Match(word, j.Owner)
}

func isGroup(word string) bool { return strings.HasPrefix(word, "@") }

// Grants are those of all tasks that were added.
func (l *Jobs) Grants() iter.Seq[grid.Grant] {
	return func(yield func(grid.Grant) bool) {
		for _, t := range l.tasks {
			for _, g := range t.Grants {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// started is a started task with its job.
type started struct {
	*entry
	task *grid.JATask
}

// eachStarted calls f with the started tasks that are selected by their state
// until it returns false.
func (l *Jobs) eachStarted(f func(*entry, *grid.JATask) bool) {
	for _, e := range l.entries {
		for _, t := range e.tasks {
			if t.Started() && l.filter.States.shows(t) && !f(e, t) {
				return
			}
		}
	}
}

// shows reports whether a started task is selected.
func (s JobStates) shows(t *grid.JATask) bool {
	if t.State&grid.StateSuspendedAny != 0 {
		return s&JobsSuspended != 0
	}
	return s&JobsRunning != 0
}

// Running are the rows of started tasks, by job and task. A row holds until the
// next one; so do those of the other sequences.
func (l *Jobs) Running() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		l.eachStarted(func(e *entry, t *grid.JATask) bool {
			return l.stands != nil && !l.granted(t) || l.started(e, t, l.show.PerSlot, nil, yield)
		})
	}
}

// granted reports whether a task holds slots in one of the instances that were
// asked for; without a row per slot it stands where its master runs.
func (l *Jobs) granted(t *grid.JATask) bool {
	for n, g := range t.Grants {
		if n > 0 && !l.show.PerSlot {
			break
		}
		if l.stands[[2]string{g.Queue, g.Host}] {
			return true
		}
	}
	return false
}

// RunningIn are the rows of started tasks in a queue instance.
func (l *Jobs) RunningIn(instance string) iter.Seq[*Job] {
	if l.running == nil {
		l.running = l.group(grid.Grant.Instance)
	}
	return l.runningAt(l.running[instance], func(g grid.Grant) bool { return g.Instance() == instance })
}

// Busy reports whether RunningIn has rows.
func (l *Jobs) Busy(instance string) bool {
	for range l.RunningIn(instance) {
		return true
	}
	return false
}

// RunningOn are the rows of started tasks at a host.
func (l *Jobs) RunningOn(host string) iter.Seq[*Job] {
	if l.hosted == nil {
		l.hosted = l.group(func(g grid.Grant) string { return g.Host })
	}
	return l.runningAt(l.hosted[host], func(g grid.Grant) bool { return g.Host == host })
}

func (l *Jobs) runningAt(tasks []started, here func(grid.Grant) bool) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, s := range tasks {
			if !l.started(s.entry, s.task, l.show.PerSlot, here, yield) {
				return
			}
		}
	}
}

// group gives the started tasks by the place of their grants, each once.
func (l *Jobs) group(place func(grid.Grant) string) map[string][]started {
	out := map[string][]started{}
	l.eachStarted(func(e *entry, t *grid.JATask) bool {
		for _, g := range t.Grants {
			at := place(g)
			if list := out[at]; len(list) == 0 || list[len(list)-1].task != t {
				out[at] = append(list, started{e, t})
			}
		}
		return true
	})
	return out
}

// Waiting are the rows of pending tasks in the order in which jobs are shown: the
// highest priority first, then as submitted.
func (l *Jobs) Waiting() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		if l.filter.States&(JobsPending|JobsHeld) != 0 {
			sortPending(l.entries)
		}
		l.Unordered(false)(yield)
	}
}

// Unordered are the rows of Waiting for a reader that has an order of its own: jobs are not sorted, but come as they
// were added, or the last one first.
func (l *Jobs) Unordered(lastFirst bool) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		if l.filter.States&(JobsPending|JobsHeld) == 0 {
			return
		}
		entries := slices.All(l.entries)
		if lastFirst {
			entries = slices.Backward(l.entries)
		}
		for _, e := range entries {
			if l.filter.Queues.Configured() && !l.view.CanRun(e.job, l.queues) {
				continue
			}
			if !l.waiting(e, yield) {
				return
			}
		}
	}
}

// Finished are the rows of jobs that were added with AddFinished.
func (l *Jobs) Finished() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, e := range l.ended {
			r := row{entry: e, section: JobFinished, letters: "z", at: e.submit, slots: e.slots}
			if e.array {
				r.ids = grid.Ranges{e.job.Tasks}
			}
			if !yield(l.row(&r)) {
				return
			}
		}
	}
}

func sortPending(entries []*entry) {
	slices.SortFunc(entries, func(a, b *entry) int {
		if c := cmp.Compare(b.priority, a.priority); c != 0 {
			return c
		}
		if c := cmp.Compare(a.submit, b.submit); c != 0 {
			return c
		}
		return cmp.Compare(a.id, b.id)
	})
}
