package whatif

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Recorded is what a log tells of a stretch of time.
type Recorded struct {
	Start      *state.State
	Last       grid.Time
	Inputs     []Input // in the order of time
	Accounting []*grid.Accounting
	Skipped    int // changes of jobs by users that are not repeated

	runs   map[task]ending
	begun  map[task]grid.Time // what had started and not ended
	median float64
}

type task struct{ job, id uint32 }

// ending is how a task ended.
type ending struct {
	seconds float64
	result  grid.Accounting
}

// Input is something from outside that happened. One of the fields is set.
type Input struct {
	At     grid.Time
	Submit *grid.Job
	Delete uint32        // a job that qdel took away
	Change *events.Event // of the configuration
	Load   *grid.Load
}

// configured are the kinds that administrators change, qconf(1).
var configured = map[grid.Kind]bool{
	grid.KindConf: true, grid.KindSchedConf: true, grid.KindManager: true, grid.KindOperator: true, grid.KindAdminHost: true,
	grid.KindSubmitHost: true, grid.KindUserset: true, grid.KindProject: true, grid.KindUser: true, grid.KindCentry: true,
	grid.KindCalendar: true, grid.KindCkpt: true, grid.KindPE: true, grid.KindHGroup: true, grid.KindExecHost: true,
	grid.KindCQueue: true, grid.KindRQS: true, grid.KindShareTree: true,
}

// Record reads what followed on a state.
func Record(from *state.State, lists iter.Seq2[events.List, error]) (*Recorded, error) {
	r := &Recorded{Start: from, Last: from.At, runs: map[task]ending{}, begun: map[task]grid.Time{}}
	from.Each(grid.KindJATask, func(o grid.Object) bool {
		r.started(o.(*grid.JATask))
		return true
	})
	for l, err := range lists {
		if err != nil {
			return r.complete(), err
		}
		r.Last = l.At
		for i := range l.Events {
			r.take(l, &l.Events[i])
		}
	}
	return r.complete(), nil
}

// take takes in one event.
func (r *Recorded) take(l events.List, e *events.Event) {
	in := Input{At: l.At}
	switch o := e.Object.(type) {
	case *grid.Job:
		switch {
		case e.Op == events.OpAdd:
			in.Submit = o
		case l.Cause.What == "qalter" || l.Cause.What == "qhold" || l.Cause.What == "qrls":
			r.Skipped++
			return
		default:
			return
		}
	case *grid.JATask:
		r.started(o)
		return
	case *grid.Accounting:
		r.Accounting = append(r.Accounting, o)
		if !o.Rescheduled {
			r.runs[task{o.Job, o.Task}] = ending{o.End.Sub(o.Start), *o}
			delete(r.begun, task{o.Job, o.Task})
		}
		return
	case *grid.Load:
		in.Load = o
	default:
		switch {
		case e.Kind == grid.KindJob && e.Op == events.OpDel && l.Cause.What == "qdel":
			in.Delete = e.Key.ID
		case configured[e.Kind] && strings.Contains(l.Cause.Who, "@") && l.Cause.What != "qsub": // a user's command; a job may bring its user's object along
			in.Change = e
		default:
			return
		}
	}
	r.Inputs = append(r.Inputs, in)
}

func (r *Recorded) started(t *grid.JATask) {
	if t.Started() {
		r.begun[task{t.Job, t.ID}] = t.Start
	}
}

// complete finds the median, for those of whom nothing is known.
func (r *Recorded) complete() *Recorded {
	all := slices.Sorted(func(yield func(float64) bool) {
		for e := range maps.Values(r.runs) {
			if !yield(e.seconds) {
				return
			}
		}
	})
	if len(all) > 0 {
		r.median = all[len(all)/2]
	}
	return r
}

// takes says how long a task of a job runs, and how it ends.
func (r *Recorded) takes(j *grid.Job, recorded task) ending {
	if e, ok := r.runs[recorded]; ok {
		return e
	}
	for _, q := range j.Hard {
		if q.Name == "h_rt" {
			if n, ok := grid.CentryType("TIME").Parse(q.Value); ok {
				return ending{seconds: n}
			}
		}
	}
	if start, ok := r.begun[recorded]; ok {
		return ending{seconds: r.Last.Sub(start)}
	}
	return ending{seconds: cmp.Or(r.median, 1)}
}
