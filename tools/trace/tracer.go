package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// Span is something that happened to a job, from Start to End.
type Span struct {
	Trace      plan.TraceID
	ID, Parent plan.SpanID // Parent zero: the job itself
	Name       string
	Start, End grid.Time
	Attributes []Attribute
	Error      string // why it failed; "": it did not
}

// Attribute is a text, a number or a boolean.
type Attribute struct {
	Name  string
	Value any // string, int64 or float64
}

// Names of spans beside plan.RunSpan: collectors group by them, so they are few. Those of waits are in waitNames, those
// of jobs in kind.
const (
	spanTask      = "array task"
	spanPETask    = "pe task"
	spanStart     = "start"     // from the decision to the first process of the job: transfer and prolog
	spanFinish    = "finish"    // from its last process to the end of the attempt: epilog and report
	spanSuspended = "suspended" // within the run
)

// Tracer follows the event lists of a cell.
type Tracer struct {
	cell  string
	st    *state.State
	only  map[uint32]bool // of the jobs that are traced, whether they were seen; nil: all are
	jobs  map[uint32]*job
	spans []Span // of the list that is followed
}

// job is how far a job has come.
type job struct {
	*grid.Job
	id     plan.TraceID
	wait   waiting // of the tasks that have not been started yet
	tasks  map[uint32]*task
	failed string
	// interactive: it was submitted by one of the commands of sessions.
	interactive bool
}

// sessions are the commands that submit interactive jobs.
var sessions = []string{"qrsh", "qlogin", "qsh"}

// kind returns the name of the span of the job.
func (k *job) kind() string {
	switch {
	case k.interactive:
		return "interactive job"
	case k.Array:
		return "array job"
	case k.PE != "":
		return "parallel job"
	}
	return "batch job"
}

// task is how far a task has come that has left the pending range.
type task struct {
	last      *grid.JATask
	begun     grid.Time // when it left the range
	wait      waiting   // while it is idle again
	started   grid.Time // of the attempt
	suspended grid.Time // 0: it is not
	attempts  uint32
	failed    string
}

// waiting is the reason for which a job or task waits.
type waiting struct {
	name  string // "": it does not
	since grid.Time
	until grid.Time // the reason ends by itself; 0: it does not
}

// New returns a Tracer that continues from a state, which it changes. Of jobs that are there already what was before is
// not known. only: the jobs that are traced, none: all.
func New(cell string, st *state.State, only ...uint32) *Tracer {
	t := &Tracer{cell: cell, st: st, jobs: map[uint32]*job{}}
	for _, id := range only {
		if t.only == nil {
			t.only = map[uint32]bool{}
		}
		t.only[id] = false
	}
	st.Each(grid.KindJob, func(o grid.Object) bool {
		id := o.Key().ID
		t.compareJob(id, st.At)
		for _, ja := range st.Tasks(id) {
			t.lookTask(id, ja.ID, st.At)
		}
		return true
	})
	return t
}

// Seq is the number of the last list.
func (t *Tracer) Seq() uint64 { return t.st.Seq }

// Apply follows the next list, and returns the spans that have ended with it.
func (t *Tracer) Apply(l events.List) []Span {
	t.spans = nil
	t.st.Apply(l)
	for _, e := range l.Events { // the job before its tasks, and after them: its end is that of all
		switch e.Kind {
		case grid.KindJob:
			if t.st.Job(e.Key.ID) != nil {
				t.compareJob(e.Key.ID, l.At)
			}
			if k := t.jobs[e.Key.ID]; k != nil && e.Op == events.OpAdd {
				k.interactive = slices.Contains(sessions, l.Cause.What)
			}
		case grid.KindAccounting:
			t.ended(e.Object.(*grid.Accounting), l.At)
		}
	}
	for _, e := range l.Events {
		if e.Kind == grid.KindJATask {
			t.lookTask(e.Key.ID, e.Key.Sub, l.At)
		}
	}
	for _, e := range l.Events {
		if e.Kind == grid.KindJob || e.Kind == grid.KindJATask {
			t.compareJob(e.Key.ID, l.At)
		}
	}
	return t.spans
}

