// Package past reads for requests what the cell was: states, event lists and accounting records, from what the mirror
// keeps and, for what is older, from the log.
//
//	?at= ──▶ Reader.At ──▶ mirror.Moments, else a known state and mirror.Recent, else a full state of the log ──▶ Moment
//	Reader.Open ──▶ a Turn: a Stretch of the log, which others read while this client takes what was read
//	EndedJobs.Each ──▶ Backwards ──▶ mirror.Recent or mirror.Ledger, then the log, the newest record first
//
// Few requests read the log at a time, in turns by user, and each works on a copy of a stretch. What was read and
// follows what the mirror keeps is given to it.
//
//	past.go  the log, in turns    at.go  states and moments    backwards.go  accounting records
//
// The package must not know routes or how answers are written. It reads as the account of the request may; what the
// server reads for itself goes through Public before a user sees it.
//
// To add a source of the past: a method of Reader that has what is asked for from the mirror first, and opens the log
// last.
package past
