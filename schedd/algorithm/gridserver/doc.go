// Package gridserver is DataSynapse GridServer's scheduler, configured as
// `gridserver`. An engine is a slot of a usable queue instance, a session is a
// job, its tasks are served in the order of their numbers.
//
//	mode priority  a session's level has a weight: its share of the engines,
//	               rounded up, is its ideal. The session with least use per weight
//	               goes first, up to its ideal; the rest is assigned in turns.
//	               Urgent sessions go before all, and may preempt.
//	mode sla       groups have targets: numbers or fractions of engines. Minimum
//	               needs first, then the rest by weight, then leftovers.
//
// A preempted task starts anew or, with preemption suspend, is suspended without an
// engine: the engine is assigned in the same run, and the task waits as others of its
// session do, before them and for its own engine alone. A task that cannot be suspended,
// or that holds other resources the candidate needs, starts anew if it may be rerun; else
// it is not preempted. A suspended task that waits preempts nothing.
//
//	Model ─▶ sessions       level or group, tasks, first rate, use so far
//	      ─▶ bands          how many are active in a level or group, their caps
//	      ─▶ lines          waiting sessions without use, by rate and age
//	Decide ─▶ queue         the order of a band: heads of lines and sessions that
//	                        have used engines, found only as far as needed
//	       ─▶ engines       affinity first, then by name
//	       ─▶ StoreState    rates of new sessions, use of arrays, affinity
//
// qmaster stores what a run needs of the past (memory.go): all of it is in the state, so
// that a restarted scheduler decides alike. Starts are stored with their orders, and the
// next run counts them: a refused start is not stored. Other changes of use are stored by
// the run that detects them.
//
// The package must not know what a queue instance offers: that is pkg/sched's.
// To add a way to order sessions: a key in order.go. To add a stage: a pass in
// priority.go or sla.go.
package gridserver
