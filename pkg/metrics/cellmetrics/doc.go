// Package cellmetrics counts what event lists say: jobs, tasks, starts, ends, waiting times, hosts.
//
//	event lists + state ──▶ Counter ──▶ Table ── part of the table of a daemon (pkg/metrics)
//	                   └──▶ Users ──▶ what each user has, and why jobs wait
//
// The same counts are served live by qmaster, and made of the log by `quill metrics`. Counting a list costs what the
// list changes; the numbers of tasks by state are kept by the state itself.
//
// The package must not know the time, nor where lists come from: durations follow from the times in the lists.
//
// To add a metric that follows from events: a field of Table with its tags, the place in List that counts it, and a
// line in the chapter tools/manual/monitor.md.
package cellmetrics
