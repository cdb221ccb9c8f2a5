// Package model is the default data model: the mirror, the cluster as
// scheduling sees it, and the pending jobs in groups.
//
// Jobs that differ in nothing the decision sees (their category) stand in one
// group, in dispatch order. A decision looks at the heads of the groups only:
// what a run costs follows what it starts and how many categories there are,
// not how many jobs wait.
//
//	events.List ─▶ Apply ─▶ State    the mirror
//	                     ─▶ Cluster  hosts by load, utilization
//	                     ─▶ groups   heads ▸ jobs of the category in order
//	                        waiting  jobs whose -a time has not come
//	                        requeued enrolled tasks that wait again
//
// Jobs that cannot be looked at (held, waiting for others, at their -tc
// limit) stand nowhere until an event changes that. The package must not
// decide anything; whoever needs another order of jobs brings another model.
package model
