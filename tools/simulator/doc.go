// Package simulator runs a whole cluster in one goroutine on virtual time.
//
// The cores are the real ones: qmaster/core, the scheduler's model and
// decider, execd/core, the codec of lists. Only what they stand on is
// imagined: the log, the messages, the processes. Everything that happens is
// drawn from one seed, so a failing run is repeated by its number.
//
//	clients ─┐           append, sometimes lost in a crash
//	schedd  ─┼─▶ master ─▶ log ─▶ answers, commands, events
//	hosts   ─┘
//
// world.go holds time and chance; master.go, scheduler.go, host.go and
// clients.go one actor each; plans.go calendars and advance reservations;
// inherit.go the tasks of parallel jobs; tokens.go tokens and log-ins, and their laws;
// instances.go resource maps, and their law; limits.go what makes jobs wait;
// laws.go what must hold, at every step and at the end:
//
//	replay(log) = live state; full state + deltas = replay from zero
//	nothing acknowledged is lost, no request makes two jobs or reservations
//	no queue instance is ever over-booked, no user goes beyond a resource quota
//	no reservations hold more than there is, their jobs no more than they hold, what
//	runs beside them nothing of it
//	nothing starts where a calendar has closed
//	no instance of a resource map is granted more often than it is listed, or while it is out of service
//	no task runs twice at a time; each attempt that ran is accounted once
//	what is to stand still does so in a while, preempted or not, what is to continue as
//	well; it does not end by itself, and continues in the end
//	nothing is changed with a token that was revoked or has expired, or by another than its owner; no ID
//	token is exchanged twice
//	no parallel job has more tasks on a host than slots, none of them outlives it
//	an order list applied twice changes nothing twice
//	what pkg/explain says of a job that waits is so when it is done in a copy (explain_test.go)
//
// Half of the commands that are lost were lost with their host's connection:
// execd says hello again. To add a fault: a method that World.chaos calls with
// some chance. To add a law: a check in laws.go.
//
// The package must not know connections, files, real time or processes.
package simulator
