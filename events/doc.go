// Package events defines the changes of state that Quill records.
//
// An Event contains one object that changed, as it is now; a List is everything that one
// decision changed. Lists are numbered without gaps, stored and sent whole, and applied
// whole by every Sink: qmaster's state, the scheduler's mirror, accounting, replay.
//
//	core.Step ─▶ List ─▶ log ─▶ Sink.Apply   (state, mirror, accounting, ...)
//
// Events carry the whole new object, so applying one twice changes nothing; a job that
// changes comes without the parts that stay as they are (grid.Job.Change). A full state is
// sent in the same form, as LIST events. README.md is the protocol: what each event
// means and in which order they come.
//
// The package must not know how lists are encoded, stored or sent, nor who
// may cause them.
//
// To add a kind: its type and Spec in pkg/grid (see there), and its paragraph in README.md
// if its events mean more than that an object was changed.
package events
