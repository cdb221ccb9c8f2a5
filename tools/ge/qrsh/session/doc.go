// Package session is the line between a qrsh and the command that it has
// started on another host: terminal or pipes, signals, the exit status.
//
//	qrsh                                    execution host
//	Listen ─▶ Door ── its Invitation ─────▶ (job) ─▶ Connect
//	Door.Admit ◀═════════ TLS ═══════════════════════ Link
//	Link.Attend ── open, stdin, signal, size ──────▶ Link.Serve ─▶ the command
//	            ◀── stdout, stderr, exit ───────────
//
// Who connects is the execution host, so only qrsh needs a port, one that the
// system picks. The Invitation names it together with the fingerprint of a
// certificate made for this one session, by which the host knows qrsh, and a
// token by which qrsh knows the host. Who has it is let in, once; it is as good
// as a password and travels with the job.
//
//	door.go    Listen, Door, Connect: how the two find and know each other
//	frame.go   what goes over the line
//	attend.go  qrsh's end
//	serve.go   the command's end
//	start.go   the command itself, in a pseudo terminal or with pipes
//
// The package must not know jobs, qmaster or the command line.
//
// To add a message: a constant and its fields in frame.go, sent and received in
// attend.go and serve.go.
package session
