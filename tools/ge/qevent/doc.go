// Package qevent prints what happened and what happens, an event a line.
//
//	history.Lists ─┐  what is past: -from, -log, what a restart of qmaster left out
//	client.Watch ──┴─▶ reader ──filter──▶ printer ──▶ text, JSON or differences
//	                     └ mirror: the state before each list, kept only where
//	                       the filter or the differences need it
//
// The reader knows the Seq of the last list it has seen and takes nothing but
// the next one. Where a feed begins after that (qmaster was restarted, or the
// feed was too fast) the lists in between come from the log; what the log no
// longer has is reported on stderr.
//
// The package must not know what events mean; it chooses and prints.
//
// To add a filter: a field of the filter, its switch, and a case where events are
// chosen. To add a form of output: a function beside text in print.go.
package qevent
