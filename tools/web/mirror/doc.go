// Package mirror is a copy of the cell's state that follows the events, and what is kept of the events for those who
// read:
//
//	client.Watch ──▶ Mirror ── Now(): a Moment, a copy at one Seq ──▶ rows of listings
//	                   ├──▶ Hub      the last lists, printed once for all streams of events
//	                   ├──▶ Ledger   the last accounting records
//	                   ├──▶ Recent   the last two million events, by job
//	                   ├──▶ Moments  states of the past, and moments that were asked for, with their JobPages
//	                   ├──▶ Charts   Trend and Loads: counts, and the load of hosts, over time
//	                   └──▶ cellmetrics, the metrics of the cell
//
// Each of the five is a Follower: the mirror calls it with every list, in order, under one lock, and after each full
// state. A follower has a lock of its own, under which it is read. What a method returns is a copy or never changes.
//
//	mirror.go   the state and its followers         hub.go      lists for streams; gzip.go: compressed once for all
//	recent.go   lists by job, in piles (pile.go)    ledger.go   accounting records
//	moments.go  states of the past; job_pages.go    charts.go   trend.go, loads.go
//
// The package must not know routes, users of the API or the log: what is older than it has is read by its callers, who
// give it back with Prepend and Keep. It must not compute what pkg/view computes. The mirror is that of a user, so
// private fields of jobs never reach this process.
//
// To add something that is kept of the events: a Follower in a file of its own, a field of Mirror, and a line in New.
package mirror
