// Package state is the one reducer of event lists: the state of a cell is what
// its events say.
//
// qmaster's truth, every mirror and every replay are a State to which the
// same lists were applied, so they are equal. Tables are copy-on-write
// B-trees: Copy costs microseconds whatever the size, and a copy never
// changes, which is what lets others decide, answer and write snapshots while
// the owner goes on.
//
//	events.List ─▶ Apply ─▶ tables by kind + what follows from them
//	                         (pending ranges, job numbers, receipts, jobs by
//	                          owner, tasks by host, host group members)
//	Full ─▶ the same as LIST events
//
// It must not decide anything: an event that makes no sense is the bug of
// whoever made it. Not safe for concurrent use; one goroutine owns a State,
// Copies may be handed to others.
package state
