// Package qstat shows jobs and queues, qstat(1).
//
//	words ─table─▶ options ─▶ one Get ─▶ listing (jobs joined with their tasks)
//	                                  ├▶ cluster.Cluster (queue instances)
//	                                  └▶ reckoning (what jobs are worth of which nothing is told)
//	listing.running, listing.pending ──rows──▶ table | xml
//
// One Get brings everything from one moment. Of each job only what a row needs
// is kept (entry), unless an option shows more: a hundred thousand pending
// jobs are listed in a few dozen megabytes. Rows are made when they are
// printed.
//
// Files: options.go, qstat.go (Run), listing.go (jobs and tasks become rows), queues.go
// (under their queues), table.go (columns and lines), requests.go (-r), reckoning.go,
// finished.go (-s z), job.go (-j), xml.go, xmljob.go (the same as XML).
//
// Where so many jobs wait that the scheduler reports the priorities of the first
// ones only, it also reports the ranges that it observed over all of them;
// pkg/shares computes the priorities of the others from these.
//
// The package must not know how objects travel; it decides nothing about jobs.
//
// To add a column: a line in columns (table.go) and its element in xml.go.
package qstat
