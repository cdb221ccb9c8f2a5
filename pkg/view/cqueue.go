package view

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// ClusterQueue is a cluster queue: a row of qstat -g c. All numbers but Load are
// slots of its queue instances.
type ClusterQueue struct {
	Name string
	Load *float64 // mean np_load_avg of the slots of hosts that report one; nil: of none
	Used, Reserved, Total,
	Available, // free, in instances without one of the states below
	Temporary, // in states that pass by themselves: aoACDS
	Manual int // in states that an operator must end: cdsuE
	ByState [len(SummaryStates)]int // in the order of SummaryStates
}

// SummaryStates are the states of queue instances by which ClusterQueue counts
// slots.
var SummaryStates = [...]grid.QueueState{
	grid.QueueSuspended, grid.QueueSuspendAlarm, grid.QueueSuspendedSubordinate, grid.QueueCalSuspended,
	grid.QueueUnknown, grid.QueueAlarm, grid.QueueDisabled, grid.QueueCalDisabled, grid.QueueAmbiguous,
	grid.QueueOrphaned, grid.QueueError,
}

const (
	temporary = grid.QueueAlarm | grid.QueueOrphaned | grid.QueueSuspendAlarm | grid.QueueCalSuspended |
		grid.QueueCalDisabled | grid.QueueSuspendedSubordinate
	manual = grid.QueueAmbiguous | grid.QueueDisabled | grid.QueueSuspended | grid.QueueUnknown | grid.QueueError
)

// ClusterQueues returns the cluster queues of which f selects some instances, by
// name; their rows count all instances. It fails as Queues does, but not with a
// NoneLeftError.
func (v *View) ClusterQueues(f QueueFilter) (out []ClusterQueue, err error) {
	selected, err := v.left(f)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for i := range selected {
		wanted[selected[i].Queue] = true
	}
	var load float64 // of all slots of a queue together
	var loadSlots int
	v.cluster.EachInstance(func(i sched.Instance) bool {
		if !wanted[i.Queue.Name] {
			return true
		}
		if len(out) == 0 || out[len(out)-1].Name != i.Queue.Name {
			out, load, loadSlots = append(out, ClusterQueue{Name: i.Queue.Name}), 0, 0
		}
		q := &out[len(out)-1]
		q.count(i, int(v.reservedAt(i.Queue.Name+"@"+i.Host)))
		if n, ok := v.cluster.Reported(i.Host, "np_load_avg", true); ok && i.Slots > 0 {
			load, loadSlots = load+n*float64(i.Slots), loadSlots+i.Slots
			mean := load / float64(loadSlots)
			q.Load = &mean
		}
		return true
	})
	return out, nil
}

// AllSlots returns the sums of the rows of all cluster queues, without a name and load.
func (v *View) AllSlots() (all ClusterQueue) {
	v.cluster.EachInstance(func(i sched.Instance) bool {
		all.count(i, int(v.reservedAt(i.Queue.Name+"@"+i.Host)))
		return true
	})
	return all
}

func (q *ClusterQueue) count(i sched.Instance, reserved int) {
	q.Total += i.Slots
	q.Used += i.Used
	q.Reserved += reserved
	if i.State&temporary != 0 {
		q.Temporary += i.Slots
	}
	if i.State&manual != 0 {
		q.Manual += i.Slots
	}
	if i.State&(temporary|manual) == 0 {
		q.Available += max(i.Slots-i.Used, 0)
	}
	for n, state := range SummaryStates {
		if i.State&state != 0 {
			q.ByState[n] += i.Slots
		}
	}
}
