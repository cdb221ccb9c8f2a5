// Package bench measures a cell against the machine it runs on.
//
//	bench.go       Benches, the table: name → function; Run
//	submit.go      jobs acknowledged a second, held against append + fsync
//	latency.go     submit to the job's first instruction, against fork + exec + one fsync
//	throughput.go  short jobs a second through the whole cell, against a bare loop
//	recover.go     kill -9 with a million pending jobs, against reading the same bytes
//	list.go        qstat of all jobs
//	fair.go        submits beside listings and beside a flood
//	api.go         requests to quill web, and events to its readers
//	schedule.go    scheduling runs in cells of up to a million pending jobs
//
//	limit.go       what the machine could do at best, measured in the same run
//	schedulecell.go  such a cell: core and algorithm in this process, no daemons
//	load.go        many submissions in flight
//	site.go        a throw-away cell: its directory and its processes, all gone at the end
//	part.go        the other end: the process that is the cell, or a daemon of it
//	figure.go      one measured number, as a line of JSON and in a table for people
//
// The parts of a cell are processes of their own, so that they can be killed,
// weighed and profiled, and so that the measuring costs them nothing. Limits are
// measured right before and after, because a shared machine is never the same
// for long: what counts is the ratio.
//
// To add a bench: a file with its function and a line in Benches.
//
// The package must not know how a cell is built inside: it uses commands, connections
// and the public cores.
package bench
