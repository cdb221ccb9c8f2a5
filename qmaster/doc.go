// Package qmaster is the shell of the master daemon: it moves bytes between the
// bus and qmaster/core and holds no rule of the cluster.
//
//	requests ─┐            ┌─ core.Step ─ list ─▶ Committer ─▶ log
//	orders   ─┼─ inputs ─▶ │ owner                               │ landed
//	reports  ─┤            └─ what may leave ─▶ outbox ◀─────────┘
//	tick     ─┘                                  │ in Seq order, only what is durable:
//	                                             ▼ accounting, reporting, answers, commands, feed
//
// The owner has the core. The goroutine that brings an input steps it, one at a time,
// and never waits for the disk: lists pile up in the Committer while a frame is
// being synced, and what follows from them waits in the outbox, which whoever
// brings the acknowledgement empties. So an answer passes through few goroutines.
// If an append fails the process ends with the reason and the next start replays:
// there is no way back and no code for one.
//
// With a jsv_url a job goes by way of the verifier, which keeps some processes of
// that script, pkg/jsv/script, and gives the core what they let pass: whoever
// submits waits for them, the core and everybody else do not. What a script receives
// of a job and may change is pkg/submit's.
//
// Listings, registrations and snapshots are served by other goroutines from
// copies of the state, which the outbox hands over when their Seq is durable.
//
// Files: recover.go (snapshot and log to a state), owner.go, outbox.go,
// intake.go (requests, orders, reports, load), accounts.go (who a user is), verifier.go (jobs
// that a script looks at first), listing.go (Get and registration), history.go (the log,
// for who asks), feed.go, record.go (orders, for repeating decisions), snapshot.go,
// accounting.go and reporting.go (files for programs of others, each a trail, trail.go),
// cell.go (the files of a cell), qmaster.go (Start, Run, Stop).
package qmaster
