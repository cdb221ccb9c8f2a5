package jobstory

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
)

// Log is where a story is read from: a *history.Log, or a stretch of one that begins before the job.
type Log interface {
	Span() (first, last history.Mark)
	Lists(from uint64) iter.Seq2[events.List, error]
	Runs(from uint64) iter.Seq2[orders.Record, error]
	Full(seq uint64) (*state.State, error)
}

// Read returns the story of a job, or with task of one of its tasks, up to the list end; what has not ended counts up
// to now, 0: that list. foresee bounds what the outlook of a job that waits may cost. damage is called with why
// something of the log cannot be read. It fails when the log does not have the job.
func Read(
	log Log, job, task uint32, end uint64, now grid.Time, foresee outlook.Options, damage func(error),
) (*Story, error) {
	first, _ := log.Span()
	begin := state.New()
	if first.Seq > 1 {
		var err error
		if begin, err = log.Full(first.Seq); err != nil {
			return nil, err
		}
	}
	runs, err := runsOf(log.Runs(first.Seq), job)
	if err != nil {
		damage(fmt.Errorf("recorded runs: %w", err))
	}
	t := newFollower(job, task, begin, runs)
	return t.followTo(first, log.Lists(begin.Seq+1), end, now, foresee, damage)
}

// Part is what a log has about one job, so that its story costs what happened to the job, and not what happened beside
// it.
type Part struct {
	First history.Mark // after which the lists begin: before it the job did not exist
	// at First; of it and of what follows from it only the job, the configuration and what the scheduler reports are up to
	// date
	Begin *state.State
	Lists iter.Seq2[events.List, error]
	Whole func(seq uint64) (*state.State, error) // the whole cell after a list
	End   *state.State                           // the whole cell at the end
}

// ReadPart is Read from a part of a log.
func ReadPart(p Part, job, task uint32, now grid.Time, foresee outlook.Options, damage func(error)) (*Story, error) {
	t := newFollower(job, task, p.Begin, nil)
	t.whole = func(seq uint64) *state.State {
		s, err := p.Whole(seq)
		if err != nil {
			damage(err)
		}
		return s
	}
	t.last = p.End
	return t.followTo(p.First, p.Lists, p.End.Seq, now, foresee, damage)
}

// followTo follows lists up to one and returns the story.
func (t *follower) followTo(
	first history.Mark, lists iter.Seq2[events.List, error], end uint64, now grid.Time, foresee outlook.Options,
	damage func(error),
) (*Story, error) {
	for l, err := range lists {
		if err != nil {
			damage(err)
			break
		}
		if l.Seq > end {
			break
		}
		t.followList(l)
	}
	if t.last != nil {
		t.st = t.last
	}
	if t.story == nil {
		return nil, t.unknown(first)
	}
	if t.task != 0 && !t.has.Contains(t.task) {
		return nil, noSuchTask(t.job, t.task, t.has)
	}
	return t.end(Mark{first.Seq, first.At.Std()}, max(now, t.st.At), foresee), nil
}

// noSuchTask refuses a question about a task that a job does not have.
func noSuchTask(job, task uint32, has grid.Range) error {
	return gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("job %d has no task %d: its tasks are %s", job, task, has))
}

// unknown returns why there is no story.
func (t *follower) unknown(first history.Mark) error {
	why := neverSubmitted(t.st, t.job)
	switch {
	case why != "":
		return gdi.Refuse(gdi.StatusUnknown, why)
	case first.Seq > 1:
		return gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("job %d was over before the kept history begins: list %d, %s", t.job,
			first.Seq, clock(first.At.Std())))
	}
	return gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("job %d is not in the log", t.job))
}

// end completes the story with the job's state at the end of what was read.
func (t *follower) end(first Mark, now grid.Time, foresee outlook.Options) *Story {
	s := t.story
	s.From, s.To = first, markOf(t.st.Seq, t.st.At)
	j := t.st.Job(t.job)
	last := Step{Mark: markOf(t.st.Seq, now)}
	for _, k := range t.tasks {
		k.Wait = k.waits
		switch {
		case k.last == nil:
			k.State = "over"
		case k.wait != nil:
			k.State = "waiting"
			k.Wait += now.Sub(k.wait.at)
		default:
			k.State = stateOf(k.last)
			k.Run += max(now.Sub(k.started), 0)
		}
		s.Wait, s.Run = s.Wait+k.Wait, s.Run+k.Run
		if t.array {
			s.Tasks = append(s.Tasks, k.Task)
		}
	}
	slices.SortFunc(s.Tasks, func(a, b Task) int { return int(int64(a.Task) - int64(b.Task)) })
	if s.State = "over"; j == nil {
		return s
	}
	waiting := t.all
	pending := t.waits(j)
	if pending {
		n := uint32(1)
		if t.task == 0 {
			n = j.Pending.Count()
		}
		s.Wait += float64(n) * now.Sub(t.all.at)
	}
	ids := slices.Sorted(maps.Keys(t.tasks))
	for _, id := range ids {
		k := t.tasks[id]
		if k.State != "over" {
			s.State = k.State
		}
		if k.wait != nil && !pending {
			waiting, pending = k.wait, true
		}
	}
	if t.array {
		s.State = fmt.Sprintf("%d of %d tasks over", int(j.Tasks.Count())-len(t.st.Tasks(t.job))-int(j.Pending.Count()),
			j.Tasks.Count())
	}
	t.noteSilentHosts(last.Mark)
	if !pending {
		return s
	}
	if !t.array {
		s.State = "waiting"
	}
	last.What, last.Seconds = "waiting", now.Sub(waiting.at)
	last.Waits = waiting.finish(t.st.Seq, now)
	last.Text = "it still waits"
	if t.array {
		last.Text = fmt.Sprintf("%d of its tasks wait", countWaiting(t.st, j))
		s.Waits = last.Waits
	}
	s.Steps = append(s.Steps, last)
	if t.outlook == nil {
		t.outlook = outlookOf(t.st, j, t.task, now, foresee)
	}
	s.Outlook = &Outlook{*t.outlook}
	return s
}

// noteSilentHosts adds which hosts of the job's tasks do not report: what the log has of these tasks is as old as that.
func (t *follower) noteSilentHosts(at Mark) {
	hosts := map[string]bool{}
	for _, k := range t.tasks { // order: sorted below
		if k.last == nil || k.wait != nil {
			continue
		}
		for _, g := range k.last.Grants {
			hosts[g.Host] = true
		}
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		l := t.st.Load(host)
		switch {
		case l == nil:
			t.story.Steps = append(t.story.Steps, Step{Mark: at, What: "silent", Text: host + " has never reported"})
		case l.Unheard:
			t.story.Steps = append(t.story.Steps, Step{Mark: at, What: "silent",
				Text: host + " does not report since " + clock(l.Reported.Std()) + ": what became of the task there is not known"})
		}
	}
}

func stateOf(t *grid.JATask) string {
	switch {
	case t.State&grid.StateError != 0:
		return "in error"
	case t.State&grid.StateSuspendedAny != 0:
		return "suspended"
	}
	return t.Status.String()
}

// countWaiting returns how many tasks of a job wait for their first start, or for another.
func countWaiting(st *state.State, j *grid.Job) (n int) {
	for _, t := range st.Tasks(j.ID) {
		if !t.Started() && t.Status != grid.Finished {
			n++
		}
	}
	return n + int(j.Pending.Count())
}
