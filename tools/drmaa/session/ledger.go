package session

import (
	"maps"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// sessionLedger is what the events say of one session's jobs. It is an events.Sink.
type sessionLedger struct {
	session string
	now     *state.State // of nothing but these jobs
	jobs    map[uint32]*ledgerEntry
	over    []jobID // tasks that have ended and were not reaped, in that order
}

// ledgerEntry is a job of which not all tasks have been reaped.
type ledgerEntry struct {
	id      uint32
	array   bool
	live    grid.Ranges                 // tasks that have not ended
	records map[uint32]*grid.Accounting // of those about to end
	ends    map[uint32]*grid.Accounting // how the others ended; nil: without having run, or not known
}

func newLedger(session string) *sessionLedger {
	return &sessionLedger{session: session, now: state.New(), jobs: map[uint32]*ledgerEntry{}}
}

// Apply takes what a list says of the session's jobs. In a full state tasks follow
// their job: which of them have ended is known when all was received, see settleAll.
func (l *sessionLedger) Apply(list events.List) {
	own, full := list, false
	own.Events = nil
	touched := map[uint32]*ledgerEntry{}
	for _, e := range list.Events {
		full = full || e.Op == events.OpList
		if en := l.entryOf(e); en != nil {
			own.Events = append(own.Events, e)
			touched[en.id] = en
		}
	}
	l.now.Apply(own)
	if full {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		l.settle(touched[id])
	}
}

// entryOf is the job of the session that an event is about; nil: none. Records of
// slave tasks and of attempts that are repeated are about nothing.
func (l *sessionLedger) entryOf(e events.Event) *ledgerEntry {
	en := l.jobs[e.Key.ID]
	switch e.Kind {
	case grid.KindJob:
		if j, ok := e.Object.(*grid.Job); ok && en == nil && j.Spec != nil && j.Spec.Session == l.session {
			en = &ledgerEntry{id: j.ID, array: j.Array, live: grid.Ranges{j.Tasks},
				records: map[uint32]*grid.Accounting{}, ends: map[uint32]*grid.Accounting{}}
			l.jobs[j.ID] = en
		}
		return en
	case grid.KindJATask:
		return en
	case grid.KindAccounting:
		if a := e.Object.(*grid.Accounting); en != nil && a.PETask == "" && !a.Rescheduled {
			en.records[a.Task] = a
			return en
		}
	}
	return nil
}

// settle finds the tasks of a job that have ended: neither pending nor there.
func (l *sessionLedger) settle(en *ledgerEntry) {
	ended := en.live
	if j := l.now.Job(en.id); j != nil {
		ended = ended.Minus(j.Pending).Filter(func(n uint32) bool { return l.now.Task(en.id, n) == nil })
	}
	en.live = en.live.Minus(ended)
	ended.Each(func(n uint32) bool {
		en.ends[n] = en.records[n]
		delete(en.records, n)
		l.over = append(l.over, en.name(n))
		return true
	})
}

// settleAll is settle for all jobs, in order.
func (l *sessionLedger) settleAll() {
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		l.settle(l.jobs[id])
	}
}

// correct continues from a full state that another ledger received: how jobs
// ended after the last list of this one is unknown.
func (l *sessionLedger) correct(full *sessionLedger) {
	l.now = full.now
	for id, en := range full.jobs {
		if l.jobs[id] == nil {
			l.jobs[id] = en
		}
	}
	l.settleAll()
}

// name is how a task of the job is called.
func (en *ledgerEntry) name(task uint32) jobID {
	if !en.array {
		task = 0
	}
	return jobID{en.id, task}
}

// find is the entry and the task that an id names: the only one of a plain job. A
// task that was reaped, or an array as a whole, is none.
func (l *sessionLedger) find(id jobID) (en *ledgerEntry, task uint32, ok bool) {
	if en = l.jobs[id.job]; en == nil || en.array != (id.task > 0) {
		return nil, 0, false
	}
	task = max(id.task, 1)
	_, ended := en.ends[task]
	return en, task, ended || en.live.Contains(task)
}

// state is where a task of the session is; ok is false for those of others.
func (l *sessionLedger) state(id jobID) (s State, ok bool) {
	en, task, ok := l.find(id)
	switch {
	case !ok:
		return Undetermined, false
	case en.live.Contains(task):
		return stateOf(l.now.Job(id.job), l.now.Task(id.job, task), task), true
	case statusOf(en.ends[task]).Aborted():
		return Failed, true
	}
	return Done, true
}

// ended reports whether a job or a task has ended, or is none of the session's.
func (l *sessionLedger) ended(id jobID) bool {
	en := l.jobs[id.job]
	if en == nil {
		return true
	}
	if id.task == 0 {
		return len(en.live) == 0
	}
	return !en.live.Contains(id.task)
}

// reap forgets a task that has ended and returns how.
func (l *sessionLedger) reap(id jobID) (a *grid.Accounting) {
	en, task, ok := l.find(id)
	if !ok || en.live.Contains(task) {
		return nil
	}
	a = en.ends[task]
	delete(en.ends, task)
	if l.over[0] == id { // as mostly: of many that is quick
		l.over = l.over[1:]
	} else {
		l.over = slices.DeleteFunc(l.over, func(o jobID) bool { return o == id })
	}
	if len(en.ends) == 0 && len(en.live) == 0 {
		delete(l.jobs, id.job)
	}
	return a
}

// dispose forgets what has ended of a job, or a task that has.
func (l *sessionLedger) dispose(id jobID) {
	en := l.jobs[id.job]
	if en == nil || id.task > 0 {
		l.reap(id)
		return
	}
	clear(en.ends)
	l.over = slices.DeleteFunc(l.over, func(o jobID) bool { return o.job == id.job })
	if len(en.live) == 0 {
		delete(l.jobs, id.job)
	}
}
