// Package ledger is what is used of a cell's resources and until when, and what is planned: the utilization.
//
//	site.Layout ─▶ Ledger ◀── started tasks (Follow), a run's bookings (Book) and reservations (Plan)
//	                 │
//	                 ├─ Global, Bucket, SetHost, SetInstance ─▶ Level   what is taken of each resource of a place, now and later
//	                 ├─ PEFree, Hopeless, RoughWait               the same of parallel environments and of all slots
//	                 ├─ Bound, EachTaken, EachClaim               which threads and instances of resource maps are taken
//	                 ├─ Started, StartedOf, Preempted, Booking    which tasks are counted
//	                 └─ Copy, Lend                                cheap copies to decide on (package cow)
//
// Every amount is in the row of its level: cluster, host, queue instance, parallel environment and quota bucket. The
// future is in a resource utilization diagram for each limited resource of each level (package diagram), kept where the
// configuration asks for them. Of a resource map the number of instances is such an amount too; which ones started
// tasks have is in taken.go, and what is promised without being known in claims.go. An advance reservation is a Ledger
// of its own for its jobs, and a plan in that of the cell (parts.go).
//
// Following a task returns as data what changed (Change): who orders hosts or waits for room reads it. A question is
// about a Span of time, which belongs to the asker and notes whether plans decided the answer.
//
// The package must not know what a job asks for beside its demands, load, states, the order of instances, or whether
// and why something does not fit: that is pkg/sched. To add something that is taken: its amount in Level.amount, and
// every caller counts it.
package ledger
