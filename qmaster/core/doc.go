// Package core is qmaster's one place that decides: Step applies a request, an order
// list, a report or a tick to the state and returns what follows from it.
//
//	Request | Orders | Report | Tick ─▶ Step ─▶ Ready{List, Answers, Commands}
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
// One file per family: request.go (generic add, modify, delete over grid.Kinds;
// permissions), one file per kind with rules of its own (cqueue.go, hgroup.go, ...),
// submit.go, alter.go, delete.go and control.go for jobs, portions.go for requests about
// so many jobs that they take several steps, jsv.go for the attributes that
// may be changed after a verifier has accepted a job, ar.go, arlife.go and arhold.go for
// advance reservations, orders.go (one method per order type), abandon.go for a step that
// panicked, instance.go for the health of instances of resource maps, settings.go for
// what is read from the configuration once, petask.go for PE tasks, token.go for tokens
// and the scope that each request needs, priority.go for the priorities that schedulers
// compute, usage.go for bookings, report.go, tick.go, query.go.
//
// Pure: time comes in as an argument, nothing is read or written.
//
// The package must not know connections, files, the log or the clock: those are the
// shell's (package qmaster).
//
// To add a request: its type in pkg/gdi, a case in request.go and a file or function
// beside those above. To add a rule of a kind: a row in the rules of its file.
package core
