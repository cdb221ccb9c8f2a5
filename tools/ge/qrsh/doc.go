// Package qrsh is qrsh(1) and qlogin(1): a job with its user in front of it,
// and qrsh -inherit, by which a parallel job starts tasks on its other hosts.
//
//	words, files ─▶ submit.Submission ─▶ gdi.Submit ─▶ ... ─▶ execd ─▶ Starter
//	                -inherit:         gdi.StartTask                    │
//	Listen ◀═══════════════════ session.Link ══════════════════════════╛
//	         gdi.Wait: it has started, is refused, has ended
//
//	qrsh.go      the commands: the job submitted, its fate until it calls
//	inherit.go   a task of a parallel job
//	caller.go    the wait for the starter, the session, what became of it
//	terminal.go  the user's terminal: raw mode, size, signals
//	starter.go   the program in the job's place: it calls, and runs the command
//	qsh.go       qsh, which is refused
//	session      what goes over the line between the two
//
// What the switches mean stands in pkg/submit, who may run what where is decided
// by qmaster, and execd starts the starter as the job's owner, under its limits.
//
// The package must not know how the bytes of a session travel (package session). To add
// a switch: its row in the table of pkg/submit.
package qrsh
