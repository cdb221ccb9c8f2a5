// Package demo shows a real workload on a throw-away cell, through the commands
// that a user would type.
//
// Run: four hosts with 100 slots in all, the first jobs, 300 or fewer, of the KTH SP2 log (kth-sp2.swf, Parallel
// Workloads Archive; its header has the credits), squeezed in time so that
// days pass in seconds, with their real parallel sizes as real processes; and
// with them an array, a chain of dependent jobs and one that fails and is
// retried.
//
// Algorithms shows another: one stream of jobs from two projects, 3 to 1, under
// each scheduling algorithm in turn, swapped by qconf while jobs run.
//
// The package must not know how jobs are scheduled or run: it types commands and reads
// their output. To add a scene: a step of Run or Algorithms, checked by the summary.
package demo
