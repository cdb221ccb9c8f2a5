// Package core is qmaster's one place that decides: Step applies a request, an order
// list, a report or a tick to the state and returns what follows from it.
//
//	UserRequest | Orders | Report | Tick ─▶ Step ─▶ Ready{List, Answers, Commands}
//
// The shell appends List to the log and sends Answers and Commands only when the append
// is durable. Step does not wait for it: it applies each list to its own State at once,
// so that many steps share one append. If the append fails the process ends and the next
// start replays the log; there is no rollback.
//
// All data of qmaster is its State, which is derived from events alone. What Core stores
// beside it (clients that wait for an answer, times of sent commands) may be lost with
// the process: clients ask again, commands are derived from the state anew.
//
//	Core ─┬─ step      the cell, and the events, answers and mails of this step
//	      ├─ outbox    commands, and what was sent to each host and received from it
//	      ├─ bookings  usage that this step books
//	      └─ waiters   clients that wait for jobs and PE tasks, and how these ended
//
// The parts share step and do not know Core: what starts, ends and suspends tasks is Core's.
//
// What decisions look at is package cell; what is wrong with an object, a job or a
// reservation is package validate; whether a request may be made at all is package
// authorize; why it is not carried out is an answer of package gdi. None of them knows Core.
//
// One file per family: input.go (what Step takes and returns), request.go (the dispatch of
// requests), change.go (generic add, modify, delete over grid.Kinds), consequences.go (what follows from a change of a
// kind; cqueue.go, host.go, calendar.go, conf.go, user.go), submit.go, alter.go, delete.go and control.go for jobs,
// limits.go for the limits of running tasks, portions.go for requests about so many jobs that they take several steps,
// release.go for jobs that wait for others, life.go for attempts, ar.go and arlife.go for advance reservations,
// orders.go (one method per order type), abandon.go for a step that panicked, instance.go for the health of instances
// of resource maps, petask.go for PE tasks, token.go for tokens, priority.go for the priorities that schedulers
// compute, usage.go for bookings, outbox.go for commands, report.go, tick.go, query.go.
//
// Pure: time comes in as an argument, nothing is read or written.
//
// The package must not know connections, files, the log or the clock: those are the
// shell's (package qmaster).
//
// To add a request: its type in pkg/gdi, its scope and hosts in package authorize, a case in
// request.go and a file or function beside those above. To add a rule of a kind: package
// validate.
package core
