package simulator

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
)

// judgeList holds a list that has become durable against the laws of every step.
func (w *World) judgeList(l events.List) {
	w.judgeTokens(l)
	for _, e := range l.Events {
		if e.Op == events.OpDel && e.Kind == grid.KindJATask {
			w.endsWithout(e.Key.ID, e.Key.Sub)
		}
		switch o := e.Object.(type) {
		case *grid.Job:
			w.logged[o.ID] = true
			if e.Op == events.OpAdd && len(o.ArrayHold) > 0 {
				w.held++
			}
		case *grid.JATask:
			w.followTask(l.At, o)
			if o.Status != grid.Transfering {
				continue
			}
			for _, g := range o.Grants {
				w.notOverBooked(g)
			}
			w.notOverQuota(o)
			if o.Start == l.At {
				w.notGrantedTwice(o)
				w.coresNotGrantedTwice(o)
				w.asPlanned(o)
			}
		case *grid.AR:
			if e.Op == events.OpAdd {
				w.notOverReserved(o)
			}
		case *grid.PETask:
			w.notOverInherited(o)
		}
	}
}

// followTask notes since when a task is to stand still. One that is preempted does
// so for another, one that is let continue has its slots again.
func (w *World) followTask(now grid.Time, t *grid.JATask) {
	a := report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}
	since, stood := w.still[a]
	switch still := t.Started() && t.State&grid.StateSuspendedAny != 0; {
	case still && !stood:
		since = now
		fallthrough
	case still:
		w.still[a] = since
	case stood:
		delete(w.still, a)
		w.goesOn[a] = now
	}
	was := w.preempted[a]
	switch {
	case t.Preempted() && !was:
		w.preemptions++
	case was && t.HoldsSlots():
		for _, g := range t.Grants {
			w.notOverBooked(g)
		}
	}
	w.preempted[a] = t.Preempted()
}

// checkWaits holds that what waits for other jobs waits for something: a job for one that is there, a task for tasks
// that have not ended and whose steps cover a number that its own covers.
func (w *World) checkWaits(s *state.State) {
	for id := range w.logged {
		j := s.Job(id)
		if j == nil {
			continue
		}
		for _, p := range append(slices.Clone(j.Predecessors), j.ArrayPredecessors...) {
			if s.Job(p) == nil {
				w.fail("job %d waits for job %d, which is gone", id, p)
			}
		}
		j.ArrayHold.Each(func(task uint32) bool {
			reason := slices.ContainsFunc(j.ArrayPredecessors, func(p uint32) bool { return coversTask(s, j, task, s.Job(p)) })
			if !reason {
				w.fail("task %d.%d waits for no task", id, task)
			}
			return reason
		})
	}
}

// coversTask reports whether a task of p that has not ended covers a number that a task of j does.
func coversTask(s *state.State, j *grid.Job, task uint32, p *grid.Job) (found bool) {
	if p == nil {
		return false
	}
	grid.Ranges{p.Tasks}.Each(func(other uint32) bool {
		left := p.Pending.Contains(other) || s.Task(p.ID, other) != nil
		found = left && other < task+j.Tasks.Step && task < other+p.Tasks.Step
		return !found
	})
	return found
}

// suspendWait is how many seconds after a command to suspend nothing runs any
// more: messages are lost, and daemons are down for a while.
const suspendWait = 30

// endsAsItRuns holds an end by itself against what qmaster wants: what stands
// still does not end.
func (w *World) endsAsItRuns(a report.Attempt) {
	if since, still := w.still[a.Master()]; still && w.now.Sub(since) > suspendWait {
		w.fail("%s ends by itself, but stands still for %.0f s", a, w.now.Sub(since))
	}
}

// allSignalled compares what runs and what is suspended on the hosts with what qmaster wants.
func (w *World) allSignalled() {
	for _, h := range w.hosts {
		for a, p := range h.runs {
			if p.State != plan.Running {
				continue
			}
			job := a.Master()
			mayStill := func(since grid.Time) bool { return w.now.Sub(max(since, p.Start)) <= suspendWait }
			since, still := w.still[job]
			if still && !p.Suspended && !mayStill(since) {
				w.fail("%s runs, but is to be suspended for %.0f s", a, w.now.Sub(since))
			}
			if since, on := w.goesOn[job]; on && !still && p.Suspended && !mayStill(since) {
				w.fail("%s is suspended, but is to continue for %.0f s", a, w.now.Sub(since))
			}
		}
	}
}

// notOverBooked counts the slots in use of a queue instance.
func (w *World) notOverBooked(g grid.Grant) {
	s := w.master.sure
	used := uint32(0)
	for _, t := range s.OnHost(g.Host) {
		if t.HoldsSlots() {
			used += slotsAt(t.Grants, g)
		}
	}
	if used > uint32(w.Slots) {
		w.fail("%s is over-booked: %d of %d slots", g.Instance(), used, w.Slots)
	}
}

// notOverQuota counts the slots in use of a task's owner. Quotas are no matter
// of those in advance reservations.
func (w *World) notOverQuota(t *grid.JATask) {
	s, used := w.master.sure, 0
	j := s.Job(t.Job)
	if w.Quota == 0 || j == nil || j.AR != 0 {
		return
	}
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if of := s.Job(t.Job); t.HoldsSlots() && of.AR == 0 && of.Owner == j.Owner {
			used += int(t.Slots())
		}
		return true
	})
	if used > w.Quota {
		w.fail("%s is over quota: %d of %d slots", j.Owner, used, w.Quota)
	}
}

// checkSame fails where a state differs from what the log says.
func (w *World) checkSame(what string, got, want *state.State) {
	if d := state.Difference(got, want, false); d != "" {
		w.fail("%s: %s", what, d)
	}
}

// lastJudgement holds the whole history against the laws.
func (w *World) lastJudgement() {
	added := map[string]uint32{} // by request
	granted := map[string]bool{}
	inherited := map[string]bool{}
	jobs := map[uint32]bool{}
	accounted := map[report.Attempt]int{}
	for _, l := range w.master.log {
		for _, e := range l.Events {
			switch o := e.Object.(type) {
			case *grid.Job:
				if e.Op == events.OpAdd {
					if id := l.Cause.Ref; added[id] != 0 {
						w.fail("request %s made jobs %d and %d", id, added[id], o.ID)
					}
					added[l.Cause.Ref] = o.ID
					jobs[o.ID] = true
				}
			case *grid.AR:
				if e.Op == events.OpAdd {
					if granted[l.Cause.Ref] {
						w.fail("request %s made two advance reservations", l.Cause.Ref)
					}
					granted[l.Cause.Ref] = true
				}
			case *grid.PETask:
				if e.Op == events.OpAdd && o.ID != grid.PastUsage {
					if inherited[l.Cause.Ref] {
						w.fail("request %s started two tasks of a parallel job", l.Cause.Ref)
					}
					inherited[l.Cause.Ref] = true
				}
			case *grid.Accounting:
				accounted[report.Attempt{Job: o.Job, Task: o.Task, N: o.Attempt, PETask: o.PETask}]++
			}
		}
	}
	for id, request := range w.clients.made {
		if !jobs[id] || added[request] != id {
			w.fail("job %d was acknowledged and is not in the log", id)
		}
	}
	for a, n := range accounted {
		if n != 1 {
			w.fail("%s is accounted %d times", a, n)
		}
	}
	for a := range w.ran {
		if accounted[a] != 1 && !(w.Summary && a.PETask != "") {
			w.fail("%s ran and is accounted %d times", a, accounted[a])
		}
	}
	w.checkSame("the mirror", w.scheduler.mirror, w.master.sure)
}
