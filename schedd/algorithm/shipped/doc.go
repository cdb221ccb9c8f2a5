// Package shipped is the table of the scheduling algorithms that Quill comes with.
//
// It must not know what schedules with them: the daemon schedd, the simulator, what-if and quill why's outlook take the
// table. To add an algorithm: a package beside this one with an Entry, and a line in the table.
package shipped
