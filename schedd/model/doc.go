// Package model is the default data model: the mirror, the cluster as
// scheduling sees it, and the pending jobs in lines.
//
// Jobs that ask for the same are of one group (their category), jobs that no
// policy distinguishes of one class. Those of one group and class stand in a line,
// first come first served: waiting makes all of them more urgent alike. A
// decision considers the heads of the lines only: what a run costs follows what
// it starts and how many groups and classes there are, not how many jobs wait.
// What the configuration gives no weight makes no class: without tickets one
// class has all jobs of a -p.
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
// What surrounds a decision is the same for all algorithms on this model: a run
// embeds Decision, which yields its orders, suspends by load, lets preempted tasks
// go on, tells the schedule file and removes the jobs that start now or never;
// Reasons says why the others wait.
//
// Jobs that cannot start (held, waiting for others, at their -tc
// limit) stand nowhere until an event changes that. The package must not
// decide anything, and knows no priority: whoever wants another order of the
// heads makes it from Classes and Lines (ticket/order.go).
package model
