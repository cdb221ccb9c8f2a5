package session

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// ledger is what the events say of one session's jobs. It is an events.Sink.
type ledger struct {
	session string
	seq     uint64 // of the last list
	jobs    map[uint32]*entry
	over    []jobID // tasks that have ended and were not reaped, in that order
}

// entry is a job of which not all tasks have been reaped.
type entry struct {
	job     *grid.Job // as last told
	gone    bool
	tasks   map[uint32]*grid.JATask     // those with an object of their own
	live    grid.Ranges                 // those that have not ended
	records map[uint32]*grid.Accounting // of those about to end
	ends    map[uint32]*grid.Accounting // how the others ended; nil: without having run, or nobody knows
}

func newLedger(session string) *ledger {
	return &ledger{session: session, jobs: map[uint32]*entry{}}
}

// Apply takes what a list says of the session's jobs.
func (l *ledger) Apply(list events.List) {
	var touched []*entry
	for _, e := range list.Events {
		en := l.jobs[e.Key.ID]
		if j, ok := e.Object.(*grid.Job); ok && en == nil && j.Spec != nil && j.Spec.Session == l.session {
			en = &entry{tasks: map[uint32]*grid.JATask{}, live: grid.Ranges{j.Tasks},
				records: map[uint32]*grid.Accounting{}, ends: map[uint32]*grid.Accounting{}}
			l.jobs[j.ID] = en
		}
		if en == nil || !en.take(e) {
			continue
		}
		if !slices.Contains(touched, en) {
			touched = append(touched, en)
		}
	}
	l.seq = list.Seq
	if full := len(list.Events) > 0 && list.Events[0].Op == events.OpList; full {
		return // tasks follow their job
	}
	for _, en := range touched {
		l.settle(en)
	}
}

// take notes what an event says of the job.
func (en *entry) take(e events.Event) bool {
	switch e.Kind {
	case grid.KindJob:
		if en.gone = e.Op == events.OpDel; !en.gone {
			en.job = e.Object.(*grid.Job)
		}
	case grid.KindJATask:
		if e.Op == events.OpDel {
			delete(en.tasks, e.Key.Sub)
		} else {
			en.tasks[e.Key.Sub] = e.Object.(*grid.JATask)
		}
	case grid.KindAccounting:
		if a := e.Object.(*grid.Accounting); a.PETask == "" && !a.Rescheduled {
			en.records[a.Task] = a
		}
	default:
		return false
	}
	return true
}

// settle finds the tasks that have ended: neither pending nor there.
func (l *ledger) settle(en *entry) {
	ended := en.live
	if !en.gone {
		ended = ended.Minus(en.job.Pending).Filter(func(n uint32) bool { return en.tasks[n] == nil })
	}
	en.live = en.live.Minus(ended)
	ended.Each(func(n uint32) bool {
		en.ends[n] = en.records[n]
		delete(en.records, n)
		delete(en.tasks, n)
		l.over = append(l.over, en.id(n))
		return true
	})
}

// id is how a task of the job is named.
func (en *entry) id(task uint32) jobID {
	if !en.job.Array {
		task = 0
	}
	return jobID{en.job.ID, task}
}

// correct holds the ledger against the full state that another one was told
// later: what has ended meanwhile, nobody knows how.
func (l *ledger) correct(now *ledger) {
	for id, en := range l.jobs {
		fresh := now.jobs[id]
		if fresh == nil {
			en.gone = true
		} else {
			en.job, en.tasks = fresh.job, fresh.tasks
		}
		l.settle(en)
	}
	for id, en := range now.jobs {
		if l.jobs[id] == nil {
			l.settle(en)
			l.jobs[id] = en
		}
	}
	l.seq = now.seq
}

// find is the entry and the task that an id names: the only one of a plain job. A
// task that was reaped, or an array as a whole, is none.
func (l *ledger) find(id jobID) (en *entry, task uint32, ok bool) {
	if en = l.jobs[id.job]; en == nil {
		return nil, 0, false
	}
	if task = id.task; task == 0 && !en.job.Array {
		task = 1
	}
	_, ended := en.ends[task]
	return en, task, ended || en.live.Contains(task)
}

// state is where a task of the session is; ok is false for those of others.
func (l *ledger) state(id jobID) (s State, ok bool) {
	en, task, ok := l.find(id)
	if !ok {
		return 0, false
	}
	if en.live.Contains(task) {
		return stateOf(en.job, en.tasks[task], task), true
	}
	if statusOf(en.ends[task]).Aborted() {
		return Failed, true
	}
	return Done, true
}

// running are the tasks that have not ended, by job.
func (l *ledger) running() map[uint32]grid.Ranges {
	all := map[uint32]grid.Ranges{}
	for id, en := range l.jobs {
		if len(en.live) > 0 {
			all[id] = en.live
		}
	}
	return all
}

// ended says whether a task has ended, or is none of the session's.
func (l *ledger) ended(id jobID) bool {
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
func (l *ledger) reap(id jobID) (a *grid.Accounting) {
	en, task, ok := l.find(id)
	if !ok {
		return nil
	}
	a = en.ends[task]
	delete(en.ends, task)
	l.over = slices.DeleteFunc(l.over, func(o jobID) bool { return o == id })
	if len(en.ends) == 0 && len(en.live) == 0 {
		delete(l.jobs, id.job)
	}
	return a
}

// unreaped are all jobs of the session.
func (l *ledger) unreaped() (ids []jobID) {
	for id := range l.jobs {
		ids = append(ids, jobID{job: id})
	}
	return ids
}

// dispose forgets a task that has ended, or those of a job.
func (l *ledger) dispose(id jobID) {
	en := l.jobs[id.job]
	if en == nil {
		return
	}
	if id.task > 0 || !en.job.Array {
		l.reap(id)
		return
	}
	delete(l.jobs, id.job)
	l.over = slices.DeleteFunc(l.over, func(o jobID) bool { return o.job == id.job })
}
