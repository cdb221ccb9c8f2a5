// Package scoot is the load-based class algorithm of Scoot's scheduler,
// configured as `scoot`. A worker is a slot of a usable queue instance; a job
// belongs to a class, and each class has a percentage of the workers.
//
//	entitlement  a class that runs less than its share and has tasks waiting gets the
//	             free workers first, in proportion to what it lacks
//	loan         workers to which no class is entitled are lent to classes that can use them
//	rebalance    when shares and use differ by more than a threshold for
//	             long enough, tasks of classes above their share are stopped
//	             and wait again
//
// A stopped task starts anew or, with preemption suspend, is suspended without its
// worker, which others get at once: it counts as waiting for its class, and resumes
// before other tasks of the class start when its own worker is free. A task that cannot
// be suspended, or whose worker no other task could use then, starts anew.
//
//	Model  ─▶ tallies     per class: tasks running and waiting
//	       ─▶ lines       waiting jobs by class and category, fewest running first
//	       ─▶ tasks       running tasks by class, newest first
//	Decide ─▶ trigger     is it time to rebalance: the clock that qmaster keeps
//	       ─▶ plan        how many each class starts or stops, whole numbers only
//	       ─▶ pick        which tasks: round robin from the jobs that run least
//
// The package must not know what a queue instance offers: that is pkg/sched's. The plan
// (plan.go) must not know jobs; the picking of tasks must not know percentages. To
// add a phase to the plan: a function beside entitle and lend.
package scoot
