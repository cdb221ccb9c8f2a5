package reporting

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
)

// basePriority is what the file adds to a job's priority.
const basePriority = 1024

// noPETask stands where a line is not about a task of a parallel job.
const noPETask = "NONE"

func (w *Writer) job(e events.Event) (after func()) {
	old, _ := e.Object.(*grid.Job)
	if e.Op != events.OpAdd {
		old = w.state.Job(e.Key.ID)
	}
	switch {
	case old == nil:
	case e.Op == events.OpAdd:
		w.newJob(old)
		user, host := w.who()
		w.log("pending", old, -1, "", user, host, "new job")
	case e.Op == events.OpMod:
		w.pendingGone(old, old.Pending.Minus(e.Object.(*grid.Job).Pending))
	default:
		return w.jobGone(old)
	}
	return nothing
}

func (w *Writer) newJob(j *grid.Job) {
	w.begin("new_job")
	w.time(j.Submit)
	w.number(int64(j.ID))
	w.number(-1)
	w.text(noPETask)
	w.text(j.Name)
	w.owner(j)
	w.number(int64(j.Priority) + basePriority)
	w.end()
}

func (w *Writer) owner(j *grid.Job) {
	w.text(j.Owner)
	w.text(j.Group)
	w.text(j.Project)
	w.text(j.Department)
	w.text(j.Account)
}

// log writes a job_log record about a task, as the file numbers it.
func (w *Writer) log(event string, j *grid.Job, task int64, state, user, host, message string) {
	if !w.conf.JobLog {
		return
	}
	w.begin("job_log")
	w.number(w.now)
	w.text(event)
	w.number(int64(j.ID))
	w.number(task)
	w.text(noPETask)
	w.text(state)
	w.text(user)
	w.text(host)
	w.number(0) // state_time
	w.number(int64(j.Priority) + basePriority)
	w.time(j.Submit)
	w.text(j.Name)
	w.owner(j)
	w.text(message)
	w.end()
}

// number is how the file numbers a task: 0 when the job is no array.
func number(j *grid.Job, task uint32) int64 {
	if !j.Array {
		return 0
	}
	return int64(task)
}

// pendingGone records the end of tasks that never started.
func (w *Writer) pendingGone(j *grid.Job, tasks grid.Ranges) {
	if !w.conf.JobLog {
		return
	}
	user, host := w.who()
	tasks.Each(func(task uint32) bool {
		n := number(j, task)
		if user == scheduler {
			w.log("deleted", j, n, "", user, host, "immediate job deleted by scheduler")
			return true
		}
		w.log("deleted", j, n, "", user, host, "job deleted")
		w.log("finished", j, n, "", master, w.host, "job exited")
		return true
	})
}

