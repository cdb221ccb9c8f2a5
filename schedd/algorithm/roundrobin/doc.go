// Package roundrobin lets owners take turns, configured as `roundrobin`: each starts
// tasks_per_turn tasks, first come first served, and then it is the turn of the next
// owner by name. An owner whose jobs do not fit is skipped.
//
//	Model ─▶ lines  waiting jobs by owner, first come first served
//	Decide          the next owner after the one that had the last turn
//	      ─▶ turn   its first job that has a place: pkg/sched is the does-it-fit
//	      ─▶ order  the owner of the turn is stored by qmaster with the start
//
// With group_by the turns are those of projects, departments or queues. This is
// the algorithm that ../README.md writes.
//
// The package must not know what a queue instance offers: that is pkg/sched's. To add a
// parameter: a field of Config with its tag; to add a grouping: a case of
// algorithm.GroupOf, which fbsng and scoot share.
package roundrobin
