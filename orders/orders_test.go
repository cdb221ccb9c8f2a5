package orders_test

import (
	"testing"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

func TestTypes(t *testing.T) {
	known := 0
	for n := range orders.Type(255) {
		o := orders.New(n)
		if o == nil {
			continue
		}
		known++
		if o.Type() != n {
			t.Errorf("order of type %d says it is of type %d", n, o.Type())
		}
	}
	if known != 14 {
		t.Errorf("%d order types, the protocol has 14", known)
	}
}

func TestOrdersPrint(t *testing.T) {
	for want, o := range map[string]orders.Order{
		"start_job 7.1 all.q@h1=2 all.q@h2=1 pe=mpi": &orders.StartJob{Job: 7, Task: 1, PE: "mpi",
			Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}, {Queue: "all.q", Host: "h2", Slots: 1}}},
		"tickets 7.1 100 prio=0.50000":          &orders.Tickets{Job: 7, Task: 1, Tickets: 100, Priority: 0.5},
		"ptickets 7.1 100 prio=0.50000":         &orders.PTickets{Job: 7, Task: 1, Tickets: 100, Priority: 0.5},
		"remove_immediate_job 7":                &orders.RemoveImmediateJob{Job: 7},
		"sched_conf weight_tickets_override=12": &orders.SchedConf{WeightTicketsOverride: 12},
		"suspend_on_threshold 7.1 all.q@h1":     &orders.SuspendOnThreshold{Job: 7, Task: 1, Queue: "all.q@h1"},
		"unsuspend_on_threshold 7.1 all.q@h1":   &orders.UnsuspendOnThreshold{Job: 7, Task: 1, Queue: "all.q@h1"},
		"job_schedd_info \"-l a=1\" 1 reasons": &orders.JobScheddInfo{
			Info: grid.JobScheddInfo{Category: "-l a=1", Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "no"}}}},
		"clear_pri_info 7.1": &orders.ClearPriInfo{Job: 7, Task: 1},
		"priority_range p=-5..10 urgency=1000..2000 tickets=0": &orders.PriorityRange{Range: grid.PriorityRange{
			At: 1, LeastPriority: -5, MostPriority: 10, LeastUrgency: 1000, MostUrgency: 2000}},
		"priority_range none": &orders.PriorityRange{},
		"store_state fbsng/queue/high priority=5": &orders.StoreState{States: []grid.AlgorithmState{
			{Algorithm: "fbsng", Name: "queue/high", Values: grid.Values{{Name: "priority", Text: "5"}}}}},
		"preempt 7.1 for 9":         &orders.Preempt{Job: 7, Task: 1, For: 9},
		"preempt 7.1 for 9 suspend": &orders.Preempt{Job: 7, Task: 1, For: 9, Suspend: true},
		"unsuspend 7.1":             &orders.Unsuspend{Job: 7, Task: 1},
		"job_reservation 7.1 at=100 for=60 all.q@h1=2 pe=mpi": &orders.JobReservation{Job: 7, Task: 1, Start: 100_000,
			End: 160_000, Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}}, PE: "mpi"},
		"job_reservation 7.1 at=100 all.q@h1=2": &orders.JobReservation{Job: 7, Task: 1, Start: 100_000,
			End: grid.Never, Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 2}}},
		"job_reservation 7.1 none": &orders.JobReservation{Job: 7, Task: 1},
	} {
		if o.String() != want {
			t.Errorf("got %q, want %q", o, want)
		}
	}
}
