package jobstory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
)

// follower follows the lists of the log and writes a job's story.
type follower struct {
	job, task uint32 // task 0: the whole job
	story     *Story // nil until the job is known
	st        *state.State
	whole     func(seq uint64) *state.State // the cell after a list, nil when it cannot be read; nil: st is the whole cell
	last      *state.State                  // the cell at the end; nil: st is
	outlook   *gdi.Outlook                  // at the end; nil: to be found
	runs      map[string][]*run
	states    map[uint64]*state.State // that runs had seen
	array     bool
	has       grid.Range // the tasks of the job
	category  string
	all       *waiting          // of the job, while any of its tasks waits
	tasks     map[uint32]*track // that have left the pending range
	idle      map[uint32]*track // those of them that wait again
}

// track is how far a task has come.
type track struct {
	Task
	wait      *waiting // nil while it is started
	waits     float64  // seconds, of what is over
	started   grid.Time
	suspended grid.Time
	last      *grid.JATask
}

// newFollower makes a follower that continues from a state.
func newFollower(job, task uint32, st *state.State, runs map[string][]*run) *follower {
	t := &follower{job: job, task: task, st: st, runs: runs, states: map[uint64]*state.State{}}
	for _, same := range runs {
		for _, r := range same {
			t.states[r.head.Seq] = nil
		}
	}
	t.see()
	if j := st.Job(job); j != nil {
		t.midway(j)
	}
	return t
}

// see keeps the state that a run has seen.
func (t *follower) see() {
	if _, wanted := t.states[t.st.Seq]; wanted {
		t.states[t.st.Seq] = t.st.Copy()
	}
}

func (t *follower) begin(j *grid.Job) {
	t.array, t.has = j.Array && t.task == 0, j.Tasks
	t.story = &Story{Job: t.job, Task: t.task, Name: j.Name, Owner: j.Owner, Asked: asked(j)}
	if t.array {
		t.story.Range = j.Tasks
	}
	if j.Spec != nil {
		t.story.Command = grid.OneLine(j.Spec.SubmitCommand)
	}
	t.tasks, t.idle, t.category = map[uint32]*track{}, map[uint32]*track{}, ""
}

// midway begins a story in the middle: the log does not have its beginning.
func (t *follower) midway(j *grid.Job) {
	t.begin(j)
	t.story.Midway = true
	t.step(events.List{Seq: t.st.Seq, At: t.st.At},
		Step{What: "known", Text: fmt.Sprintf("submitted at %s; the log begins here, what was before is not kept",
			clock(j.Submit.Std()))})
	t.all = newWaiting(t.st.Seq, t.st.At)
	for _, task := range t.st.Tasks(t.job) {
		k := t.track(task.ID, t.st.Seq, t.st.At)
		k.last = task
		if task.Started() {
			t.leaves(k)
			k.started, k.Queue, k.Attempts = cmp.Or(task.Start, t.st.At), grants(task), int(task.Attempt)
		}
		if task.State&grid.StateSuspendedAny != 0 {
			k.suspended = t.st.At
		}
	}
	t.reason(t.st.Seq, t.st.At)
}

// track is the track of a task, a new one that waits when there is none.
func (t *follower) track(id uint32, seq uint64, at grid.Time) *track {
	k := t.tasks[id]
	if k == nil {
		k = &track{Task: Task{Task: id}, wait: newWaiting(seq, at)}
		if t.all != nil && t.all.at < at {
			k.wait = t.all.clone()
		}
		t.tasks[id], t.idle[id] = k, k
	}
	return k
}

// followList follows the next list.
func (t *follower) followList(l events.List) {
	mine := false
	var before *state.State
	for i := range l.Events {
		mine = mine || t.means(&l.Events[i])
	}
	if mine {
		before = t.st.Copy()
	}
	t.st.Apply(l)
	t.see()
	if mine {
		for _, e := range l.Events {
			if t.means(&e) {
				t.event(l, e, before)
			}
		}
	}
	if t.story != nil && (mine || t.concerns(l)) {
		t.reason(l.Seq, l.At)
	}
}

// means reports whether an event is about the job, and about the task if one is
// asked for.
func (t *follower) means(e *events.Event) bool {
	switch e.Kind {
	case grid.KindJob:
		return e.Key.ID == t.job
	case grid.KindJATask, grid.KindAccounting:
		return e.Key.ID == t.job && (t.task == 0 || t.task == e.Key.Sub)
	}
	return false
}

// concerns reports whether a list may change the reasons for which the job waits.
func (t *follower) concerns(l events.List) bool {
	j := t.st.Job(t.job)
	if j == nil {
		return false
	}
	return j.ExecTime > 0 || j.Concurrency > 0 ||
		slices.ContainsFunc(l.Events, func(e events.Event) bool { return e.Kind == grid.KindJobScheddInfo })
}

