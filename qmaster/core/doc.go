// Package core is qmaster's one place that decides: Step takes what somebody
// wants or reports and says what must now happen.
//
//	Request | Orders | Report | Tick ─▶ Step ─▶ Ready{List, Answers, Commands}
//
// The shell appends List to the log; only when that is durable it gives the
// Answers and sends the Commands. Step has then long gone on: it applies each
// list to its own State at once, so that many steps share one append. If the
// append fails the process ends and replays; there is no way back.
//
// Everything that qmaster knows is its State, which is what the events say.
// What Core keeps beside it (who waits for an answer, which command was sent
// when) may be lost with the process: clients ask again, commands are derived
// from the state anew.
//
// One file per family: request.go (generic add, modify, delete over grid.Kinds;
// permissions), one file per kind with rules of its own (cqueue.go, hgroup.go,
// ...), submit.go, alter.go, delete.go and control.go for jobs, jsv.go for what
// may still be changed of jobs that a verifier has seen, ar.go, arlife.go and
// arhold.go for advance reservations, orders.go (one method per order type),
// abandon.go for a step that panicked, settings.go for what is read from the configuration once, petask.go for what
// a parallel job starts on its hosts, priority.go for what schedulers find,
// usage.go for bookings, report.go, tick.go, query.go.
//
// Pure: time comes in as an argument, nothing is read or written.
package core
