// Package session is DRMAA 1.0 without C: a session, its jobs, and what may be
// said and asked of them, drmaa_session(3) and its neighbours. The library of
// tools/drmaa is this package with a C interface before it.
//
//	Template ─▶ submit.Template ─▶ grid.Job ─▶ gdi.Submit ─────────┐
//	Control  ─▶ gdi.Control, gdi.Alter, gdi.DeleteJobs ─────────┤
//	                                                            ▼ reply.Seq
//	client.Watch ─▶ ledger: the session's jobs ─▶ State, Wait, Synchronize
//
// Nothing is polled. The ledger receives every event, keeps those of jobs that the
// session submitted (JobSpec.Session), and so knows of each task where it is and
// how it ended. A caller whose request qmaster answered continues when the ledger has
// reached the list that the answer names: it then sees what it changed. What
// happened while the feed was broken is read from the log; of what is not in the
// log any more only the full state is known, and that a job is gone.
//
// The ledger, templates, placeholders, start times and statuses (ledger.go,
// template.go, place.go, starttime.go, status.go, errno.go) do no I/O; session.go,
// submit.go, control.go, wait.go and feed.go do.
//
// The package must not know of C, nor what the words of a native specification
// mean: that is pkg/submit's, and qmaster's.
//
// To add an attribute: a row of attributes in template.go.
package session
