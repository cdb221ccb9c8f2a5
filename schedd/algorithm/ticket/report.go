package ticket

import (
	"math"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/model"
)

// Limits of the reported tickets and priorities. In a small cell all of them are reported, once per schedule_interval
// where they have changed; while few jobs wait at once when there is a new one, on which the normalised terms of the
// others depend. In a large one only those of the jobs that are next: a number that changes with every start is of no
// use to a job with thousands before it, and reporting a million would cost more than deciding. The others can be
// computed from the range of all jobs: see reportRange.
const (
	smallCell   = 1000 // jobs in line, or started tasks
	fewJobs     = 50   // in line, which are reported by every run that sees a new one
	mostPending = 200  // jobs reported in a large cell
)

// report reports the priorities of pending jobs and running tasks.
func (r *run) report() {
	pending := r.m.Pending()
	if r.Stopped || !r.conf.ReportPJobTickets || !r.Explain && (pending == 0 || pending > fewJobs) {
		return
	}
	if !r.Explain && !r.anyNew() {
		return
	}
	p := r.jobs().policies
	most := pending
	if pending > smallCell {
		most = mostPending
	}
	if r.Explain && r.m.State.Len(grid.KindJATask) <= smallCell {
		r.reportRunning(p)
	}
	if r.Explain && !(r.overrideTotal(p) && r.reportRange(p, most < pending || p.turning)) {
		return
	}
	r.reportPending(newOrder(p, (*memory)(nil).again()), most)
}

// overrideTotal reports how many override tickets running tasks have together, rounded: shares of a ticket add up to a
// whole number except for errors of the arithmetic. It returns false when the run must end.
func (r *run) overrideTotal(p *policies) bool {
	sum := 0.0
	if p.tickets {
		for i := range p.parties {
			sum += p.override(&p.parties[i], 0) * float64(p.parties[i].Active)
		}
	}
	sum = math.Round(sum)
	return uint64(sum) == r.m.State.Counter(grid.WeightTicketsOverride) ||
		r.Yield(&orders.SchedConf{WeightTicketsOverride: sum})
}

// reportRange reports the range over which the terms of priorities were normalised, if
// that is needed and has changed. It returns false when the run must end.
func (r *run) reportRange(p *policies, needed bool) bool {
	old := r.m.State.PriorityRange()
	switch {
	case !needed:
		return old == nil || r.Yield(&orders.PriorityRange{})
	case old != nil:
		was := *old
		if !p.turning {
			was.At = p.within.At
		}
		if was == p.within {
			return true
		}
	}
	return r.Yield(&orders.PriorityRange{Range: p.within})
}

// anyNew reports whether a job in line has no reported priority.
func (r *run) anyNew() (found bool) {
	return r.m.Any(func(p model.Place) bool { return r.m.State.Priority(p.Job) == nil })
}

// reportPending reports the priorities of jobs in the order in which they would start
// now.
func (r *run) reportPending(o *order, most int) {
	var list []*orders.PTickets
	left := map[uint32]uint32{} // tasks by job that have yet to have their tickets
	sum := 0.0
	for len(list) < most {
		h, ok := o.head()
		if !ok {
			break
		}
		j := r.m.State.Job(h.Job)
		n, seen := left[h.Job]
		if seen {
			sum += o.worth().tickets.sum()
		} else {
			id := r.m.NextTask(j, r.begun[h.Job])
			if id == 0 { // all of it has been started in this run
				o.pass()
				continue
			}
			w := o.worth()
			list = append(list, pendingTickets(j.ID, id, w))
			sum += w.tickets.sum()
			n = 1
			if o.tickets && j.Array {
				n = o.tasks(j)
			}
		}
		switch left[h.Job] = n - 1; {
		case n > 1:
			o.started()
		case o.tickets:
			o.finished()
		default:
			o.pass()
		}
	}
	for _, t := range list {
		if sum > 0 {
			t.Share = t.Tickets / sum
		}
		if old := r.m.State.Priority(t.Job); (old == nil || o.differs(old, t)) && !r.Yield(t) {
			return
		}
	}
}

