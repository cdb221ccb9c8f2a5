// Package outcome says how the jobs of a workload fared, and sets several
// outcomes side by side: as tables for people, as JSON, as pictures.
//
//	outcome.go   what became of a workload; time.go cuts its time into pieces
//	summary.go   waits, slowdown, utilisation: one column for each outcome
//	share.go     what projects got of the machine while they wanted more
//	json.go      the same figures for programs
//	picture.go   utilisation and queue, shares over time (stack.go), who had which slots
//
// An outcome may have been simulated or recorded; the package does not distinguish. It
// must not know cells and logs: the program that has one fills in an Outcome.
//
// To add a figure: a field of its struct, computed in its file, and a column in the
// table and the JSON.
package outcome
