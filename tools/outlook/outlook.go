package outlook

import (
	"cmp"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

const aheadMost = 500 // jobs before this one that are given their places first

// Outlook is what has to happen before a task that waits can start.
type Outlook struct {
	*explain.Explanation
	Alone   *Start          // if it went first
	Start   *Start          // after those before it have their places, by the algorithm of the cell
	Endless bool            // no start is foreseen: nothing gives back what it lacks at a known time
	OpenEnd *grid.SchedConf // ... and a task runs whose end is not known
}

// Start is a start that is foreseen.
type Start struct {
	At    grid.Time
	Where string // queue instances; "" when it is not known
}

// Options say how much an outlook may cost, and what there is already.
type Options struct {
	Cluster  *sched.Cluster // follows the state, and is copied; nil: one is made
	Zone     *time.Location // of times in texts; nil: the local one
	JobsMost int            // Start is left out when there are more jobs than these; 0: any number
	Stop     func() bool    // whether the answer is not wanted any more; nil: it is
}

// Of returns the outlook of a task (0: the job's next one) that waits in a state.
func Of(st *state.State, j *grid.Job, task uint32, now grid.Time, opts Options) *Outlook {
	now = max(now, st.At)
	cluster := cmp.Or(opts.Cluster, sched.NewCluster(st))
	o := &Outlook{Explanation: explain.New(st, cluster, now, cmp.Or(opts.Zone, time.Local)).Why(j, task)}
	first := o.First().Kind
	if first == explain.Own || first == explain.Never {
		return o // it is not in line, or no time will do
	}
	switch p, at, why := earliest(cluster, j, now); {
	case first == explain.Algorithm:
	case o.Fits():
		o.Alone = &Start{At: now}
	case why.Fits():
		o.Alone = &Start{at, explain.Places(p.Grants)}
	default:
		o.Endless = true
		if s := st.SchedConf(); unbounded(s) && openEnded(st) {
			o.OpenEnd = s
		}
		return o
	}
	if r := o.Expected; r != nil {
		o.Start = &Start{max(r.Start, now), explain.Places(r.Grants)}
		return o
	}
	if len(o.Ahead) <= aheadMost && (opts.JobsMost == 0 || st.Len(grid.KindJob) <= opts.JobsMost) {
		o.Start = decided(st, j, o.Ahead, now, opts.Stop)
	}
	return o
}

// earliest returns when and where a job could start if it went first.
func earliest(c *sched.Cluster, j *grid.Job, now grid.Time) (sched.Placement, grid.Time, reason.Reason) {
	c = sched.Foreseeing(c)
	c.Begin(now)
	return c.Earliest(c.Need(j), now)
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
	var places []grid.Grant
	r := algorithm.Run{Number: 1, Now: now, Monitor: func(line string) {
		p, place, mine := planned(line)
		if !mine || p.Job != j.ID || found != nil && p.At != found.At {
			return
		}
		found = &Start{At: p.At}
		if queue, host, ok := strings.Cut(place.Instance, "@"); ok {
			places = append(places, grid.Grant{Queue: queue, Host: host, Slots: uint32(place.Slots)})
		}
	}}
	for range a.Begin()(r) {
		if stop != nil && stop() {
			return nil
		}
	}
	if found == nil {
		return nil
	}
	return &Start{max(found.At, now), explain.Places(places)}
}
