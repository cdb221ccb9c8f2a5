package orders

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// List contains the orders of one run, or a part of them: a long run sends what it has
// decided while it decides the rest.
type List struct {
	// Seq is the last event list that the run had seen.
	Seq uint64
	// Scheduler identifies the registered scheduler; a list from another one
	// is refused whole.
	Scheduler string `see:"keep"`
	Algorithm string `see:"keep"`
	Run       uint64
	Orders    []Order

	// The inputs of the run besides the events, so that it can be repeated.
	Epoch   uint64    // of the log in which Seq counts
	Since   uint64    // Seq of the full state that the algorithm started from; it received every list after it
	At      grid.Time // the time of the run
	Explain bool      // it was asked why jobs wait

	// Part counts the lists of a run from 0; each run ends with one that is Last,
	// even if it has no orders. A run without it was cut off: its orders are the
	// first of those that it decided.
	Part uint32
	Last bool
}

// SameRun reports whether both lists are of one run: a scheduler that is started
// anew counts its runs from 1.
func (l *List) SameRun(o *List) bool {
	return l.Scheduler == o.Scheduler && l.Run == o.Run && l.Seq == o.Seq && l.Epoch == o.Epoch && l.At == o.At
}

// Record is a list as qmaster received it, and qmaster's result.
type Record struct {
	List   List
	Result Answer
}

// Answer is qmaster's answer to a list. The next run waits until its mirror has reached
// Seq.
type Answer struct {
	Seq     uint64
	Refused []Refusal
}

// Order is one request of a scheduler.
type Order interface {
	fmt.Stringer
	Type() Type
}

// Type names an order type; the numbers are part of the wire format.
type Type uint8

const (
	TypeStartJob             Type = 1
	TypeTickets              Type = 2
	TypePTickets             Type = 3
	TypeRemoveImmediateJob   Type = 8
	TypeSchedConf            Type = 9
	TypeSuspendOnThreshold   Type = 10
	TypeUnsuspendOnThreshold Type = 11
	TypeJobScheddInfo        Type = 12
	TypeClearPriInfo         Type = 13
	TypePreempt              Type = 14
	TypeStoreState           Type = 15
	TypePriorityRange        Type = 16
	TypeUnsuspend            Type = 17
	TypeJobReservation       Type = 18
)

// types is the table of order types: the name, which is the first word of the text of an order, and an empty order.
var types = [...]struct {
	name string
	new  func() Order
}{
	TypeStartJob:             {"start_job", empty[StartJob]},
	TypeTickets:              {"tickets", empty[Tickets]},
	TypePTickets:             {"ptickets", empty[PTickets]},
	TypeRemoveImmediateJob:   {"remove_immediate_job", empty[RemoveImmediateJob]},
	TypeSchedConf:            {"sched_conf", empty[SchedConf]},
	TypeSuspendOnThreshold:   {"suspend_on_threshold", empty[SuspendOnThreshold]},
	TypeUnsuspendOnThreshold: {"unsuspend_on_threshold", empty[UnsuspendOnThreshold]},
	TypeJobScheddInfo:        {"job_schedd_info", empty[JobScheddInfo]},
	TypeClearPriInfo:         {"clear_pri_info", empty[ClearPriInfo]},
	TypePreempt:              {"preempt", empty[Preempt]},
	TypeStoreState:           {"store_state", empty[StoreState]},
	TypePriorityRange:        {"priority_range", empty[PriorityRange]},
	TypeUnsuspend:            {"unsuspend", empty[Unsuspend]},
	TypeJobReservation:       {"job_reservation", empty[JobReservation]},
}

func empty[T any, P interface {
	*T
	Order
}]() Order {
	return P(new(T))
}

