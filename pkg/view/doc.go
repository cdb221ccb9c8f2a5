// Package view makes the rows of all listings: what qstat, qhost, qselect and the
// other commands show, and what JSON, the API, the console and metrics read.
//
//	state.State ──────────┐
//	sched.Cluster ────────┴▶ View ──▶ Queue, ClusterQueue, Resource, Host, Share, Quota, Reservation, Summary
//	                          └─────▶ Jobs ──▶ Job, one after the other
//	gdi.Get ──objects──────────Add──▶ Jobs    (without a state that holds all jobs)
//	                          └─Add─▶ Details ──▶ JobDetail, ReasonGroup
//	state.State ──▶ Waits, JobsAhead, Members ──▶ Wait, JobAhead
//
// A row is a plain struct of typed fields: numbers as numbers, times as times,
// states as states; its comments say the units. A pointer that is nil and an empty
// text mean that nothing is known. Filters are structs whose zero value selects
// everything. Whatever follows from load, requests and what is in use is asked of
// pkg/sched, so a listing shows what the scheduler decides by; also what the jobs
// are worth of which the scheduler has reported nothing because so many wait.
//
// The package must not know where a state comes from, who reads rows, or how they
// are printed: columns, XML and JSON are in the commands. It has no I/O and no
// clock. A row is made when it is read and holds only what its listing shows.
//
// To add a column: a field of the row, set where the row is made, and a line in
// the table of the command that prints it. To add a listing: a file with its row
// and a method of View, and a transcript in testdata.
package view
