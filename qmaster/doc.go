// Package qmaster is the shell of the master daemon: it moves bytes between the
// bus and qmaster/core and holds no rule of the cluster.
//
//	requests ─┐            ┌─ core.Step ─ list ─▶ Committer ─▶ log
//	orders   ─┼─ inputs ─▶ │ owner                               │ landed
//	reports  ─┤            └─ what may leave ─▶ outbox ◀─────────┘
//	tick     ─┘                                  │ in Seq order, only what is durable:
//	                                             ▼ accounting, reporting, answers, commands, feed
//
// The owner holds the core. The goroutine that received an input steps the core, one at a
// time, and never waits for the disk: lists collect in the Committer while a frame is
// being synced, and what follows from them waits in the outbox, which is emptied by the
// goroutine that received the acknowledgement. So an answer passes through few
// goroutines. If an append fails the process ends with the reason and the next start
// replays the log; there is no rollback.
//
// Listeners do not delay those who are answered: the feed publishes to them by a goroutine
// of its own, together what became durable while the server was busy with the last message.
// The log, the feed and everything else have a connection to the server each, so that none
// of them waits for what another one sends.
//
// With a jsv_url a job first passes the verifier, which keeps some processes of that
// script (pkg/jsv/script) and submits to the core the jobs that they accept. Only the
// client that submits waits for the script, not the core. pkg/submit defines which
// parameters of a job a script receives and may change.
//
// Listings, registrations and snapshots are served by other goroutines from
// copies of the state, which the outbox hands over when their Seq is durable.
//
// Files: recover.go (snapshot and log to a state), owner.go, outbox.go, intake.go
// (requests, orders, reports, load), accounts.go (ids and groups of users), access.go (what
// authenticates clients: tokens, certificates), login.go (ID tokens are verified), verifier.go
// (job submission verifier), listing.go (Get and registration), readers.go (output files, which hosts read), history.go
// (export of the log), feed.go, record.go (recorded orders, to repeat decisions), snapshot.go, accounting.go and
// reporting.go (files for other programs, each a trail, trail.go), cell.go (the files of a cell), metrics.go (what is
// counted, as a table) and reporters.go (age of reports), qmaster.go (Start, Run, Stop).
//
// The package must not decide anything about jobs, hosts or users: that is core's.
//
// To add a source of inputs: a handler in intake.go that submits an input to the owner.
// To add a reader of what is durable: a consumer in outbox.go.
package qmaster
