// Package roundrobin lets owners take turns, configured as `roundrobin`: each
// starts tasks_per_turn tasks, the first that came in first, and then it is
// the turn of the next owner by name. Who finds no place is passed over.
//
//	Model ─▶ lines  waiting jobs by owner, first come first served
//	Decide          the next owner after the one that had the last turn
//	      ─▶ turn   its first job that has a place: pkg/sched is the does-it-fit
//	      ─▶ order  whose turn it was rides on the start; qmaster keeps it
//
// With group_by the turns are those of projects, departments or queues. This is
// the algorithm that ../README.md writes.
package roundrobin
