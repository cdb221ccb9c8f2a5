package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// schedulerSilence is how long, in seconds, the registered scheduler may give no
// orders while another one does. A program that registers under a scheduler's
// identity and then goes away, or gives no orders, would else stop scheduling: the
// scheduler before it does not know that it was replaced.
const schedulerSilence = 5

// orders checks each order against the newest state and applies or refuses it
// alone. Only the registered scheduler may give orders.
func (c *Core) orders(in Orders) {
	if in.Scheduler == c.scheduler || c.scheduler != "" && in.Scheduler != "" &&
		c.cell.Now.Sub(c.ordered) >= schedulerSilence {
		c.scheduler, c.ordered = in.Scheduler, c.cell.Now
	}
	result := &orders.Answer{}
	for i, o := range in.Orders {
		if refusal := c.order(&in.List, o); refusal != nil {
			refusal.Index = i
			result.Refused = append(result.Refused, *refusal)
		}
	}
	result.Seq = c.state.Seq
	c.ready.Answers = append(c.ready.Answers, Answer{Ref: in.Ref, Result: result})
}

func (c *Core) order(from *orders.List, o orders.Order) *orders.Refusal {
	if from.Scheduler != c.scheduler || from.Scheduler == "" {
		return refuseOrder(orders.Unregistered, "%q is not the registered scheduler", from.Scheduler)
	}
	if !numbersIn(o) {
		return refuseOrder(orders.Malformed, "%s: not a number", o)
	}
	switch o := o.(type) {
	case *orders.StartJob:
		return c.startJob(o)
	case *orders.Tickets, *orders.PTickets, *orders.PriorityRange:
		c.storePriorities(from.Algorithm, o)
		return nil
	case *orders.RemoveImmediateJob:
		return c.removeImmediateJob(o)
	case *orders.SuspendOnThreshold:
		return c.threshold(o.Job, o.Task, o.Queue, true)
	case *orders.UnsuspendOnThreshold:
		return c.threshold(o.Job, o.Task, o.Queue, false)
	case *orders.JobScheddInfo:
		return c.storeScheddInfo(o)
	case *orders.JobReservation:
		return c.storeReservation(from, o)
	case *orders.ClearPriInfo:
		return c.clearPriInfo(o)
	case *orders.Preempt:
		return c.preempt(o)
	case *orders.Unsuspend:
		return c.unsuspend(o)
	case *orders.SchedConf:
		return c.storeOverrideTotal(o)
	case *orders.StoreState:
		c.storeStates(o.States)
		return nil
	}
	return refuseOrder(orders.Malformed, "unknown order")
}

// startJob follows the checks of the protocol reference, 12.1.
func (c *Core) startJob(o *orders.StartJob) *orders.Refusal {
	j := c.state.Job(o.Job)
	switch {
	case o.Task == 0 || len(o.Grants) == 0 || len(o.Grants) != len(o.QueueVersions), lacksSlots(o.Grants):
		return refuseOrder(orders.Malformed, "malformed start order for job %d.%d", o.Job, o.Task)
	case j == nil:
		return refuseOrder(orders.Unknown, "job %d does not exist", o.Job)
	case j.Version != o.JobVersion:
		return refuseOrder(orders.Changed, "job %d was changed: version %d, not %d", o.Job, j.Version, o.JobVersion)
	case j.Held(o.Task):
		return refuseOrder(orders.Ineligible, "task %d.%d is on hold", o.Job, o.Task)
	case len(j.Predecessors) > 0:
		return refuseOrder(orders.Ineligible, "job %d waits for its predecessors", o.Job)
	case j.ExecTime > c.cell.Now:
		return refuseOrder(orders.Ineligible, "job %d must not start yet", o.Job)
	}
	if why := c.outbox.awaitsHosts(o.Job); why != "" {
		return refuseOrder(orders.Ineligible, "task %d.%d does not start yet: %s", o.Job, o.Task, why)
	}
	if t := c.state.Task(o.Job, o.Task); t != nil {
		if t.Status != grid.Idle {
			return refuseOrder(orders.WrongState, "task %d.%d was started already", o.Job, o.Task)
		}
		if t.State&grid.StateError != 0 {
			return refuseOrder(orders.WrongState, "task %d.%d is in error", o.Job, o.Task)
		}
	} else if !j.Pending.Contains(o.Task) {
		return refuseOrder(orders.WrongState, "task %d.%d is not pending", o.Job, o.Task)
	}
	for i, g := range o.Grants {
		q := c.state.CQueue(g.Queue)
		if q == nil {
			return refuseOrder(orders.Unknown, "queue instance %s does not exist", g.Instance())
		}
		if q.Version != o.QueueVersions[i] {
			return refuseOrder(orders.Changed, "queue %s was changed: version %d, not %d", g.Queue, q.Version,
				o.QueueVersions[i])
		}
	}
	asks, refusal := c.withTakes(j, o)
	if refusal != nil {
		return refusal
	}
	if reason := c.cluster.Fits(asks, o.Grants, o.PE); !reason.Fits() {
		return refuseOrder(orders.NoFit, "task %d.%d does not fit: %s", o.Job, o.Task, reason)
	}
	maps, reason := c.cluster.Instances(asks, o.Grants)
	if !reason.Fits() {
		return refuseOrder(orders.NoFit, "task %d.%d does not fit: %s", o.Job, o.Task, reason)
	}
	cores, reason := c.cluster.Cores(asks, o.Grants, maps)
	if !reason.Fits() {
		return refuseOrder(orders.NoFit, "task %d.%d does not fit: %s", o.Job, o.Task, reason)
	}
	c.start(j, o, maps, cores)
	c.storeStates(o.States)
	return nil
}