// Unseen returns the jobs to trace that there were not, by number.
func (t *Tracer) Unseen() (jobs []uint32) {
	for id, seen := range t.only {
		if !seen {
			jobs = append(jobs, id)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// compareJob compares a job with what was known of it.
func (t *Tracer) compareJob(id uint32, at grid.Time) {
	if _, is := t.only[id]; !is && t.only != nil {
		return
	}
	now, k := t.st.Job(id), t.jobs[id]
	switch {
	case now == nil && k == nil:
		return
	case now == nil:
		t.over(k, at)
		return
	case k == nil:
		k = &job{id: plan.TraceOf(t.cell, id), tasks: map[uint32]*task{}}
		t.jobs[id] = k
		if t.only != nil {
			t.only[id] = true
		}
	}
	k.Job = now
	why := waiting{}
	if len(now.Pending) > 0 {
		why = firstWait(view.OwnWaits(t.st, now, 0))
	}
	t.waits(k, &k.wait, why, 0, at)
}

// lookTask compares a task with what was known of it.
func (t *Tracer) lookTask(id, number uint32, at grid.Time) {
	k, ja := t.jobs[id], t.st.Task(id, number)
	if k == nil {
		return
	}
	one := k.tasks[number]
	switch {
	case ja == nil && one == nil:
		return
	case ja == nil:
		t.taskOver(k, number, one, at)
		return
	case one == nil:
		one = &task{last: &grid.JATask{}, begun: at}
		k.tasks[ja.ID] = one
	}
	before := one.last
	one.last = ja
	if ja.Started() && (!before.Started() || before.Attempt != ja.Attempt) {
		one.started, one.suspended = cmp.Or(ja.Start, at), 0
		one.attempts++
	}
	switch suspended := ja.State&grid.StateSuspendedAny != 0; {
	case suspended && one.suspended == 0:
		one.suspended = at
	case !suspended && one.suspended != 0:
		t.resumed(k, one, at)
	}
	why := waiting{}
	if !ja.Started() {
		why = firstWait(view.OwnWaits(t.st, k.Job, ja.ID))
	}
	t.waits(k, &one.wait, why, ja.ID, at)
}

func (t *Tracer) resumed(k *job, one *task, at grid.Time) {
	ja := one.last
	t.add(k, Span{ID: k.id.Span(fmt.Sprint(spanSuspended, one.suspended), ja.ID, ja.Attempt),
		Parent: k.id.Span(plan.RunSpan, ja.ID, ja.Attempt),
		Name:   spanSuspended, Start: one.suspended, End: at})
	one.suspended = 0
}

// ended adds the spans of an attempt, or of a task of a parallel job within it, that has an accounting record.
func (t *Tracer) ended(a *grid.Accounting, at grid.Time) {
	k := t.jobs[a.Job]
	if k == nil {
		return
	}
	one := k.tasks[a.Task]
	run := k.id.Span(plan.RunSpan, a.Task, a.Attempt)
	failed := failureOf(a)
	attributes := []Attribute{
		{"quill.queue", a.Queue}, {"host.name", a.Host}, {"quill.slots", int64(a.Slots)}, {"quill.attempt", int64(a.Attempt)},
		{"process.exit.code", int64(a.ExitStatus)}, {"quill.failed", int64(a.Failed)}, {"quill.cpu_seconds", a.Usage.CPU},
		{"quill.max_vmem_bytes", a.Usage.MaxVMem}, {"quill.max_rss_bytes", a.Usage.MaxRSS},
	}
	if a.PETask != "" {
		t.add(k, Span{ID: k.id.Span("petask "+a.PETask, a.Task, a.Attempt), Parent: run, Name: spanPETask, Start: a.Start,
			End: a.End, Attributes: append([]Attribute{{"quill.task.pe", a.PETask}}, attributes...), Error: failed})
		return
	}
	parent := k.parent(a.Task)
	sent := a.Start
	if one != nil && one.started != 0 && one.started < cmp.Or(a.Start, at) {
		sent = one.started
	}
	if one != nil && one.suspended != 0 {
		t.resumed(k, one, cmp.Or(a.End, at))
	}
	if a.Start == 0 { // it never ran
		if sent != 0 {
			t.add(k, Span{ID: k.id.Span(spanStart, a.Task, a.Attempt), Parent: parent, Name: spanStart, Start: sent, End: at,
				Attributes: attributes, Error: failed})
		}
	} else {
		t.add(k, Span{ID: k.id.Span(spanStart, a.Task, a.Attempt), Parent: parent, Name: spanStart,
			Start: sent, End: a.Start})
		t.add(k, Span{ID: run, Parent: parent, Name: plan.RunSpan, Start: a.Start, End: a.End,
			Attributes: attributes, Error: failed})
		t.add(k, Span{ID: k.id.Span(spanFinish, a.Task, a.Attempt), Parent: parent, Name: spanFinish, Start: a.End,
			End: max(at, a.End)})
	}
	if one != nil {
		one.failed, one.started = failed, 0
	}
	if failed != "" {
		k.failed = failed
	}
}

// failureOf returns why an attempt failed.
func failureOf(a *grid.Accounting) string {
	switch {
	case a.Failed != 0:
		return cmp.Or(a.FailedText, report.Failure(a.Failed).String())
	case a.ExitStatus != 0:
		return fmt.Sprintf("exit status %d", a.ExitStatus)
	}
	return ""
}

// parent is the span of a task of an array, or of the job.
func (k *job) parent(task uint32) plan.SpanID {
	if k.Array && task > 0 {
		return k.id.Span("task", task, 0)
	}
	return k.id.Span("job", 0, 0)
}

// taskOver adds the span of a task that is gone.
func (t *Tracer) taskOver(k *job, id uint32, one *task, at grid.Time) {
	t.waits(k, &one.wait, waiting{}, id, at)
	if k.Array {
		t.add(k, Span{ID: k.parent(id), Parent: k.parent(0), Name: spanTask, Start: one.begun, End: at, Error: one.failed,
			Attributes: []Attribute{{"quill.task.id", int64(id)}, {"quill.attempts", int64(one.attempts)}}})
	}
	delete(k.tasks, id)
}

// over adds the span of a job that is gone.
func (t *Tracer) over(k *job, at grid.Time) {
	for _, id := range slices.Sorted(maps.Keys(k.tasks)) {
		t.taskOver(k, id, k.tasks[id], at)
	}
	t.waits(k, &k.wait, waiting{}, 0, at)
	s := Span{ID: k.parent(0), Name: k.kind(), Start: k.Submit, End: at, Error: k.failed, Attributes: []Attribute{
		{"quill.cell", t.cell}, {"quill.job.id", int64(k.Job.ID)}, {"quill.job.name", k.Name}, {"quill.job.owner", k.Owner},
	}}
	for _, a := range []Attribute{{"quill.job.project", k.Project}, {"quill.job.department", k.Department},
		{"quill.job.pe", k.PE}} {
		if a.Value != "" {
			s.Attributes = append(s.Attributes, a)
		}
	}
	if k.Array {
		s.Attributes = append(s.Attributes, Attribute{"quill.job.tasks", k.Tasks.String()})
	}
	t.add(k, s)
	delete(t.jobs, k.Job.ID)
}

// waitNames are the names of waits; a job without a reason of its own waits for a place.
var waitNames = map[reason.Code]string{
	reason.HeldByUser: "wait: user hold", reason.HeldByOperator: "wait: operator hold",
	reason.HeldBySystem: "wait: system hold",
	reason.HeldForArray: "wait: array dependency", reason.Predecessors: "wait: dependency",
	reason.StartTime: "wait: start time",
	reason.InError:   "wait: error", reason.TaskLimit: "wait: task concurrency",
}

const waitPlace = "wait: place"

// firstWait returns the first reason for which a job or task waits.
func firstWait(why []view.Wait) waiting {
	if len(why) == 0 {
		return waiting{name: waitPlace}
	}
	return waiting{name: waitNames[why[0].Code], until: why[0].At}
}

// waits keeps why a job (task 0) or task waits, and adds the span of a wait that is over.
func (t *Tracer) waits(k *job, w *waiting, now waiting, task uint32, at grid.Time) {
	if w.name != "" && w.until != 0 && w.until < at { // after that it waited for a place
		t.waited(k, w, task, w.until)
		w.name, w.since, w.until = waitPlace, w.until, 0
	}
	if now.name == w.name && now.until == w.until {
		return
	}
	if w.name != "" {
		t.waited(k, w, task, at)
	}
	w.name, w.until, w.since = now.name, now.until, at
}

func (t *Tracer) waited(k *job, w *waiting, task uint32, at grid.Time) {
	t.add(k, Span{ID: k.id.Span(fmt.Sprint(w.name, w.since), task, 0), Parent: k.parent(task), Name: w.name,
		Start: w.since, End: at})
}

func (t *Tracer) add(k *job, s Span) {
	s.Trace = k.id
	s.End = max(s.End, s.Start)
	t.spans = append(t.spans, s)
}