// reason brings the reasons of what waits up to date.
func (t *follower) reason(seq uint64, at grid.Time) {
	j := t.st.Job(t.job)
	if j == nil || t.all == nil {
		return
	}
	if t.category == "" && t.st.Len(grid.KindJobScheddInfo) > 0 {
		t.category = categoryOf(t.st, j)
	}
	if t.waits(j) {
		t.all.hold(reasons(t.st, j, t.task, t.category), seq, at)
	} else {
		t.all.rest(seq, at)
	}
	for id, k := range t.idle {
		k.wait.hold(reasons(t.st, j, id, t.category), seq, at)
	}
}

// waits reports whether any task of the job waits in the pending range.
func (t *follower) waits(j *grid.Job) bool {
	if t.task > 0 {
		return j.Pending.Contains(t.task)
	}
	return len(j.Pending) > 0
}

func (t *follower) step(l events.List, s Step) {
	s.Mark = markOf(l.Seq, l.At)
	if s.By == "" {
		s.By = strings.TrimSpace(l.Cause.Actor() + " " + l.Cause.What)
	}
	t.story.Steps = append(t.story.Steps, s)
}

func (t *follower) event(l events.List, e events.Event, before *state.State) {
	switch o := e.Object.(type) {
	case *grid.Job:
		if e.Op == events.OpAdd {
			t.begin(o)
			t.all = newWaiting(l.Seq, l.At)
			t.step(l, Step{What: "submitted", Text: cmp.Or(t.story.Command, o.Name)})
			return
		}
		old := before.Job(t.job)
		t.altered(l, old, o.After(old))
	case *grid.Accounting:
		t.ended(l, o)
	case *grid.JATask:
		t.moved(l, o, before)
	case nil:
		if t.story != nil {
			t.gone(l, e, before)
		}
	}
}

// altered adds what a request changed in the job.
func (t *follower) altered(l events.List, old, now *grid.Job) {
	t.category = ""
	if old == nil || t.story == nil {
		return
	}
	var words []string
	for _, c := range diff.Objects(old, now, time.Local) {
		switch c.Field {
		case "version", "former", "predecessors", "array_predecessors":
		case "pending":
			if l.Cause.What != "report" && l.Cause.What != "orders" {
				words = append(words, c.String())
			}
		default:
			words = append(words, c.String())
		}
	}
	if len(now.Predecessors) < len(old.Predecessors) {
		words = append(words, fmt.Sprintf("no longer waits for %s", jobs(less(old.Predecessors, now.Predecessors))))
	}
	if len(words) > 0 {
		t.story.Asked = asked(now)
		t.step(l, Step{What: "altered", Text: grid.OneLine(strings.Join(words, "; "))})
	}
}

func less(all, some []uint32) (out []uint32) {
	for _, id := range all {
		if !slices.Contains(some, id) {
			out = append(out, id)
		}
	}
	return out
}

// moved adds what became of a task.
func (t *follower) moved(l events.List, now *grid.JATask, before *state.State) {
	if t.story == nil {
		return
	}
	k := t.track(now.ID, l.Seq, l.At)
	was := cmp.Or(k.last, &grid.JATask{})
	k.last = now
	tell := func(s Step) {
		if t.story.Task == 0 && t.array && s.What != "error" {
			return // in the table of tasks
		}
		if t.array {
			s.Task = now.ID
		}
		t.step(l, s)
	}
	if now.Started() && (!was.Started() || was.Attempt != now.Attempt) {
		waits := k.wait.finish(l.Seq, l.At)
		seconds := l.At.Sub(k.wait.at)
		k.waits += seconds
		t.leaves(k)
		k.started, k.Queue, k.Started, k.Attempts = l.At, grants(now), l.Seq, int(now.Attempt)
		s := Step{What: "started", Text: startText(now), Seconds: seconds, Waits: waits}
		if first := t.array && len(t.tasks) == 1; first || !t.array {
			s.Decision = t.decided(l, now, before)
		}
		if t.array && len(t.tasks) == 1 {
			s.Task = now.ID
			t.step(l, s)
		} else {
			tell(s)
		}
	}
	if now.Status == grid.Running && was.Status == grid.Transfering {
		tell(Step{What: "running", Text: "the host has taken it over", Seconds: l.At.Sub(k.started)})
	}
	still, stood := now.State&grid.StateSuspendedAny, was.State&grid.StateSuspendedAny
	switch {
	case !now.Started():
	case still != 0 && stood == 0:
		k.suspended = l.At
		tell(Step{What: "suspended", Text: t.preempted(l.Cause.Ref, l.Seq, now.ID) + suspension(now.State)})
	case still == 0 && stood != 0:
		tell(Step{What: "resumed", Text: "continues", Seconds: l.At.Sub(k.suspended)})
	}
	if text := limitsText(was, now); text != "" {
		tell(Step{What: "limits", Text: text})
	}
	if now.Kill != "" && was.Kill == "" {
		tell(t.killed(l, now))
	}
	if now.State&grid.StateError != 0 && was.State&grid.StateError == 0 {
		tell(Step{What: "error", Text: now.Error})
	}
	if was.Started() && !now.Started() {
		if now.State&grid.StateError == 0 {
			tell(Step{What: "requeued", Text: "waits again"})
		}
		k.wait, t.idle[now.ID] = newWaiting(l.Seq, l.At), k
	}
}

