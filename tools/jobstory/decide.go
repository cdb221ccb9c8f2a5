package jobstory

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// rivalsMost is how many of the jobs before a job are listed one by one.
const rivalsMost = 10

// run is a recorded run of the scheduler.
type run struct {
	head   orders.List // without orders
	orders []orders.Order
	refuse map[int]string // why, by place in orders
}

// runsOf finds the runs in which a job was started, preempted or suspended, by
// their number.
func runsOf(records iter.Seq2[orders.Record, error], job uint32) (map[string][]*run, error) {
	out := map[string][]*run{}
	var now *run
	meant := false
	flush := func() {
		if now != nil && meant {
			name := strconv.FormatUint(now.head.Run, 10)
			out[name] = append(out[name], now)
		}
		now, meant = nil, false
	}
	for r, err := range records {
		if err != nil {
			return out, err
		}
		if now == nil || !now.head.SameRun(&r.List) {
			flush()
			now = &run{head: r.List, refuse: map[int]string{}}
			now.head.Orders = nil
		}
		for _, f := range r.Result.Refused {
			now.refuse[len(now.orders)+f.Index] = f.Reason
		}
		now.orders = append(now.orders, r.List.Orders...)
		meant = meant || slices.ContainsFunc(r.List.Orders, func(o orders.Order) bool { id, _ := about(o); return id == job })
	}
	flush()
	return out, nil
}

// about is the task that an order does something with.
func about(o orders.Order) (job, task uint32) {
	switch o := o.(type) {
	case *orders.StartJob:
		return o.Job, o.Task
	case *orders.Preempt:
		return o.Job, o.Task
	case *orders.Unsuspend:
		return o.Job, o.Task
	case *orders.SuspendOnThreshold:
		return o.Job, o.Task
	case *orders.UnsuspendOnThreshold:
		return o.Job, o.Task
	}
	return 0, 0
}

// order finds the order about a task of the run of that name that led to a list.
func (t *follower) order(name string, seq uint64, task uint32, is func(orders.Order) bool) (*run, int) {
	for _, r := range slices.Backward(t.runs[name]) {
		if r.head.Seq >= seq {
			continue
		}
		for i, o := range r.orders {
			if id, sub := about(o); id == t.job && sub == task && is(o) && r.refuse[i] == "" {
				return r, i
			}
		}
	}
	return nil, 0
}

func isStart(o orders.Order) bool   { _, ok := o.(*orders.StartJob); return ok }
func isPreempt(o orders.Order) bool { _, ok := o.(*orders.Preempt); return ok }

// decided is decision with the whole cell before and after a list; nil when it cannot be had.
func (t *follower) decided(l events.List, task *grid.JATask, before *state.State) *Decision {
	after := t.st
	if t.whole != nil {
		if before, after = t.whole(l.Seq-1), t.whole(l.Seq); before == nil || after == nil {
			return nil
		}
	}
	d := t.decision(l.Cause.Ref, l.Seq, task, before, after)
	d.Chosen = chosen(l, task, before)
	return d
}

// decision describes the run that started a task with a list; before is the state
// just before it, after the one just after it.
func (t *follower) decision(name string, seq uint64, task *grid.JATask, before, after *state.State) *Decision {
	d := &Decision{Run: name, Seen: seq - 1}
	r, at := t.order(name, seq, task.ID, isStart)
	if r != nil {
		d.Recorded, d.Seen, d.Algorithm = true, r.head.Seq, r.head.Algorithm
		if s := t.states[r.head.Seq]; s != nil {
			before = s
		}
	} else if c := before.SchedConf(); c.Algorithm != "" {
		d.Algorithm = c.Algorithm
	}
	d.Worth = worthOf(before, after, t.job)
	started := map[uint32]bool{}
	if r != nil {
		o := r.orders[at].(*orders.StartJob)
		d.Worth.Priority, d.Worth.Tickets = o.Priority, max(o.Tickets, d.Worth.Tickets)
		for i, other := range r.orders {
			s, ok := other.(*orders.StartJob)
			if !ok {
				continue
			}
			d.Starts++
			if i == at {
				d.Place = d.Starts
			}
			if i >= at || s.Job == t.job {
				continue
			}
			started[s.Job] = true
			fate := "started in the same run in " + explain.Places(s.Grants)
			if why := r.refuse[i]; why != "" {
				fate = "its start was refused: " + why
			}
			d.Before = append(d.Before, Rival{Job: s.Job, Task: taskOf(before, s.Job, s.Task),
				Owner: ownerOf(before, s.Job), Priority: s.Priority, Fate: fate})
		}
	}
	ahead, more := view.JobsAhead(before, t.job, d.Worth.Priority)
	for _, j := range ahead {
		if started[j.Job.ID] {
			continue
		}
		if t := startedBy(r, j.Job.ID); t != nil {
			d.Before = append(d.Before, Rival{Job: j.Job.ID, Owner: j.Job.Owner, Priority: t.Priority,
				Fate: "started later in the same run in " + explain.Places(t.Grants)})
			continue
		}
		d.Before = append(d.Before, Rival{Job: j.Job.ID, Owner: j.Job.Owner, Priority: j.Priority,
			Fate: fateOf(after, j.Job, time.Local)})
	}
	d.After = more
	if n := len(d.Before); n > rivalsMost {
		d.Before, d.More = d.Before[:rivalsMost], n-rivalsMost
	}
	return d
}

// startedBy is the start of a job in a run, nil when there is none.
func startedBy(r *run, job uint32) *orders.StartJob {
	if r == nil {
		return nil
	}
	for _, o := range r.orders {
		if s, ok := o.(*orders.StartJob); ok && s.Job == job {
			return s
		}
	}
	return nil
}

// worthOf is what was known of a job's worth; the run may have reported it itself.
func worthOf(before, after *state.State, job uint32) (w Worth) {
	p := view.Found(before)(job)
	if p == nil {
		p = view.Found(after)(job)
	}
	if p == nil {
		return w
	}
	return Worth{p.Priority, float64(p.NPOSIX), float64(p.NUrgency), float64(p.NTickets), float64(p.Urgency),
		float64(p.Tickets), true}
}

// fateOf is why a job still waits.
func fateOf(st *state.State, j *grid.Job, zone *time.Location) string {
	if st.Job(j.ID) == nil {
		return "gone"
	}
	if why := explain.Recorded(st, j, 0, "-", zone); len(why) > 0 {
		return why[0]
	}
	return "found no place"
}

func ownerOf(st *state.State, job uint32) string {
	if j := st.Job(job); j != nil {
		return j.Owner
	}
	return ""
}

// taskOf is the number of a task where the job has several.
func taskOf(st *state.State, job, task uint32) uint32 {
	if j := st.Job(job); j != nil && !j.Array {
		return 0
	}
	return task
}

// preempted returns the job for which a run preempted a task, "" when it did not.
func (t *follower) preempted(name string, seq uint64, task uint32) string {
	r, i := t.order(name, seq, task, isPreempt)
	if r == nil {
		return ""
	}
	if other := r.orders[i].(*orders.Preempt).For; other != 0 {
		return fmt.Sprintf("for job %d ", other)
	}
	return "for others "
}
