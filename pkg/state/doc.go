// Package state is the one reducer of event lists.
//
// qmaster's state, every mirror and every replay are a State to which the same lists were
// applied, so they are equal. Tables are copy-on-write B-trees: Copy costs microseconds
// whatever the size, and a copy never changes, so that other goroutines can decide,
// answer and write snapshots while the owner continues.
//
//	events.List ─▶ Apply ─▶ tables by kind + what follows from them
//	                         (pending ranges, job numbers, receipts, jobs by
//	                          owner, tasks by host, host group members)
//	Full ─▶ the same as LIST events
//
// It must not decide anything: a wrong event is an error of the code that made it. Not
// safe for concurrent use; one goroutine owns a State, Copies may be passed to others.
//
// It must not know where lists come from or go to. To add a kind: its Spec in pkg/grid
// makes its table; what follows from it (an index) is a field of State, kept by a
// function that Apply calls.
package state
