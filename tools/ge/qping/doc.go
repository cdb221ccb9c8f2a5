// Package qping asks whether qmaster is alive, since when, and how loaded it is,
// qping(1).
//
// The cell is found as by every other command. HOST and PORT are those of Grid
// Engine's command line: HOST must be the host of qmaster, PORT is not used.
//
// The package must not know how qmaster measures its load. To add a figure: its line in
// the block of -f, and the text of the answer to gdi.Trigger in qmaster/core.
package qping
