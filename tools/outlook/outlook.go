package outlook

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

const (
	closestMost = 5   // queue instances that are listed
	aheadMost   = 500 // jobs before this one that are given their places first
)

// Outlook is what has to happen before a task that waits can start.
type Outlook struct {
	// its own reasons: holds, predecessors, -a; with one of them it is not in line, and no start is foreseen
	Own     []view.Wait
	Why     reason.Reason   // why there is no place for it now; OK: there is one
	Closest []sched.Near    // the queue instances that lack the least
	Ahead   []view.JobAhead // jobs that stand before it, the first first
	Alone   *Start          // if it went first
	Start   *Start          // after those before it have their places, by the algorithm of the cell
	Never   bool            // no start is foreseen: nothing gives back what it lacks at a known time
	OpenEnd *grid.SchedConf // ... and a task runs whose end is not known
}

// Obstacle returns why there is no place for the task now, "" when there is one.
func (o *Outlook) Obstacle() string {
	if o.Why == (reason.Reason{Code: reason.QueueUnavailable}) {
		return "no queue instance can take it now"
	}
	return o.Why.String()
}

// Start is a start that is foreseen.
type Start struct {
	At    grid.Time
	Where string // queue instances; "" when it is not known
}

// Options say how much an outlook may cost.
type Options struct {
	JobsMost int         // Start is left out when there are more jobs than these; 0: any number
	Stop     func() bool // whether the answer is not wanted any more; nil: it is
}

// Of returns the outlook of a task (0: the job's next one) that waits in a state.
func Of(st *state.State, j *grid.Job, task uint32, now grid.Time, opts Options) *Outlook {
	now = max(now, st.At)
	c := sched.NewCluster(planning(st, now, 0))
	c.Begin(now)
	n := c.Need(j)
	o := &Outlook{Own: view.OwnWaits(st, j, task), Why: c.Why(n)}
	if !o.Why.Fits() {
		o.Closest = c.Closest(n, closestMost)
	}
	if len(o.Own) > 0 {
		return o // it is not in line
	}
	priority := 0.0
	if p := view.Found(st)(j.ID); p != nil {
		priority = p.Priority
	}
	o.Ahead, _ = view.JobsAhead(st, j.ID, priority)
	switch p, at, why := c.Earliest(n, now); {
	case o.Why.Fits():
		o.Alone = &Start{At: now}
	case why.Fits():
		o.Alone = &Start{at, Places(p.Grants)}
	default:
		o.Never = true
		if s := st.SchedConf(); unbounded(s) && openEnded(st) {
			o.OpenEnd = s
		}
		return o
	}
	if len(o.Ahead) <= aheadMost && (opts.JobsMost == 0 || st.Len(grid.KindJob) <= opts.JobsMost) {
		o.Start = decided(st, j, o.Ahead, now, opts.Stop)
	}
	return o
}

// unbounded reports whether jobs are taken to run for ever unless they say how long.
func unbounded(c *grid.SchedConf) bool {
	s, ok := c.DefaultDuration.Seconds()
	return !ok || s <= 0 || s >= grid.Infinity
}

// openEnded reports whether a task runs whose job does not say for how long.
func openEnded(st *state.State) (found bool) {
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if j := st.Job(t.Job); t.Started() && j != nil {
			_, hard := j.Hard.Get("h_rt")
			_, soft := j.Hard.Get("s_rt")
			found = !hard && !soft
		}
		return !found
	})
	return found
}

// planning is a state in which reservations are made: for the jobs, and for as
// many as the configuration allows anyway.
func planning(st *state.State, now grid.Time, more int, reserve ...*grid.Job) *state.State {
	s := st.Copy()
	conf := *s.SchedConf()
	conf.MaxReservation = max(conf.MaxReservation, 1) + uint32(more)
	l := events.List{Seq: s.Seq, At: max(s.At, now), Events: []events.Event{events.Mod(&conf)}}
	for _, j := range reserve {
		r := *j
		r.Reserve = true
		l.Events = append(l.Events, events.Mod(&r))
	}
	s.Apply(l)
	return s
}

// decided has the cell's algorithm decide on a copy in which the job, and those
// before it, reserve, and returns when and where the job starts or is to; nil when it is not.
func decided(st *state.State, j *grid.Job, ahead []view.JobAhead, now grid.Time, stop func() bool) (found *Start) {
	reserve := []*grid.Job{}
	for _, b := range ahead {
		reserve = append(reserve, b.Job)
	}
	s := planning(st, now, len(ahead)+1, append(reserve, j)...)
	a, err := couple.Algorithm(shipped.Algorithms(), *s.SchedConf())
	if err != nil {
		return nil
	}
	a.Apply(s.FullList())
	r := algorithm.Run{Number: 1, Now: now, Monitor: func(line string) {
		t, where, mine := foreseen(line, j.ID)
		switch {
		case !mine || found != nil && t != found.At:
		case found == nil:
			found = &Start{t, where}
		case where != "":
			found.Where = where
		}
	}}
	for range a.Begin()(r) {
		if stop != nil && stop() {
			return nil
		}
	}
	if found != nil {
		found.At = max(found.At, now)
	}
	return found
}

// foreseen reads a line of the schedule file about a job's start or reservation.
func foreseen(line string, job uint32) (at grid.Time, where string, ok bool) {
	p, place, ok := planned(line)
	return p.At, place.Instance, ok && p.Job == job
}

// Places returns queue instances, with their slots where they are several.
func Places(g []grid.Grant) string {
	words := make([]string, len(g))
	for i, e := range g {
		words[i] = e.Instance()
		if len(g) > 1 || e.Slots > 1 {
			words[i] += "=" + strconv.FormatUint(uint64(e.Slots), 10)
		}
	}
	return strings.Join(words, ",")
}
