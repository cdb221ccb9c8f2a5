// Package calendar has the arithmetic of calendars, calendar_conf(5): what state
// a calendar gives its queues at a time, when that changes next, and in which
// windows it closes them.
//
//	grid.Calendar ── Parse ──▶ Calendar ─┬─ At(t)       on, disabled or suspended
//	  (year, week)                       ├─ Next(t)     when At changes
//	                                     ├─ Closes(w)   whether a window is affected
//	                                     └─ Evaluate    the object as of now, for the log
//
// Times are interpreted in the time zone that the caller passes, the cell's. The
// package must not know queues, events or who applies the state: qmaster gives
// instances the state, and pkg/sched reads the windows from the object.
//
// To extend the syntax: the parse function of the part (parseYear, parseWeek,
// parseHours), and a case in testdata/calendars.txt.
package calendar
