package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// waiters are the clients that wait for a job, and how recently ended jobs
// ended and where their output is. Lost with the process: clients ask again, and read the
// accounting for what ended meanwhile.
type waiters struct {
	*step
	jobs  map[uint32][]waiter
	ends  map[uint32][]*grid.Accounting // of jobs that are not over; nil: too many
	hosts map[uint32][]string           // where the tasks of each record have run
	over  []end                         // jobs that are, oldest first
	kept  int                           // records in over
	bytes int                           // what over has
	open  int                           // records in ends
	pe    peWaiters
}

// end is how the tasks of a job that is over have ended.
type end struct {
	files   files
	records []*grid.Accounting
	hosts   []string // of each record
	partial bool     // there may be more records: clients that wait read the accounting
}

type waiter struct {
	ref uint64
	end bool
}

const (
	// endsKept is how many ended jobs, and PE tasks, are stored for a late Wait.
	endsKept = 4096
	// recordsKept is how many records those jobs have together at most, and one job
	// alone: an answer is one message.
	recordsKept = 100_000
	// bytesKept is about how many bytes the ended jobs take at most: names and paths are their users'.
	bytesKept = 64 << 20
	// openKept is how many records of jobs that are not over are stored.
	openKept = 1_000_000
)

// wait answers when the job has started or ended.
func (w *waiters) wait(ref uint64, b *gdi.Wait) {
	if b.PETask != "" {
		w.waitPETask(ref, b)
		return
	}
	ended := b.For == "ended"
	if w.state.Job(b.Job) == nil {
		e := w.left(b.Job)
		if e == nil || e.partial {
			w.answerUnknown(ref)
			return
		}
		w.answerEnd(waiter{ref, ended}, e.records)
		return
	}
	if !ended {
		for _, t := range w.state.Tasks(b.Job) {
			if t.Status == grid.Running {
				w.reply(ref, gdi.Done(""))
				return
			}
		}
	}
	if w.jobs == nil {
		w.jobs = map[uint32][]waiter{}
	}
	w.jobs[b.Job] = append(w.jobs[b.Job], waiter{ref, ended})
}

// left returns how a job has ended that is one of the last; nil for others.
func (w *waiters) left(job uint32) *end {
	if i := slices.IndexFunc(w.over, func(e end) bool { return e.files.Job == job }); i >= 0 {
		return &w.over[i]
	}
	return nil
}

// started answers those who wait for the job's start.
func (w *waiters) started(job uint32) {
	var rest []waiter
	for _, x := range w.jobs[job] {
		if x.end {
			rest = append(rest, x)
			continue
		}
		w.reply(x.ref, gdi.Done(""))
	}
	if len(rest) == 0 {
		delete(w.jobs, job)
	} else {
		w.jobs[job] = rest
	}
}

// answerUnknown answers a client that waits for a job of which only the accounting file may
// have a record.
func (w *waiters) answerUnknown(ref uint64) {
	w.reply(ref, gdi.Deny(gdi.StatusUnknown, "the job is unknown"))
}

// record keeps how a task ended until its job is over.
func (w *waiters) record(a *grid.Accounting, again bool) {
	if !again {
		w.put(a, a.Host)
	}
}

// put keeps the record of a task that has run on a host.
func (w *waiters) put(a *grid.Accounting, host string) {
	if w.ends == nil {
		w.ends, w.hosts = map[uint32][]*grid.Accounting{}, map[uint32][]string{}
	}
	switch records, some := w.ends[a.Job]; {
	case some && records == nil:
	case len(records) == recordsKept, w.open == openKept:
		w.open -= len(records)
		w.ends[a.Job] = nil
		delete(w.hosts, a.Job)
	default:
		w.open++
		w.ends[a.Job] = append(records, brief(a))
		w.hosts[a.Job] = append(w.hosts[a.Job], host)
	}
}

// brief is what there is to know of the end of a job or PE task, without its command line; of an array's task, which
// may be one of very many, less.
func brief(a *grid.Accounting) *grid.Accounting {
	if !a.Array || a.PETask != "" {
		b := *a
		b.SubmitCommand = ""
		return &b
	}
	return &grid.Accounting{
		Job: a.Job, Task: a.Task, Attempt: a.Attempt, Array: true, Start: a.Start, End: a.End,
		Failed: a.Failed, ExitStatus: a.ExitStatus, DeletedBy: a.DeletedBy,
	}
}

// ended answers the clients that wait for the job's end. For an array that was submitted
// before this qmaster began some records may be only in the accounting file.
func (w *waiters) ended(j *grid.Job) {
	waiting := w.jobs[j.ID]
	delete(w.jobs, j.ID)
	records, some := w.ends[j.ID]
	partial := some && records == nil || j.Array && j.Submit < w.began && len(records) < int(j.Tasks.Count())
	if partial {
		for _, x := range waiting {
			w.answerUnknown(x.ref)
			w.lastReply().Records = records
		}
	} else {
		for _, x := range waiting {
			w.answerEnd(x, records)
		}
	}
	w.leave(j, partial)
}

