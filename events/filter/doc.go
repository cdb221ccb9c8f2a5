// Package filter chooses events: those of one job, user, host or queue, of
// some kinds, of some causes. qevent follows what a filter lets through, and
// the terminal view of quill replay stops where a filter as breakpoint does.
//
//	list ──▶ Filter.Of ──▶ the list with the events that pass
//	             ▲
//	   what was before: whose job a task is, where it ran
//
// subject.go says what an event touches; filter.go asks whether that was
// asked for. To add a condition: its line in filter.go's table, and where it
// asks for something new of an event, a field of subject.
//
// The package must not know where lists come from nor how they are shown.
// Pure.
package filter
