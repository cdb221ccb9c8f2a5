package qstat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// entry is what rows need of a job. job is the whole of it when an option
// shows more, or when resources that its tasks hold are booked; else nil.
type entry struct {
	id, slots   uint32
	atOnce      uint32 // tasks that may run: -tc, with -j max_aj_instances too; 0 is no limit
	submit      grid.Time
	name, owner string
	priority    float64        // of what waits
	found       *grid.Priority // what the scheduler found, nil: nothing yet
	reckoned    bool           // priority follows from what it found of all jobs
	ran         *grid.Priority // reckoned, of a job that runs before anything was told of it
	parts       *parts         // of arrays and of jobs with holds
	tasks       []*grid.JATask
	petasks     []*grid.PETask // with -t, and -g t -ext
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

func newEntry(j *grid.Job, now grid.Time, whole bool) entry {
	e := entry{id: j.ID, atOnce: j.Concurrency, submit: j.Submit, name: j.Name, owner: j.Owner,
		array: j.Array, dependent: len(j.Predecessors) > 0, later: j.ExecTime > now}
	e.plain = !j.Array && len(j.Pending) > 0
	if j.Array || j.AnyHold() {
		e.parts = &parts{j.Pending, j.UserHold, j.OperHold, j.SysHold, j.ArrayHold}
	}
	if whole {
		e.job = j
	}
	return e
}

// listing is the jobs of a moment.
type listing struct {
	now       grid.Time
	whole     bool       // keep whole jobs; else only of those with tasks that came before
	users     grid.Names // only theirs; empty: everybody's
	entries   []*entry
	tasks     []*grid.JATask
	petasks   []*grid.PETask // with -t, and -g t -ext
	found     []*grid.Priority
	reckoning reckoning
	block     []entry // where the next entries go: many are made at once
}

func (l *listing) add(o grid.Object) {
	switch o := o.(type) {
	case *grid.JATask:
		l.tasks = append(l.tasks, o)
	case *grid.PETask:
		l.petasks = append(l.petasks, o)
	case *grid.Priority:
		l.found = append(l.found, o)
	case *grid.Job:
		if len(l.block) == cap(l.block) {
			l.block = make([]entry, 0, 1024)
		}
		e := newEntry(o, l.now, l.whole || l.hasTasks(o.ID))
		e.theirs = len(l.users) == 0 || slices.ContainsFunc(l.users, func(u string) bool { return owned(o, u) })
		e.slots = l.reckoning.slots(o)
		l.reckon(&e, o)
		l.block = append(l.block, e)
		l.entries = append(l.entries, &l.block[len(l.block)-1])
	default:
		l.reckoning.add(o)
	}
}

// hasTasks says whether tasks of the job were told already.
func (l *listing) hasTasks(job uint32) bool {
	_, found := l.firstTask(job)
	return found
}

// unite puts what several Gets told into key order, each object once.
func (l *listing) unite() {
	slices.SortFunc(l.entries, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	l.entries = slices.CompactFunc(l.entries, func(a, b *entry) bool { return a.id == b.id })
	slices.SortFunc(l.tasks, func(a, b *grid.JATask) int { return a.Key().Compare(b.Key()) })
	l.tasks = slices.CompactFunc(l.tasks, func(a, b *grid.JATask) bool { return a.Key() == b.Key() })
	slices.SortFunc(l.found, func(a, b *grid.Priority) int { return cmp.Compare(a.Job, b.Job) })
}

// join gives each job its tasks and its priority; all came in key order. What
// waits of a job and has not been looked at since it ran has the priority with
// which it ran, and 0 while as many tasks run as may.
func (l *listing) join() {
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
func (l *listing) keepOwned() {
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool { return !e.theirs })
}

// owned says whether a word of -u stands for a job's owner: a user, a pattern,
// or a @group.
func owned(j *grid.Job, word string) bool {
	if isGroup(word) {
		return pattern.Match(word[1:], j.Group)
	}
	return pattern.Match(word, j.Owner)
}

func isGroup(word string) bool { return strings.HasPrefix(word, "@") }

// row is one line of a listing: a started task, or pending tasks of a job that
// are in the same state.
type row struct {
	*entry
	task      *grid.JATask // nil: of tasks that were never started
	ids       grid.Ranges  // the tasks of an array; nil for a plain job
	letters   string
	at        grid.Time
	queue     string
	slots     uint32
	master    string       // with -g t
	finished  bool         // of -s z
	continued bool         // further slots in the same queue: -g t leaves out the rest
	petask    *grid.PETask // what runs in the slot, nil: nothing that is known
}

// place selects the grants of a task that are shown: those in one queue
// instance, or all of them under the first.
type place func(g grid.Grant) bool

// started calls each with the rows of one started task.
func (o *options) started(e *entry, t *grid.JATask, where place, firstTask func(pe string) bool, each func(*row)) {
	d := grid.Display{Status: t.Status, State: t.State, Hold: e.held(t.ID), Restarted: t.Restarted}
	r := row{entry: e, task: t, letters: d.Letters(), at: t.Start}
	if e.array {
		r.ids = grid.Ranges{{First: t.ID, Last: t.ID, Step: 1}}
	}
	inSlots := e.inSlots(t)
	for n, g := range t.Grants {
		hidden := where != nil && !where(g)
		r.queue, r.slots = g.Instance(), g.Slots
		if !o.perSlot {
			if hidden {
				continue
			}
			if where == nil {
				r.slots = t.Slots()
			}
			each(&r)
			return
		}
		lines := g.Slots
		r.master, r.continued, r.slots = "SLAVE", false, 1
		if n == 0 {
			r.master = "MASTER"
			if t.PE != "" && !firstTask(t.PE) {
				lines++
			}
		}
		for ; lines > 0; lines-- {
			if r.petask = nil; r.master == "SLAVE" {
				r.petask = inSlots(g.Host)
			}
			if !hidden {
				each(&r)
			}
			r.master, r.continued = "SLAVE", true
		}
	}
}

// startedTasks says whether a task started others with qrsh -inherit.
func (e *entry) startedTasks(task uint32) bool {
	return slices.ContainsFunc(e.petasks, func(p *grid.PETask) bool { return p.Task == task && p.ID != grid.PastUsage })
}

// inSlots gives what runs in the slots of a task's hosts, one slot after the other.
func (e *entry) inSlots(t *grid.JATask) func(host string) *grid.PETask {
	rest := slices.Clone(e.petasks)
	return func(host string) *grid.PETask {
		n := slices.IndexFunc(rest, func(p *grid.PETask) bool { return p.Task == t.ID && p.Host == host && p.ID != grid.PastUsage })
		if n < 0 {
			return nil
		}
		p := rest[n]
		rest = slices.Delete(rest, n, n+1)
		return p
	}
}

// shows says whether -s selects a started task.
func (s stateSet) shows(t *grid.JATask) bool {
	if t.State&grid.StateSuspendedAny != 0 {
		return s&suspended != 0
	}
	return s&running != 0
}

func (e *entry) held(task uint32) bool {
	return e.holdsOf(task) != 0
}

// holdsOf are the holds of one task.
func (e *entry) holdsOf(task uint32) (s stateSet) {
	if e.dependent {
		s |= heldJob
	}
	if h := e.parts; h != nil {
		if h.user.Contains(task) {
			s |= heldUser
		}
		if h.oper.Contains(task) {
			s |= heldOperator
		}
		if h.sys.Contains(task) {
			s |= heldSystem
		}
		if h.array.Contains(task) {
			s |= heldArray
		}
	}
	return s
}

// waiting calls each with the rows of an entry's tasks that have not started:
// first those that were started before or failed, then those of the pending
// range, in groups of the same holds. Rows are made in r.
func (o *options) waiting(r *row, e *entry, each func(*row)) {
	*r = row{entry: e, at: e.submit, slots: e.slots}
	var idle []*row
	for _, t := range e.tasks {
		if t.Status != grid.Idle {
			continue
		}
		h := e.holdsOf(t.ID)
		d := grid.Display{Status: t.Status, State: t.State | grid.StateQueued | grid.StateWaiting, Hold: h != 0, Restarted: t.Restarted}
		letters := d.Letters()
		if !o.selects(e, h) {
			continue
		}
		n := slices.IndexFunc(idle, func(r *row) bool { return r.letters == letters && !o.perTask })
		if n < 0 {
			one := *r
			one.task, one.letters = t, letters
			idle, n = append(idle, &one), len(idle)
		}
		if e.array {
			idle[n].ids = idle[n].ids.With(t.ID)
		}
	}
	for _, r := range idle {
		each(r)
	}
	if e.plain {
		o.group(r, e.holdsOf(1), nil, each)
		return
	}
	if e.parts == nil || len(e.parts.pending) == 0 {
		return
	}
	if !e.parts.held() {
		o.group(r, e.holdsOf(0), e.parts.pending, each)
		return
	}
	var groups []stateSet
	e.parts.pending.Each(func(id uint32) bool {
		if h := e.holdsOf(id); !slices.Contains(groups, h) {
			groups = append(groups, h)
		}
		return true
	})
	slices.Sort(groups)
	for _, h := range groups {
		o.group(r, h, e.parts.pending.Filter(func(id uint32) bool { return e.holdsOf(id) == h }), each)
	}
}

// group prints tasks that never started and have the same holds.
func (o *options) group(r *row, h stateSet, ids grid.Ranges, each func(*row)) {
	if !o.selects(r.entry, h) {
		return
	}
	r.letters = "qw"
	if h != 0 {
		r.letters = "hqw"
	}
	r.task = nil
	if !o.perTask || ids == nil {
		r.ids = ids
		each(r)
		return
	}
	ids.Each(func(id uint32) bool {
		r.ids = grid.Ranges{{First: id, Last: id, Step: 1}}
		each(r)
		return true
	})
}

// selects says whether -s selects pending tasks with these holds.
func (o *options) selects(e *entry, h stateSet) bool {
	if e.later {
		h |= heldTime
	}
	return o.states&pending != 0 || o.states&h != 0
}

// sortPending puts entries in the order in which pending jobs are shown:
// highest priority first, then as submitted.
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
