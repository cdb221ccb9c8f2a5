// Package outcome says how the jobs of a workload fared, and sets several
// outcomes side by side: as tables for people, as JSON, as pictures.
//
//	outcome.go     what became of a workload; time.go cuts its time into pieces
//	summary.go     waits, slowdown, utilisation of one outcome
//	share.go       what projects got of the machine while they wanted more
//	comparison.go  outcomes side by side, and how titles name them
//	table.go, json.go, report.go   the same figures for people, programs, and as a page with pictures
//	picture.go     utilisation and queue, shares over time, who had which slots, for pkg/chart
//	file.go        files that options name: refused before a run, written after it
//
// An outcome may have been simulated or recorded; the package does not distinguish. It
// must not know cells and logs: the program that has one fills in an Outcome.
//
// To add a figure: a field of its struct, computed in its file, and a line of
// figures; the terminal, the page and the JSON follow.
package outcome
