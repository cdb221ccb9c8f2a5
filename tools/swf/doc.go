// Package swf reads workload logs in the Standard Workload Format of the
// Parallel Workloads Archive.
//
//	Read ─▶ Log{header, jobs as logged} ─▶ Usable(machine) ─▶ jobs in queue order
//
// swf.go reads; usable.go has the rules by which a job counts. The package
// knows nothing of cells: whoever replays a log says what a job becomes.
package swf