func pendingTickets(job, task uint32, w worth) *orders.PTickets {
	return &orders.PTickets{Job: job, Task: task,
		Tickets: w.tickets.sum(), OTickets: w.override, FTickets: w.functional, STickets: w.share,
		Priority: w.Priority, NTickets: w.NTickets, NPOSIX: w.NPOSIX, NUrgency: w.NUrgency,
		Urgency: w.Sum(), RRContr: w.Resources, DLContr: w.Deadline, WTContr: w.Waiting}
}

// differs reports whether what was reported of a job, and what follows from the range, is
// no longer what qstat should show.
func (p *policies) differs(old *grid.Priority, t *orders.PTickets) bool {
	return apart(float64(old.Tickets), t.Tickets) || apart(float64(old.OTickets), t.OTickets) ||
		apart(float64(old.FTickets), t.FTickets) || apart(float64(old.STickets), t.STickets) ||
		apart(float64(old.Share), t.Share) ||
		!p.turning && (apart(old.Priority, t.Priority) || apart(float64(old.NTickets), t.NTickets) ||
			urgencyDiffers(old, t.NPOSIX, t.NUrgency, t.RRContr, t.WTContr, t.DLContr))
}

// taskDiffers says it of a started task, whose job old is about.
func (p *policies) taskDiffers(was *grid.JATask, old *grid.Priority, t *orders.Tickets) bool {
	if apart(was.Tickets, t.Tickets) || apart(was.Share, t.Share) {
		return true
	}
	if p.turning {
		return false
	}
	if old == nil {
		old = new(grid.Priority)
	}
	return apart(was.Priority, t.Priority) || apart(was.NTickets, t.NTickets) ||
		urgencyDiffers(old, t.NPOSIX, t.NUrgency, t.RRContr, t.WTContr, t.DLContr)
}

func urgencyDiffers(old *grid.Priority, posix, urgency, resources, waiting, deadline float64) bool {
	return apart(float64(old.NPOSIX), posix) || apart(float64(old.NUrgency), urgency) ||
		apart(float64(old.RRContr), resources) ||
		apart(float64(old.WTContr), waiting) || apart(float64(old.DLContr), deadline)
}

// apart reports whether two values differ by what can be seen: a thousandth, or
// the fifth decimal.
func apart(a, b float64) bool {
	return math.Abs(a-b) > max(1e-5, 1e-3*math.Max(math.Abs(a), math.Abs(b)))
}

// reportRunning reports the priorities of the tasks that ran before this run.
func (r *run) reportRunning(p *policies) {
	type task struct {
		*grid.JATask
		worth
	}
	var list []task
	sum := 0.0
	find := r.m.Finder()
	parties := map[uint32]*party{}
	for i := range p.parties {
		parties[p.parties[i].Number] = &p.parties[i]
	}
	r.m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := r.m.State.Job(t.Job)
		if !t.Started() || j == nil {
			return true
		}
		c := parties[find(j)]
		if c == nil {
			return true
		}
		var has tickets
		if p.tickets && t.State&model.Still == 0 {
			has = p.running(c)
		}
		w := p.weigh(c, r.m.Cluster.ResourceUrgency(j), j.Submit, has)
		list = append(list, task{t, w})
		sum += has.sum()
		return true
	})
	for _, t := range list {
		w := t.worth
		o := &orders.Tickets{Job: t.Job, Task: t.ID,
			Tickets: w.tickets.sum(), OTickets: w.override, FTickets: w.functional, STickets: w.share,
			Priority: w.Priority, NTickets: w.NTickets, NPOSIX: w.NPOSIX, NUrgency: w.NUrgency,
			Urgency: w.Sum(), RRContr: w.Resources, DLContr: w.Deadline, WTContr: w.Waiting}
		if sum > 0 {
			o.Share = o.Tickets / sum
		}
		if p.taskDiffers(t.JATask, r.m.State.Priority(t.Job), o) && !r.Yield(o) {
			return
		}
	}
}
