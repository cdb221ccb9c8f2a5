// Package qstat shows jobs and queues, qstat(1).
//
//	words ─table─▶ options ─▶ one Get ─▶ listing (jobs joined with their tasks)
//	                                  └▶ cluster.Cluster (queue instances)
//	listing.running, listing.pending ──rows──▶ table | xml
//
// One Get brings everything from one moment. Of each job only what a row needs
// is kept (entry), unless an option shows more: a hundred thousand pending
// jobs are listed in a few dozen megabytes. Rows are made when they are
// printed.
//
// The package must not know how objects travel; it decides nothing about jobs.
//
// To add a column: a line in columns (table.go) and its element in xml.go.
package qstat