// leaves notes that a task does not wait any more.
func (t *follower) leaves(k *track) {
	k.wait = nil
	delete(t.idle, k.Task.Task)
}

func startText(t *grid.JATask) string {
	text := fmt.Sprintf("attempt %d in %s", t.Attempt, grants(t))
	if t.PE != "" {
		text += fmt.Sprintf(", %d slots of PE %s", t.Slots(), t.PE)
	}
	if len(t.Maps) > 0 {
		text += ", with " + grid.MapText(t.Maps)
	}
	if len(t.Cores) > 0 {
		text += ", bound to " + grid.CoresText(t.Cores)
	}
	return text
}

// killed is the step of a task that is to be ended.
func (t *follower) killed(l events.List, now *grid.JATask) Step {
	switch now.Kill {
	case grid.Rescheduled:
		if whom := t.preempted(l.Cause.Ref, l.Seq, now.ID); whom != "" {
			return Step{What: "preempted", Text: whom + "it is ended and started anew"}
		}
		return Step{What: "rescheduled", Text: "to be ended and started anew"}
	case grid.Migrating:
		return Step{What: "migrated", Text: "to be checkpointed and to continue elsewhere"}
	}
	return Step{What: "deleted", Text: "to be ended: asked for by " + now.Kill}
}

// limitsText returns what became of the limits of a task that runs; "": nothing.
func limitsText(was, now *grid.JATask) string {
	l, old := now.Limits, was.Limits
	switch {
	case l == nil || l.Version == 0 || !was.Started():
		return ""
	case old == nil || l.Version != old.Version && l.Refused == "":
		return "changed to " + l.Requests.Text() + ", to be applied on its hosts"
	case l.Version != old.Version:
		return l.Refused + "; it keeps " + orNone(l.Requests.Text())
	case old.Changing && !l.Changing && l.Refused == "":
		return "applied on all its hosts"
	}
	return ""
}

func orNone(text string) string { return cmp.Or(text, "no limits of its own") }

// suspension says by what a task is suspended.
func suspension(s grid.TaskState) string {
	switch {
	case s&grid.StateSuspendedPreempted != 0:
		return "it is preempted: it is suspended and gives its slots back"
	case s&grid.StateSuspendedThreshold != 0:
		return "by a suspend threshold of its queue"
	case s&grid.StateSuspendedSlotwise != 0:
		return "by slot-wise subordination of its queue"
	case s&grid.StateSuspendedSubordinate != 0:
		return "because its queue is subordinate"
	}
	return "by qmod, or with its queue"
}

// ended adds the end of an attempt.
func (t *follower) ended(l events.List, a *grid.Accounting) {
	if t.story == nil || a.PETask != "" {
		return
	}
	k := t.track(a.Task, l.Seq, l.At)
	seconds := 0.0
	if a.Start > 0 {
		seconds = a.End.Sub(a.Start)
	}
	k.Run += seconds
	k.Ended = l.Seq
	k.Exit = fmt.Sprintf("exit status %d", a.ExitStatus)
	if a.Failed != 0 {
		k.Exit += fmt.Sprintf(", failed %d: %s", a.Failed, cmp.Or(a.FailedText, report.Failure(a.Failed).String()))
	}
	if a.DeletedBy != "" {
		k.Exit += ", deleted by " + a.DeletedBy
	}
	if t.array {
		return
	}
	text := fmt.Sprintf("%s; wallclock %s, cpu %s", k.Exit, span3(seconds), span3(a.Usage.CPU))
	if a.Usage.MaxVMem > 0 {
		text += fmt.Sprintf(", maxvmem %.1fM", a.Usage.MaxVMem/(1<<20))
	}
	t.step(l, Step{What: "ended", Text: text, Seconds: seconds, Record: a})
}

// gone adds that the job or task was removed.
func (t *follower) gone(l events.List, e events.Event, before *state.State) {
	end := func(k *track) {
		if k.wait != nil {
			k.waits += l.At.Sub(k.wait.at)
			t.leaves(k)
		}
		k.last = nil
		if k.Exit == "" {
			k.Exit = "deleted"
		}
	}
	if e.Kind == grid.KindJATask {
		if k := t.tasks[e.Key.Sub]; k != nil {
			end(k)
		}
		return
	}
	left := uint32(0)
	if j := before.Job(t.job); j != nil {
		left = j.Pending.Count()
	}
	for _, k := range t.tasks {
		if k.last != nil {
			end(k)
		}
	}
	if left > 0 && (t.task == 0 || len(t.tasks) == 0) {
		text := "deleted while it waited"
		if t.array {
			text = fmt.Sprintf("deleted while %d of its tasks waited", left)
		}
		t.step(l, Step{What: "deleted", Text: text, Seconds: l.At.Sub(t.all.at), Waits: t.all.finish(l.Seq, l.At)})
		if !t.array {
			t.story.Wait += l.At.Sub(t.all.at)
		}
		t.all.rest(l.Seq, l.At)
	}
	if t.array {
		t.step(l, Step{What: "over", Text: "the last task is gone"})
		t.all.rest(l.Seq, l.At)
		t.story.Waits = t.all.finish(l.Seq, l.At)
	}
}
