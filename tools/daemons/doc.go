// Package daemons runs the daemons of a cell over real connections: each alone, or
// all of them in one process (Up), as `quill up`, the demo and the benchmarks
// do.
//
//	Up ── qmaster.Start ── server, log, core
//	   ├─ Schedd ── over the cell's socket, as a daemon of its own would
//	   └─ Execd  ── one for each host, likewise
//
// It must not know options or output; those are the commands'.
//
// To add a daemon: a function beside Schedd and Execd, and its place in Up.Run.
package daemons
