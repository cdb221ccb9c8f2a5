// Package scoot is the load-based class algorithm of Scoot's scheduler,
// configured as `scoot`. A worker is a slot of a usable queue instance; a job
// belongs to a class, and each class has a percentage of the workers.
//
//	entitlement  who runs less than its part and has tasks waiting gets the
//	             free workers first, in proportion to what it lacks
//	loan         what nobody is entitled to is lent to who can use it
//	rebalance    when parts and use lie further apart than a threshold for
//	             long enough, tasks of classes above their part are stopped
//	             and wait again
//
// What is stopped starts anew, or, with preemption suspend, stands still without a
// worker, which others have at once: for its class it waits, and goes on before
// anything of the class starts when its own worker is free. Who cannot be
// suspended, or whose worker would be of use to nobody then, starts anew.
//
//	Model  ─▶ tallies     per class: tasks running and waiting
//	       ─▶ lines       waiting jobs by class and category, fewest running first
//	       ─▶ tasks       running tasks by class, newest first
//	Decide ─▶ trigger     is it time to rebalance: the clock that qmaster keeps
//	       ─▶ plan        how many each class starts or stops, whole numbers only
//	       ─▶ pick        which tasks: round robin from the jobs that run least
//
// The package must not know what a queue instance offers: that is pkg/sched's.
// What is planned (plan.go) knows nothing of jobs; what picks them knows
// nothing of percentages. To add a phase to the plan: a function beside
// entitle and lend.
package scoot