// String returns the name of the type: the first word of the text of its orders.
func (t Type) String() string {
	if t.known() {
		return types[t].name
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// New returns an empty order of the type, nil for an unknown one.
func New(t Type) Order {
	if !t.known() {
		return nil
	}
	return types[t].new()
}

func (t Type) known() bool { return int(t) < len(types) && types[t].new != nil }

// StartJob asks to start one task on the granted queue instances, the first
// being the master queue. It carries the versions it was decided on.
type StartJob struct {
	Job, Task     uint32
	JobVersion    uint32
	Grants        []grid.Grant
	QueueVersions []uint32      // of the cluster queue of each grant
	PE            string        `see:"keep"`
	Takes         grid.Requests // hard requests beside those of the job, or in their place: grid.JATask.Takes
	Priority      float64
	Tickets       float64
	States        []grid.AlgorithmState // stored if the task starts, and only then
}

// Tickets sets tickets and priority of a running task, and the urgency of its
// job.
type Tickets struct {
	Job, Task                             uint32
	Tickets, OTickets, FTickets, STickets float64
	Share, Priority, NTickets             float64
	NPOSIX, NUrgency, Urgency             float64
	RRContr, DLContr, WTContr             float64
}

// PTickets sets tickets and priority of a pending job's next task: qmaster
// keeps them as the job's grid.Priority. The scheduler names jobs whose values
// have changed, not all of them.
type PTickets Tickets

// RemoveImmediateJob removes a -now y job that could not start.
type RemoveImmediateJob struct{ Job uint32 }

// SchedConf writes back the override ticket total.
type SchedConf struct{ WeightTicketsOverride float64 }

// SuspendOnThreshold suspends a running task because its queue instance
// exceeds a suspend threshold; Unsuspend lets it continue.
type SuspendOnThreshold struct {
	Job, Task uint32
	Queue     string `see:"keep"` // queue@host
}

type UnsuspendOnThreshold struct {
	Job, Task uint32
	Queue     string `see:"keep"`
}

// JobScheddInfo replaces the reasons of one category; none removes them.
type JobScheddInfo struct{ Info grid.JobScheddInfo }

// JobReservation replaces the reservation of a task that waits; without grants it removes
// it. The run that made it is the list's.
type JobReservation struct {
	Job, Task  uint32
	JobVersion uint32
	Start, End grid.Time // Never: without end
	Grants     []grid.Grant
	PE         string `see:"keep"`
}

// PriorityRange contains the range over which priorities were normalised. From it follow
// the priorities of jobs without an order of their own, or with tickets only; a zero time
// removes it.
type PriorityRange struct{ Range grid.PriorityRange }

// ClearPriInfo forgets what was found about a job that is no longer
// considered.
type ClearPriInfo struct{ Job, Task uint32 }

// Preempt takes a running task off its queue: requeue, or suspend where the
// algorithm is configured so. Never counted as a failure. A task that is
// suspended gives its slots back and keeps the other consumables.
type Preempt struct {
	Job, Task uint32
	Suspend   bool
	For       uint32 // the job that needs the place
}

// Unsuspend lets a task continue that a Preempt has suspended: it takes its slots
// again, on the queue instances that it was granted.
type Unsuspend struct{ Job, Task uint32 }

// StoreState stores what an algorithm needs in later runs; an object without values is
// removed.
type StoreState struct{ States []grid.AlgorithmState }

func (*StartJob) Type() Type             { return TypeStartJob }
func (*Tickets) Type() Type              { return TypeTickets }
func (*PTickets) Type() Type             { return TypePTickets }
func (*RemoveImmediateJob) Type() Type   { return TypeRemoveImmediateJob }
func (*SchedConf) Type() Type            { return TypeSchedConf }
func (*SuspendOnThreshold) Type() Type   { return TypeSuspendOnThreshold }
func (*UnsuspendOnThreshold) Type() Type { return TypeUnsuspendOnThreshold }
func (*JobScheddInfo) Type() Type        { return TypeJobScheddInfo }
func (*ClearPriInfo) Type() Type         { return TypeClearPriInfo }
func (*Preempt) Type() Type              { return TypePreempt }
func (*StoreState) Type() Type           { return TypeStoreState }
func (*PriorityRange) Type() Type        { return TypePriorityRange }
func (*Unsuspend) Type() Type            { return TypeUnsuspend }
func (*JobReservation) Type() Type       { return TypeJobReservation }

func (o *StartJob) String() string {
	return fmt.Sprintf("%s %d.%d", o.Type(), o.Job, o.Task) + placeText(o.Grants, o.PE)
}

// placeText is " QUEUE@HOST=SLOTS ..." and the parallel environment.
func placeText(grants []grid.Grant, pe string) (s string) {
	for _, g := range grants {
		s += fmt.Sprintf(" %s=%d", g.Instance(), g.Slots)
	}
	if pe != "" {
		s += " pe=" + pe
	}
	return s
}
func (o *JobReservation) String() string {
	s := fmt.Sprintf("%s %d.%d", o.Type(), o.Job, o.Task)
	if len(o.Grants) == 0 {
		return s + " none"
	}
	s += fmt.Sprintf(" at=%d", o.Start.Unix())
	if o.End < grid.Never {
		s += fmt.Sprintf(" for=%g", o.End.Sub(o.Start))
	}
	return s + placeText(o.Grants, o.PE)
}
func (o *Tickets) String() string {
	return fmt.Sprintf("%s %d.%d %g prio=%.5f", o.Type(), o.Job, o.Task, o.Tickets, o.Priority)
}
func (o *PTickets) String() string {
	return fmt.Sprintf("%s %d.%d %g prio=%.5f", o.Type(), o.Job, o.Task, o.Tickets, o.Priority)
}
func (o *StoreState) String() string {
	s := o.Type().String()
	for i := range o.States {
		s += " " + o.States[i].Key().Name
		for _, v := range o.States[i].Values {
			s += " " + v.Name + "=" + v.Text
		}
	}
	return s
}
func (o *RemoveImmediateJob) String() string { return fmt.Sprintf("%s %d", o.Type(), o.Job) }
func (o *SchedConf) String() string {
	return fmt.Sprintf("%s weight_tickets_override=%g", o.Type(), o.WeightTicketsOverride)
}
func (o *SuspendOnThreshold) String() string {
	return fmt.Sprintf("%s %d.%d %s", o.Type(), o.Job, o.Task, o.Queue)
}
func (o *UnsuspendOnThreshold) String() string {
	return fmt.Sprintf("%s %d.%d %s", o.Type(), o.Job, o.Task, o.Queue)
}
func (o *JobScheddInfo) String() string {
	return fmt.Sprintf("%s %q %d reasons", o.Type(), o.Info.Category, len(o.Info.Reasons))
}
func (o *PriorityRange) String() string {
	r := &o.Range
	if r.At == 0 {
		return o.Type().String() + " none"
	}
	return fmt.Sprintf("%s p=%g..%g urgency=%g..%g tickets=%g", o.Type(), r.LeastPriority, r.MostPriority, r.LeastUrgency,
		r.MostUrgency, r.MostTickets)
}
func (o *ClearPriInfo) String() string { return fmt.Sprintf("%s %d.%d", o.Type(), o.Job, o.Task) }
func (o *Preempt) String() string {
	how := ""
	if o.Suspend {
		how = " suspend"
	}
	return fmt.Sprintf("%s %d.%d for %d%s", o.Type(), o.Job, o.Task, o.For, how)
}
func (o *Unsuspend) String() string { return fmt.Sprintf("%s %d.%d", o.Type(), o.Job, o.Task) }
