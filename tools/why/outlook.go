package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/tools/sim/couple"
)

const (
	closestMost = 5   // queue instances that are listed
	aheadMost   = 500 // jobs before this one that are given their places first
)

// outlook returns what would have to change for a job that waits in a state.
func outlook(st *state.State, j *grid.Job, task uint32, now grid.Time) *Outlook {
	now = max(now, st.At)
	planned := planning(st, now, 0)
	c := sched.NewCluster(planned)
	c.Begin(now)
	n := c.Need(j)
	o := &Outlook{Reasons: texts(view.OwnWaits(st, j, task)), Places: st.Len(grid.KindQInstance)}
	why := c.Why(n)
	o.Fits, o.Why = why.Fits(), why.String()
	if why == (sched.Reason{Code: sched.QueueUnavailable}) {
		o.Why = "no queue instance can take it now"
	}
	if !o.Fits {
		for _, near := range c.Closest(n, closestMost) {
			m := Near{Instance: near.Instance}
			for _, l := range near.Lacks {
				m.Lacks = append(m.Lacks, lack(l))
			}
			o.Closest = append(o.Closest, m)
		}
	}
	if len(o.Reasons) > 0 {
		return o // it is not in line
	}
	priority := 0.0
	if p := view.Found(st)(j.ID); p != nil {
		priority = p.Priority
	}
	ahead, _ := view.JobsAhead(st, j.ID, priority)
	for i, b := range ahead {
		if i == rivalsMost {
			o.More = len(ahead) - i
			break
		}
		o.Before = append(o.Before, Rival{b.Job.ID, 0, b.Job.Owner, b.Priority, fateOf(st, b.Job)})
	}
	o.foresee(st, c, n, j, ahead, now)
	return o
}

// foresee looks for the earliest start: by pkg/sched if the job went first, and
// by the cell's algorithm after those who stand before it have their places.
func (o *Outlook) foresee(st *state.State, c *sched.Cluster, n *sched.Need, j *grid.Job, ahead []view.JobAhead, now grid.Time) {
	start := func(at grid.Time, where string) *Start { return &Start{at.Std(), at.Sub(now), where} }
	switch p, at, why := c.Earliest(n, now); {
	case o.Fits:
		o.Alone = start(now, "")
	case why.Fits():
		o.Alone = start(at, places(p.Grants))
	default:
		o.Never = "no start is foreseen: nothing that runs or is planned gives back what it lacks at a known time"
		if s := st.SchedConf(); unbounded(s) && openEnded(st) {
			o.Never += fmt.Sprintf("; the end of jobs without -l h_rt is not known (default_duration %s)", s.DefaultDuration)
		}
		return
	}
	var first []*grid.Job
	for _, b := range ahead[:min(len(ahead), aheadMost)] {
		first = append(first, b.Job)
	}
	at, where, ok := decided(st, j, first, now)
	if ok && len(ahead) <= aheadMost {
		o.Earliest = start(at, where)
	}
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
// before it, reserve; it says when and where the job starts or is to.
func decided(st *state.State, j *grid.Job, ahead []*grid.Job, now grid.Time) (at grid.Time, where string, ok bool) {
	s := planning(st, now, len(ahead)+1, append(slices.Clone(ahead), j)...)
	a, err := couple.Algorithm(schedd.Algorithms(), *s.SchedConf())
	if err != nil {
		return 0, "", false
	}
	a.Apply(s.FullList())
	r := algorithm.Run{Number: 1, Now: now, Monitor: func(line string) {
		if t, w, mine := foreseen(line, j.ID); mine && (!ok || t == at) {
			at, ok = t, true
			if w != "" {
				where = w
			}
		}
	}}
	for range a.Begin()(r) {
	}
	return max(at, now), where, ok
}

// foreseen reads a line of the schedule file, job:task:state:start:duration:
// level:object:..., about a job's start or reservation.
func foreseen(line string, job uint32) (at grid.Time, where string, ok bool) {
	f := strings.Split(line, ":")
	if len(f) < 8 || f[0] != strconv.FormatUint(uint64(job), 10) || f[2] != "STARTING" && f[2] != "RESERVING" {
		return 0, "", false
	}
	seconds, err := strconv.ParseInt(f[3], 10, 64)
	if f[5] == "Q" {
		where = f[6]
	}
	return grid.TimeOf(time.Unix(seconds, 0)), where, err == nil
}
