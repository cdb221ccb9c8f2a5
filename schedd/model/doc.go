// Package model is the default data model: the mirror, the cluster as
// scheduling sees it, and the pending jobs in lines.
//
// Jobs with equal requests form a group (their category), jobs that no policy
// distinguishes a class. Jobs of one group and class wait in a line, first come first
// served: waiting time raises their urgency equally. A decision considers only the heads
// of the lines: the cost of a run depends on the jobs that it starts and the number of
// groups and classes, not on the number of pending jobs. A value without weight in the
// configuration does not divide classes: without tickets all jobs with the same -p are
// one class.
//
//	events.List ─▶ Apply ─▶ State    the mirror
//	                     ─▶ Cluster  hosts by load, utilization
//	                     ─▶ Lines    heads ▸ jobs of a group and class in order
//	                                 (a run goes through them on a Walk, or
//	                                 asks of all Heads whether any may start)
//	                        tallies  pending, live, active by class and group
//	                        delayed  jobs whose -a time has not come
//	                        requeued enrolled tasks that wait again
//
// The frame of a decision is the same for all algorithms on this model: a run embeds
// Decision, which yields its orders, suspends by load, resumes preempted tasks, writes
// the schedule file and removes the jobs that start now or never; Reasons reports why the
// others wait, PublishReservations what is kept free for them.
//
// Jobs that cannot start (held, waiting for others, at their -tc limit) are in no line
// until an event changes that. The package must not decide anything, and knows no
// priority: an algorithm that needs another order of the heads computes it from Classes
// and Lines (ticket/order.go).
//
// To add something that an algorithm needs to find fast: an index kept by Apply, cheap
// to copy, with a method that returns it.
package model