// withTakes returns a job as it would be if it asked for all that a start order has its task take.
func (s *step) withTakes(j *grid.Job, o *orders.StartJob) (*grid.Job, *orders.Refusal) {
	if len(o.Takes) == 0 {
		return j, nil
	}
	for _, r := range o.Takes {
		if e := s.state.Centry(r.Name); e == nil || !(r.Num >= 0 && r.Num < grid.Infinity) {
			return nil, refuseOrder(orders.Malformed, "task %d.%d can't take %s=%s: no such resource or amount",
				o.Job, o.Task, r.Name, r.Value)
		}
	}
	asks := *j
	asks.Ask().Hard = j.Hard.With(o.Takes)
	return &asks, nil
}

// storeStates stores what an algorithm needs in later runs and after a restart.
func (st *step) storeStates(states []grid.AlgorithmState) {
	for i := range states {
		s := states[i]
		_, known := st.state.Get(grid.KindAlgorithmState, s.Key()).(*grid.AlgorithmState)
		switch {
		case len(s.Values) == 0 && known:
			st.emit(events.Del(grid.KindAlgorithmState, s.Key()))
		case len(s.Values) == 0:
		case known:
			st.emit(events.Mod(&s))
		default:
			st.emit(events.Add(&s))
		}
	}
}

func (c *Core) removeImmediateJob(o *orders.RemoveImmediateJob) *orders.Refusal {
	j := c.state.Job(o.Job)
	switch {
	case j == nil:
		return nil
	case !j.Immediate:
		return refuseOrder(orders.Malformed, "job %d is not immediate", o.Job)
	}
	for _, t := range c.state.Tasks(o.Job) {
		if t.Attempt > 0 {
			return refuseOrder(orders.WrongState, "job %d has started", o.Job)
		}
	}
	c.jobGone(o.Job)
	return nil
}

func (c *Core) threshold(job, task uint32, queue string, on bool) *orders.Refusal {
	t := c.state.Task(job, task)
	if t == nil || t.Status != grid.Running || on == (t.State&grid.StateSuspendedThreshold != 0) {
		return nil
	}
	n := *t
	if on {
		n.State = n.State&^grid.StateRunning | grid.StateSuspendedThreshold
	} else {
		n.State &^= grid.StateSuspendedThreshold
		if n.State&grid.StateSuspended == 0 {
			n.State |= grid.StateRunning
		}
	}
	c.changeSuspension(t, &n)
	if qi, ok := c.state.Get(grid.KindQInstance, grid.Key{Name: queue}).(*grid.QInstance); ok {
		q := *qi
		q.LastSuspend = c.cell.Now
		c.emit(events.Mod(&q))
	}
	return nil
}

func (s *step) storeScheddInfo(o *orders.JobScheddInfo) *orders.Refusal {
	key := o.Info.Key()
	known := s.state.Get(grid.KindJobScheddInfo, key) != nil
	if len(o.Info.Reasons) == 0 {
		if known {
			s.emit(events.Del(grid.KindJobScheddInfo, key))
		}
		return nil
	}
	info := o.Info
	info.At = s.cell.Now
	if known {
		s.emit(events.Mod(&info))
	} else {
		s.emit(events.Add(&info))
	}
	return nil
}

// preempt takes a started task off its host so that it starts anew later, or
// suspends it: then it has no slots until it continues.
func (c *Core) preempt(o *orders.Preempt) *orders.Refusal {
	t := c.state.Task(o.Job, o.Task)
	switch {
	case t == nil || !t.Started():
		return refuseOrder(orders.WrongState, "task %d.%d is not running", o.Job, o.Task)
	case t.State&grid.StateDeleted != 0 || t.Kill == grid.Rescheduled:
		return nil
	case o.Suspend:
		n := *t
		if n.State |= grid.StateSuspendedPreempted; n.State != t.State {
			c.changeSuspension(t, &n)
			c.touch(n.Grants)
		}
	case !c.cluster.Rerunnable(c.state.Job(o.Job), t):
		return refuseOrder(orders.Ineligible, "task %d.%d may not be run again: it is not preempted", o.Job, o.Task)
	default:
		n := *t
		n.Kill = grid.Rescheduled
		c.emit(events.Mod(&n))
		c.outbox.signalTask(&n)
	}
	return nil
}

// unsuspend lets a task continue that preempt has suspended, if there is room for
// it where it stands.
func (c *Core) unsuspend(o *orders.Unsuspend) *orders.Refusal {
	t := c.state.Task(o.Job, o.Task)
	if t == nil || !t.Preempted() || cell.IsEnding(t) {
		return nil
	}
	if reason := c.cluster.FitsAgain(t); !reason.Fits() {
		return refuseOrder(orders.NoFit, "task %d.%d does not fit: %s", o.Job, o.Task, reason)
	}
	n := *t
	n.State &^= grid.StateSuspendedPreempted
	c.changeSuspension(t, &n)
	c.touch(n.Grants)
	return nil
}
