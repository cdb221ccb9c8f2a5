package whatif

import (
	"iter"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
)

// Recorded is what a log contains of a stretch of time.
type Recorded struct {
	Start      *state.State
	Last       grid.Time
	Slots      int64   // of the cluster, at most
	Inputs     []Input // in the order of time
	Accounting []*grid.Accounting
	Skipped    map[string]int // what happened and is not repeated, and how often

	ends     map[taskID][]ending // that attempts came to by themselves
	attempts map[report.Attempt]endedAttempt
	begun    map[taskID]*stretch // what had started and not ended
	after    *state.State        // the last list
	median   grid.Time
}

type taskID struct{ job, id uint32 }

// Input is something from outside that happened: one of the fields is set, or
// none, and the clock of qmaster had something to do.
type Input struct {
	At     grid.Time
	Ask    *gdi.Request  // of a user, with the recorded numbers of jobs and reservations
	Change *events.Event // of the configuration
	Load   *grid.Load
}

// ending is how an attempt ended.
type ending struct {
	run    grid.Time // how long it ran, suspensions not counted
	until  grid.Time // if it was ended from outside: it would have run longer than until then
	late   grid.Time // from its end until it was reported to qmaster
	result grid.Accounting
}

// endedAttempt is what is known of one that ended.
type endedAttempt struct {
	lead  grid.Time // from when it was sent until it ran
	least grid.Time // that it would have run, as it was ended from outside; else 0
	dying grid.Time // from the command to end until it did
	late  grid.Time // from its end until it was reported to qmaster
}

// stretch is what is known of an attempt while it lasts.
type stretch struct {
	attempt uint32
	sent    grid.Time
	since   grid.Time // when it was suspended; 0: it is not
	stood   grid.Time // how long it was, before
	killed  grid.Time // when its end was asked for
}

// Record reads what followed on a state.
func Record(from *state.State, lists iter.Seq2[events.List, error]) (*Recorded, error) {
	r := &Recorded{Start: from, Last: from.At, Slots: Slots(from), Skipped: map[string]int{},
		ends: map[taskID][]ending{}, attempts: map[report.Attempt]endedAttempt{}, begun: map[taskID]*stretch{}}
	from.Each(grid.KindJATask, func(o grid.Object) bool {
		r.noteAttempt(from.At, o.(*grid.JATask))
		return true
	})
	now := from.Copy()
	r.after = now
	for l, err := range lists {
		if err != nil {
			return r.setMedian(), err
		}
		r.noteList(now, l)
		r.Last = l.At
	}
	return r.setMedian(), nil
}

// noteList takes in what a list did to a state.
func (r *Recorded) noteList(s *state.State, l events.List) {
	var who *asker
	grown := false
	if strings.Contains(l.Cause.Who, "@") {
		who = newAsker(l)
	}
	for i := range l.Events {
		e := &l.Events[i]
		switch o := e.Object.(type) {
		case *grid.JATask:
			r.noteAttempt(l.At, o)
		case *grid.Accounting:
			r.noteEnd(l.At, o)
		case *grid.Load:
			r.Inputs = append(r.Inputs, Input{At: l.At, Load: o})
		case *grid.CQueue, *grid.QInstance, *grid.HGroup:
			grown = true
		}
		if who != nil {
			who.noteEvent(s, e)
		}
	}
	s.Apply(l)
	if grown {
		r.Slots = max(r.Slots, Slots(s))
	}
	switch {
	case who != nil:
		asked := who.requests(s)
		if r.Inputs = append(r.Inputs, asked...); len(asked) == 0 {
			r.Skipped[l.Cause.What]++
		}
	case l.Cause.What == "timer":
		r.Inputs = append(r.Inputs, Input{At: l.At})
	}
}

// noteAttempt notes when an attempt was sent, suspended and terminated.
func (r *Recorded) noteAttempt(now grid.Time, t *grid.JATask) {
	k := taskID{t.Job, t.ID}
	if !t.Started() {
		delete(r.begun, k)
		return
	}
	s := r.begun[k]
	if s == nil || s.attempt != t.Attempt {
		s = &stretch{attempt: t.Attempt, sent: t.Start}
		r.begun[k] = s
	}
	switch stands := t.State&grid.StateSuspendedAny != 0; {
	case stands && s.since == 0:
		s.since = now
	case !stands && s.since > 0:
		s.stood, s.since = s.stood+now-s.since, 0
	}
	if s.killed == 0 && (t.Kill != "" || t.State&grid.StateDeleted != 0) {
		s.killed = now
	}
}

// noteEnd takes in that an attempt is over.
func (r *Recorded) noteEnd(now grid.Time, a *grid.Accounting) {
	r.Accounting = append(r.Accounting, a)
	k := taskID{a.Job, a.Task}
	s := r.begun[k]
	if s == nil || partOfTask(a) {
		return
	}
	delete(r.begun, k)
	if s.since > 0 {
		s.stood += a.End - s.since
	}
	if s.killed == 0 && a.DeletedBy != "" { // at once, without its execution daemon
		s.killed = now
	}
	e := ending{run: max(a.End-a.Start-s.stood, 0), late: now - a.End, result: *a}
	if report.Failure(a.Failed) == report.FailedLimit { // which counts suspensions
		e.run += s.stood
	}
	is := endedAttempt{lead: a.Start - s.sent, late: e.late}
	if s.killed > 0 {
		e.until, is.least, is.dying = a.End+1, e.run+1, max(a.End-s.killed, 0)
	}
	r.attempts[report.Attempt{Job: a.Job, Task: a.Task, N: s.attempt}] = is
	switch {
	case !a.Rescheduled || ownEnd(a):
		r.ends[k] = append(r.ends[k], e)
	case s.killed == 0:
		r.Skipped["attempt lost with its host"]++
	}
}

// partOfTask reports whether a record is of a slave task of a parallel job.
func partOfTask(a *grid.Accounting) bool { return a.PETask != "" && a.PETask != "NONE" }

// ownEnd reports whether an attempt that was to begin anew ended by itself: with a
// status that asks for it, or because something failed. Codes: sge_status(5).
func ownEnd(a *grid.Accounting) bool {
	switch report.Failure(a.Failed) {
	case report.FailedNoStatus, report.FailedMigrated:
		return false
	case report.FailedRestart:
		return a.ExitStatus == report.ExitRestart
	}
	return true
}

// setMedian finds the median, for attempts of which nothing is known.
func (r *Recorded) setMedian() *Recorded {
	var all []grid.Time
	for _, ends := range r.ends {
		all = append(all, ends[len(ends)-1].run)
	}
	if slices.Sort(all); len(all) > 0 {
		r.median = all[len(all)/2]
	}
	return r
}

// endingOf returns how an attempt of a job's task ends that has come to so many ends
// by itself before.
func (r *Recorded) endingOf(j *grid.Job, recorded taskID, before int) ending {
	if ends := r.ends[recorded]; len(ends) > 0 {
		return ends[min(before, len(ends)-1)]
	}
	if most, ok := runLimit(j); ok {
		return ending{run: most}
	}
	if s := r.begun[recorded]; s != nil {
		return ending{run: r.Last - s.sent}
	}
	return ending{run: max(r.median, 1000)}
}

// runLimit is the h_rt that a job asks for: so long after its start its shepherd ends
// an attempt, whether it stands or runs.
func runLimit(j *grid.Job) (grid.Time, bool) {
	q, _ := j.Hard.Get("h_rt")
	n, ok := grid.CentryType("TIME").Parse(q.Value)
	return grid.Time(0).Add(n), ok && n < grid.Infinity
}
