// Package schedd is layer 0 of the scheduler: it registers with qmaster, keeps
// an algorithm's model up to date, has it decide, sends its orders and waits
// until their effects have come back as events.
//
//	Source.Watch ─▶ full state, lists ─▶ Algorithm.Apply
//	                                        │ something that matters, or a timer
//	                                        ▼
//	           Source.Orders ◀─ orders ◀─ run on a copy, on its own goroutine
//	                │ Result.Seq
//	                └─▶ the next run waits until the mirror has it
//
// A long run sends its first orders while it still decides (portions.go).
// Events are applied while a run is under way; what comes in the meantime
// triggers one following run. So no run decides twice what the one before
// decided.
//
// It must not know a rule of the cluster: those are in the algorithm and pkg/sched.
// metrics.go is the table of what is counted. The table of algorithms is package shipped.
//
// To add an algorithm: see package algorithm. To add a reason to run: a case in
// activity.go.
package schedd