// leave keeps how the tasks of a job have ended that is over.
func (w *waiters) leave(j *grid.Job, partial bool) {
	records, some := w.ends[j.ID]
	hosts := w.hosts[j.ID]
	w.open -= len(records)
	delete(w.ends, j.ID)
	delete(w.hosts, j.ID)
	if some && records == nil { // too many
		return
	}
	e := end{filesOf(j), records, hosts, partial}
	w.over = append(w.over, e)
	w.kept, w.bytes = w.kept+len(records), w.bytes+e.size()
	w.bound()
}

// bound drops the jobs that are over for the longest time.
func (w *waiters) bound() {
	for len(w.over) > endsKept || w.kept > recordsKept || w.bytes > bytesKept {
		w.kept, w.bytes = w.kept-len(w.over[0].records), w.bytes-w.over[0].size()
		w.over[0] = end{}
		w.over = w.over[1:]
	}
}

// size is about how many bytes an end takes.
func (e *end) size() int {
	bytes := objectBytes + len(e.files.Name) + len(e.files.Cwd) + names(e.files.Stdout, e.files.Stderr)
	for _, a := range e.records {
		bytes += objectBytes/2 + len(a.FailedText) + len(a.Category) + len(a.Cwd) + len(a.Name) + len(a.Account) +
			elementBytes*len(a.Maps)
	}
	return bytes
}

// answerEnd answers a client that waits for a job that has ended.
func (w *waiters) answerEnd(x waiter, records []*grid.Accounting) {
	ran := slices.ContainsFunc(records, func(a *grid.Accounting) bool { return a.Start != 0 })
	if x.end || ran {
		w.reply(x.ref, gdi.Done(""))
	} else {
		w.reply(x.ref, gdi.Deny(gdi.StatusUnknown, "the job has ended without having run"))
	}
	w.lastReply().Records = records
}

// peWaiters are the clients that wait for a PE task, and how those ended that
// ended last.
type peWaiters struct {
	tasks map[grid.Key][]waiter
	ends  map[grid.Key]*grid.Accounting
	over  []grid.Key // oldest first
}

// waitPETask answers when the PE task has started or ended.
func (ws *waiters) waitPETask(ref uint64, b *gdi.Wait) {
	w, key := &ws.pe, grid.Key{ID: b.Job, Sub: b.Task, Name: b.PETask}
	p := ws.state.PETask(key)
	switch {
	case p != nil && (b.For == "ended" || p.Status == grid.Transfering):
		if w.tasks == nil {
			w.tasks = map[grid.Key][]waiter{}
		}
		w.tasks[key] = append(w.tasks[key], waiter{ref, b.For == "ended"})
	case p != nil:
		ws.reply(ref, gdi.Done(""))
	case w.ends[key] != nil:
		ws.reply(ref, gdi.Done(""))
		ws.lastReply().Records = []*grid.Accounting{w.ends[key]}
	default:
		ws.reply(ref, gdi.Deny(gdi.StatusUnknown, "the task is unknown"))
	}
}

// started answers those who wait for a PE task's start.
func (w *peWaiters) started(s *step, key grid.Key) {
	var rest []waiter
	for _, x := range w.tasks[key] {
		if x.end {
			rest = append(rest, x)
		} else {
			s.reply(x.ref, gdi.Done(""))
		}
	}
	delete(w.tasks, key)
	if len(rest) > 0 {
		w.tasks[key] = rest
	}
}

// ended answers those who wait for a PE task. a is its record, reported in the log or
// not.
func (w *peWaiters) ended(s *step, key grid.Key, a *grid.Accounting) {
	for _, x := range w.tasks[key] {
		s.reply(x.ref, gdi.Done(""))
		s.lastReply().Records = []*grid.Accounting{a}
	}
	delete(w.tasks, key)
	if w.ends == nil {
		w.ends = map[grid.Key]*grid.Accounting{}
	}
	w.ends[key] = brief(a)
	if w.over = append(w.over, key); len(w.over) > endsKept {
		delete(w.ends, w.over[0])
		w.over = w.over[1:]
	}
}

// gone forgets clients, whose refs ascend: all in one pass.
func (w *waiters) gone(refs []uint64) {
	forget(w.jobs, refs)
	forget(w.pe.tasks, refs)
}

// forget removes clients from those who wait for the same thing.
func forget[K comparable](waiting map[K][]waiter, refs []uint64) {
	for key, list := range waiting {
		if rest := slices.DeleteFunc(list, func(x waiter) bool { return isIn(refs, x.ref) }); len(rest) == 0 {
			delete(waiting, key)
		} else {
			waiting[key] = rest
		}
	}
}

// isIn reports whether a ref is one of those that ascend.
func isIn(ascending []uint64, ref uint64) bool {
	_, found := slices.BinarySearch(ascending, ref)
	return found
}

// files are the output files of a job, kept beyond its end.
type files struct {
	report.Files
	merged, interactive bool
}

func filesOf(j *grid.Job) (f files) {
	f.Job, f.Array, f.Name, f.Owner = j.ID, j.Array, j.Name, j.Owner
	if s := j.Spec; s != nil {
		f.Cwd, f.Stdout, f.Stderr = s.Cwd, s.Stdout, s.Stderr
		f.merged, f.interactive = s.Merge, s.Connect != ""
	}
	return f
}
