// Package gridserver is DataSynapse GridServer's scheduler, configured as
// `gridserver`. An engine is a slot of a usable queue instance, a session is a
// job, its tasks are served in the order of their numbers.
//
//	mode priority  a session's level has a weight: its share of the engines,
//	               rounded up, is its ideal. Who has used least for its weight
//	               goes first, up to its ideal; what is left goes round.
//	               Urgent sessions go before all, and may preempt.
//	mode sla       groups have targets: numbers or fractions of engines. Needs
//	               first, then what remains by weight, then what is left.
//
// Whose engine is taken starts anew, or, with preemption suspend, stands still
// without an engine: the engine is assigned in the same run, and the task waits as
// others of its session do, before them and for its own engine alone. Who cannot
// be suspended, or holds what is needed besides an engine, starts anew if it may
// be rerun; else it is left alone. A task that waits to go on preempts nobody.
//
//	Model ─▶ sessions       level or group, tasks, first rate, use so far
//	      ─▶ bands          how many are active in a level or group, their caps
//	      ─▶ lines          who waits and has used nothing, by rate and age
//	Decide ─▶ queue         the order of a band: heads of lines and those who
//	                        have used engines, found only as far as needed
//	       ─▶ engines       affinity first, then by name
//	       ─▶ Remember      rates of new sessions, use of arrays, affinity
//
// What a run needs to know of the past is kept by qmaster (memory.go): all
// follows from the state, so that a scheduler that starts anew decides alike.
// Starts are remembered with their orders, and the next run counts them: of one
// that is refused nothing is. Other changes of use are noted by the run that
// sees them.
//
// The package must not know what a queue instance offers: that is pkg/sched's.
// To add a way to order sessions: a key in order.go. To add a stage: a pass in
// priority.go or sla.go.
package gridserver
