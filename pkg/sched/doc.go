// Package sched computes what scheduling decisions need: what is in use, whether a job
// fits on an instance, where it fits best, and why not.
//
// Every algorithm, and qmaster when it checks orders, use the same test of whether a job
// fits, on the same Cluster.
//
//	state.State ─┐
//	events.List ─┴▶ Cluster   what scheduling sees of the cluster, in parts that copies share (package cow):
//	                  │       package site     the configuration: attributes, hosts and queue instances resolved
//	                  │       package ledger   what is used and planned, which follows from started tasks and is
//	                  │                        returned as a Change; a run books and reserves in it
//	                  │       load, states and the order of the instances, which follows from all of these (order.go)
//	                  ├─ Need(job)            the job's requests, compiled
//	                  ├─ Fits(job, task, ...) may this very grant start?  (qmaster)
//	                  ├─ FitsAgain(task)      may a preempted task have its slots again?
//	                  ├─ FindPlacement(need)  where does it start best?  (schedd)
//	                  ├─ Infeasible(need)     is it known that there is no placement?  (schedd)
//	                  ├─ JobSize(job)         ... because there was none for a smaller job?  (schedd)
//	                  ├─ Book(...)            decide on a Copy: count it as started
//	                  ├─ Earliest(need)       if not now, when and where?
//	                  ├─ Reserve(...)         decide on a Copy: keep it free for then
//	                  ├─ Category, Explain    which jobs are alike, and why they wait
//	                  ├─ Closest(need)        which instances come closest, and what they lack
//	                  ├─ Confine, Vacated, WithoutARs   copies in which less is open, in use or reserved (whatif.go)
//	                  └─ EachInstance, Resources   what listings show (pkg/view): states, alarms, what is left
//
// The levels are Grid Engine's: global, host, queue instance and parallel
// environment. One function (search.slots) says how many slots a level can
// give; placing, verifying and explaining all rest on it.
//
// Where a need fits is asked in a search (plan.go), which reads the Cluster and writes only what is
// its own: the window of time that it looks at and scratch memory. The window goes from now until
// the job's gross end, or a later one. It is handed to the ledger with each
// question as a Span, in which the answer notes whether plans decided it. While
// nothing is planned, only the present decides whether a job starts.
//
// Resource quotas (quota.go) are levels too: a bucket for each user, host and
// so on that a rule distinguishes. A calendar's windows (closed.go) and
// subordinate queues (subordinate.go) close instances; qmaster decides their
// present state, and a run predicts the effect of its own bookings.
//
// Of a resource map (maps.go) the number of instances is a consumable like others. Which
// ones a task gets is chosen by Instances when it starts, from what the ledger says that started tasks have. Where
// requests select instances by characteristics, a level compares them with the instances
// themselves (stock.go) and with what is booked and planned of them (ledger.Claim). Processor cores
// that a job is to be bound to (cores.go) are such a consumable of the host too, in threads, and
// Cores chooses them, near the instances.
//
// A search that failed is not repeated before something improved that it depends on
// (infeasible.go): a task ended, an instance left an alarm, a host reports another value
// of a requested attribute. Starts add to the load of their hosts for a while (adjust.go).
//
// Attributes and their arithmetic are pkg/complex, calendars are pkg/calendar, priorities
// are pkg/shares. The package must not know its caller, which job goes first or what an
// order is: no events are made here. To add a limit: give it its use in the ledger
// and its test in level.go, and every caller applies it.
package sched
