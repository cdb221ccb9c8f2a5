package ticket

import (
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// verdict is what became of a job.
type verdict uint8

const (
	done     verdict = iota // nothing more of it can start in this run
	rejected                // nobody of its category can
	gone                    // all of it has started, or others go first now
)

// attempt is how far a run has come with a category.
type attempt struct {
	run     uint32
	group   *model.Group
	cursor  sched.Cursor
	limited bool      // the user of one of its jobs may not have more
	failed  bool      // nobody of the category can start any more
	never   bool      // nobody can have a reservation
	from    grid.Time // the last reservation: the next is not earlier
}

// attempt is this run's with a category.
func (r *run) attempt(g *model.Group) *attempt {
	a := r.attempted(g)
	if a == nil {
		a = r.tried.get()
		*a = attempt{run: r.runs, group: g}
		r.attempts = room(r.attempts, g.Number)
		r.attempts[g.Number] = a
	}
	return a
}

// attempted is the attempt if there was one.
func (r *run) attempted(g *model.Group) *attempt {
	if int(g.Number) < len(r.attempts) {
		if a := r.attempts[g.Number]; a != nil && a.run == r.runs && a.group == g {
			return a
		}
	}
	return nil
}

// dispatch starts jobs until none are left or no queue can take one.
func (r *run) dispatch() {
	for !r.Stopped {
		if r.m.Cluster.Idle() && !r.m.Immediate() && !r.mayReserve() {
			return
		}
		h, ok := r.jobs().head()
		if !ok {
			return
		}
		a := r.attempt(h.Of)
		if r.vain(a) {
			r.order.reject()
			continue
		}
		switch r.job(r.m.State.Job(h.Job), a) {
		case done:
			r.order.pass()
		case rejected:
			r.order.reject()
		}
	}
}

// vain says that nothing is to be had for a category, whichever job it is: no
// place, as far as it is known without looking for one, and no reservation.
func (r *run) vain(a *attempt) bool {
	if a.group.Need.Job.Immediate {
		return false
	}
	if !a.failed && !r.least.Exceeded(a.group.Extent) && r.m.Cluster.Vain(a.group.Need) {
		r.least.Add(a.group.Extent)
	}
	a.failed = a.failed || r.least.Exceeded(a.group.Extent)
	return a.failed && !r.reserves(a)
}

// job starts the tasks of a job, as many as fit, and reserves for the others
// if it may. What cannot start takes its category out of the starts, but not
// out of the reservations.
func (r *run) job(j *grid.Job, a *attempt) verdict {
	if r.m.NowOrNever(j) {
		return r.nowOrNever(j, a)
	}
	for id := r.m.NextTask(j, r.begun[j.ID]); id != 0 && !r.Stopped; id = r.m.NextTask(j, id) {
		if !r.mayStart(j, a) {
			return done
		}
		if !a.failed {
			if p, ok := r.place(a); ok {
				r.m.Cluster.Book(a.group.Need, j, p)
				r.Starting(j, r.start(j, id, p))
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
		if !r.reserve(j, id, a) {
			return rejected
		}
	}
	return done
}

// place finds a place.
func (r *run) place(a *attempt) (p sched.Placement, ok bool) {
	p, why := r.m.Cluster.Place(a.group.Need, &a.cursor)
	if !why.Fits() {
		r.least.Add(a.group.Extent)
	}
	return p, why.Fits()
}

// mayStart holds a job against the limits that are its own or its user's.
func (r *run) mayStart(j *grid.Job, a *attempt) bool {
	within, why := r.WithinLimits(j)
	a.limited = a.limited || why.Code == sched.UserLimit
	return within
}

// nowOrNever starts all tasks of an immediate job or removes it. Its starts
// are wished only when all of them have found a place.
func (r *run) nowOrNever(j *grid.Job, a *attempt) verdict {
	var starts []*orders.StartJob
	var placed []sched.Placement
	for id := r.m.NextTask(j, 0); id != 0; id = r.m.NextTask(j, id) {
		p, why := sched.Placement{}, sched.Reason{Code: sched.UserLimit}
		if r.mayStart(j, a) {
			p, why = r.m.Cluster.Place(a.group.Need, &a.cursor)
		}
		if !why.Fits() {
			for _, p := range placed {
				r.m.Cluster.Unbook(a.group.Need, j, p)
			}
			r.Wish(&orders.RemoveImmediateJob{Job: j.ID})
			return done
		}
		r.m.Cluster.Book(a.group.Need, j, p)
		placed = append(placed, p)
		starts = append(starts, r.start(j, id, p))
	}
	for _, o := range starts {
		r.order.started()
		r.begun[j.ID] = o.Task
		if !r.Starting(j, o) {
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
