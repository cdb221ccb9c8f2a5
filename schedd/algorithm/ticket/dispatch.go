package ticket

import (
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// outcome is what became of a job.
type outcome uint8

const (
	done     outcome = iota // nothing more of it can start in this run
	rejected                // no job of its category can
	gone                    // all of it has started, or others go first now
)

// categoryProgress is how far a run has come with a category.
type categoryProgress struct {
	run     uint64
	group   *model.Group
	cursor  sched.Cursor
	limited bool      // the user of one of its jobs may not have more
	failed  bool      // no job of the category can start any more
	never   bool      // no job of the category can have a reservation
	from    grid.Time // the last reservation: the next is not earlier
}

// categoryProgress is this run's with a category.
func (r *run) attempt(g *model.Group) *categoryProgress {
	a := r.attempted(g)
	if a == nil {
		a = r.tried.get()
		*a = categoryProgress{run: r.runs, group: g}
		r.attempts = room(r.attempts, g.Number)
		r.attempts[g.Number] = a
	}
	return a
}

// attempted is the attempt if there was one.
func (r *run) attempted(g *model.Group) *categoryProgress {
	if int(g.Number) < len(r.attempts) {
		if a := r.attempts[g.Number]; a != nil && a.run == r.runs && a.group == g {
			return a
		}
	}
	return nil
}

// dispatch starts jobs until none are left or no queue can take one.
func (r *run) dispatch() {
	r.hopes.Begin(&r.m.Lines)
	for !r.Stopped && r.more() && r.next() {
	}
}

// more reports whether it makes a difference to look at another job: one may
// start yet, or the reasons of those that cannot are wanted, and of reservations.
func (r *run) more() bool {
	if r.quiet {
		return r.hope() || r.mayReserve()
	}
	return !r.full() || r.mayReserve()
}

// full reports whether nothing is free for anybody.
func (r *run) full() bool { return r.m.Cluster.Idle() && !r.m.Immediate() }

// hope reports whether any job in line may still start. An infeasible job stays so for
// the rest of the run.
func (r *run) hope() bool {
	if r.full() {
		return false
	}
	for r.hopes.Of != nil && r.infeasible(r.hopes.Of) {
		r.hopes.Next()
	}
	return r.hopes.Of != nil
}

// next looks at the next job; false: there is none.
func (r *run) next() bool {
	h, ok := r.jobs().head()
	if !ok {
		return false
	}
	a := r.attempt(h.Of)
	if a.failed = a.failed || !r.limits(h.Job) && r.infeasible(h.Of); a.failed &&
		!h.Of.Need.Job.Immediate && !r.reserves(a) {
		r.order.reject()
		return true
	}
	switch r.job(r.m.State.Job(h.Job), a) {
	case done:
		r.order.pass()
	case rejected:
		r.order.reject()
	}
	return true
}

// limits reports whether it may be a limit of its own or its user's that stops a job
// in line: it waits for that then, whether there is a place or not.
func (r *run) limits(job uint32) bool { return r.begun[job] != 0 || r.m.Cluster.MaxUJobs() > 0 }

// infeasible reports whether there is no placement for a category, whichever job it is, as far
// as it is known without looking for one.
func (r *run) infeasible(g *model.Group) bool {
	switch {
	case g.Need.Job.Immediate:
		return false
	case r.failedSizes.Covers(g.Size):
		return true
	case r.m.Cluster.Infeasible(g.Need):
		r.failedSizes.Add(g.Size)
		return true
	}
	return false
}

// job starts the tasks of a job, as many as fit, and reserves for the others if it may. A
// job that cannot start takes its category out of the starts, but not out of the
// reservations.
func (r *run) job(j *grid.Job, a *categoryProgress) outcome {
	if r.m.NowOrNever(j) {
		return r.nowOrNever(j, a)
	}
	for id := r.m.NextTask(j, r.begun[j.ID]); id != 0 && !r.Stopped; id = r.m.NextTask(j, id) {
		if !r.mayStart(j, a) {
			return done
		}
		if a.failed = a.failed || r.infeasible(a.group); !a.failed {
			if p, ok := r.findPlacement(a); ok {
				r.m.Cluster.Book(a.group.Need, j, p)
				r.YieldStart(j, r.start(j, id, p))
				r.begun[j.ID] = id
				if r.m.NextTask(j, id) == 0 {
					r.order.finished()
					return gone
				}
				if r.order.started(); !r.order.leads(j.ID) {
					return gone
				}
				continue
			}
			a.failed = true
		}
		switch {
		case r.reserve(j, id, a):
		case j.Immediate: // it starts anew, and those after it now or never
			return done
		default:
			return rejected
		}
	}
	return done
}

// findPlacement finds a place.
func (r *run) findPlacement(a *categoryProgress) (p sched.Placement, ok bool) {
	p, why := r.m.Cluster.FindPlacement(a.group.Need, &a.cursor)
	if !why.Fits() {
		r.failedSizes.Add(a.group.Size)
	}
	return p, why.Fits()
}

// mayStart holds a job against the limits that are its own or its user's.
func (r *run) mayStart(j *grid.Job, a *categoryProgress) bool {
	within, why := r.WithinLimits(j)
	a.limited = a.limited || why.Code == reason.UserLimit
	return within
}

// nowOrNever starts all tasks of an immediate job or removes it. Its starts
// are yielded only when all of them have a placement.
func (r *run) nowOrNever(j *grid.Job, a *categoryProgress) outcome {
	var starts []*orders.StartJob
	var placed []sched.Placement
	for id := r.m.NextTask(j, 0); id != 0; id = r.m.NextTask(j, id) {
		p, why := sched.Placement{}, reason.Reason{Code: reason.UserLimit}
		if r.mayStart(j, a) {
			p, why = r.m.Cluster.FindPlacement(a.group.Need, &a.cursor)
		}
		if !why.Fits() {
			for _, p := range placed {
				r.m.Cluster.Unbook(a.group.Need, j, p)
			}
			r.Yield(&orders.RemoveImmediateJob{Job: j.ID})
			return done
		}
		r.m.Cluster.Book(a.group.Need, j, p)
		placed = append(placed, p)
		starts = append(starts, r.start(j, id, p))
	}
	for _, o := range starts {
		r.order.started()
		r.begun[j.ID] = o.Task
		if !r.YieldStart(j, o) {
			break
		}
	}
	return done
}

func (r *run) start(j *grid.Job, id uint32, p sched.Placement) *orders.StartJob {
	o, w := r.StartJob(j, id, p), r.order.worth()
	o.Priority, o.Tickets = w.Priority, w.tickets.sum()
	return o
}
