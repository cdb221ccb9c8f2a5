// Package swf reads workload logs in the Standard Workload Format of the
// Parallel Workloads Archive.
//
//	Read ─▶ Log{header, jobs as logged} ─▶ Usable(machine) ─▶ jobs in queue order
//
// swf.go reads; usable.go has the rules by which a job counts. The package
// must not know cells: the program that replays a log decides what a job becomes.
//
// To add a rule by which a job counts: a condition in usable.go and its case in the
// tests.
package swf