func (w *Writer) jobGone(j *grid.Job) (after func()) {
	var ends []func()
	for _, t := range w.state.Tasks(j.ID) {
		ends = append(ends, w.taskGone(j, t))
	}
	w.pendingGone(j, j.Pending)
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

func (w *Writer) task(e events.Event) (after func()) {
	j, old := w.state.Job(e.Key.ID), w.state.Task(e.Key.ID, e.Key.Sub)
	t, _ := e.Object.(*grid.JATask)
	switch {
	case j == nil:
		return nothing
	case t != nil:
		if old == nil {
			old = &grid.JATask{Job: t.Job, ID: t.ID}
		}
		return w.taskChanged(j, old, t)
	case old != nil:
		return w.taskGone(j, old)
	}
	return nothing
}

func (w *Writer) taskChanged(j *grid.Job, old, t *grid.JATask) (after func()) {
	n, letter := number(j, t.ID), letterOf(t)
	switch {
	case t.Started() && (!old.Started() || old.Attempt != t.Attempt):
		w.log("sent", j, n, "t", master, w.host, "sent to execd")
		if t.Status == grid.Running {
			w.log("delivered", j, n, "r", master, w.host, "job received by execd")
		}
		return func() { w.consumables(j, t) }
	case old.Started() && t.Status == grid.Idle:
		if t.State&grid.StateError != 0 {
			w.log("error", j, n, letterOf(old), executionDaemon, hostOf(old), "job set in error state ")
		}
		w.log("restart", j, n, letterOf(old), master, w.host, fmt.Sprintf("rescheduling job %d.%d", t.Job, t.ID))
		return func() { w.consumables(j, old) }
	case old.Status == grid.Transfering && t.Status == grid.Running:
		w.log("delivered", j, n, letter, master, w.host, "job received by execd")
	}
	if newInterim(old.Interim, t.Interim) {
		w.record(w.interim(j, t, t.Grants[0], t.Start, old.Interim, t.Interim, t.Usage))
	}
	user, host := w.who()
	set, unset := t.State&^old.State, old.State&^t.State
	if set&grid.StateDeleted != 0 {
		w.log("deleted", j, n, letter, user, host, "job deleted")
	}
	if suspensions := grid.StateSuspended | grid.StateSuspendedThreshold |
		grid.StateSuspendedPreempted; set&suspensions != 0 {
		w.log("suspended", j, n, letter, user, host, "")
	} else if unset&suspensions != 0 {
		w.log("unsuspended", j, n, letter, user, host, "")
	}
	return nothing
}

// acct writes the record of an attempt's end and the job_log records that go with it; the
// events that follow record what becomes of the task. For a PE task it writes the acct
// record alone.
func (w *Writer) acct(a *grid.Accounting) {
	j, t := w.state.Job(a.Job), w.state.Task(a.Job, a.Task)
	known := j != nil && t != nil && a.PETask == ""
	switch {
	case known && w.asked(): // by force
		user, host := w.who()
		w.log("deleted", j, number(j, a.Task), letterOf(t), user, host, "job deleted")
	case known && t.Status == grid.Transfering && a.Start > 0: // over before it was confirmed
		w.log("delivered", j, number(j, a.Task), "r", master, w.host, "job received by execd")
	}
	w.rest(a)
	if !known || !a.Rescheduled {
		return
	}
	event, message := "restart", "job rerun/checkpoint specified -> schedule it again"
	switch {
	case t.Kill == grid.Migrating:
		event, message = "migrate", "job was checkpointed -> schedule it again"
	case t.Kill == grid.Rescheduled || a.ExitStatus == wantsRestart:
		message = "job didn't get resources -> schedule it again"
	case a.Start == 0:
		message = "job never ran -> schedule it again"
	}
	w.log(event, j, number(j, a.Task), letterOf(t), executionDaemon, a.Host, message)
}

func (w *Writer) record(a *grid.Accounting) {
	w.begin("acct")
	w.dst = accounting.Append(append(w.dst, ':'), a)
	w.end()
}

// rest writes the record of an end. Values that grow are reduced by those in the
// intermediate records.
func (w *Writer) rest(a *grid.Accounting) {
	var last *grid.Interim
	if a.PETask != "" {
		if p := w.state.PETask(grid.Key{ID: a.Job, Sub: a.Task, Name: a.PETask}); p != nil {
			last = p.Interim
		}
	} else if t := w.state.Task(a.Job, a.Task); t != nil {
		last = t.Interim
	}
	if last != nil {
		rest := *a
		rest.Start, rest.Usage = last.At, last.Since(a.Usage)
		a = &rest
	}
	w.record(a)
}

// newInterim reports whether there is a new intermediate record.
func newInterim(old, now *grid.Interim) bool { return now != nil && (old == nil || old.At != now.At) }

// interim is an intermediate record: what began at a time has used since the
// last one. All of an attempt's records together make its usage; what is known
// at the end alone is in the last, and the exit status in between is -1.
func (w *Writer) interim(
	j *grid.Job, t *grid.JATask, g grid.Grant, began grid.Time, old, now *grid.Interim, u grid.Usage,
) *grid.Accounting {
	u = old.Since(u)
	if old != nil {
		began = old.At
	}
	a := &grid.Accounting{
		Job: j.ID, Task: t.ID, Attempt: t.Attempt, Array: j.Array, Queue: g.Queue, Host: g.Host,
		Group: j.Group, Owner: j.Owner, Name: j.Name, Account: j.Account, Priority: int32(j.Priority),
		Submit: j.Submit, Start: began, End: now.At, ExitStatus: accounting.StillRuns,
		Usage:   grid.Usage{CPU: u.CPU, Mem: u.Mem, IO: u.IO, IOWait: u.IOWait, MaxVMem: u.MaxVMem},
		Project: j.Project, Department: j.Department, PE: t.PE, Slots: t.Slots(),
		SubmitHost: j.Spec.SubmitHost, SubmitCommand: j.Spec.SubmitCommand, Cwd: j.Spec.Cwd,
	}
	if ar := w.state.AR(j.AR); ar != nil {
		a.AR, a.ARSubmit = ar.ID, ar.Submit
	}
	return a
}

// peTask writes the intermediate records of a PE task that runs past midnight.
func (w *Writer) peTask(e events.Event) {
	p, _ := e.Object.(*grid.PETask)
	old, j, t := w.state.PETask(e.Key), w.state.Job(e.Key.ID), w.state.Task(e.Key.ID, e.Key.Sub)
	if p == nil || old == nil || j == nil || t == nil || !newInterim(old.Interim, p.Interim) {
		return
	}
	at := slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return g.Host == p.Host })
	if at < 0 {
		return
	}
	a := w.interim(j, t, t.Grants[at], p.Start, old.Interim, p.Interim, p.Usage)
	a.PETask, a.Priority, a.Submit = p.ID, 0, p.Start
	w.record(a)
}

// wantsRestart is the exit status by which a job asks to be started again.
const wantsRestart = 99

// taskGone records the end of a task that had started once.
func (w *Writer) taskGone(j *grid.Job, t *grid.JATask) (after func()) {
	n, letter := number(j, t.ID), ""
	if t.Started() {
		letter = "r"
	}
	user, host := w.who()
	switch {
	case !t.Started():
		w.log("deleted", j, n, letter, user, host, "job deleted")
	case w.asked():
		w.log("deleted", j, n, letter, scheduler, w.host, "job deleted by forced deletion request")
	case t.State&grid.StateDeleted != 0:
		w.log("deleted", j, n, letter, executionDaemon, hostOf(t), "job removed ")
	default:
		w.log("finished", j, n, letter, executionDaemon, hostOf(t), "job exited")
	}
	w.log("finished", j, n, letter, master, w.host, "job waits for scheduler's deletion")
	return func() {
		if t.Started() {
			w.consumables(j, t)
		}
		w.log("deleted", j, n, "T", scheduler, w.host, "job deleted by scheduler")
	}
}

// letterOf is a task's state in the file: of a suspended or held one it says no
// more than of others.
func letterOf(t *grid.JATask) string {
	switch t.Status {
	case grid.Transfering:
		return "t"
	case grid.Running:
		return "r"
	}
	return ""
}

// hostOf is where a task's execution daemon is.
func hostOf(t *grid.JATask) string {
	if len(t.Grants) == 0 {
		return ""
	}
	return t.Grants[0].Host
}
