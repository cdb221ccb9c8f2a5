// Package whatif repeats what a cell was asked to do under another algorithm,
// configuration or cluster, and holds the outcome against what happened.
//
//	log ─▶ record.go   the state to start from; submissions, deletions and
//	       │           changes of the configuration; how long each task ran
//	       └─▶ world.go   qmaster's core and the scheduler (tools/sim/couple) on
//	                      virtual time: tasks end after the time that they took
//	both ─▶ outcome.go    accounting records, recorded or not, become an Outcome
//
// Nothing is estimated that the log knows. A task that had not ended takes its
// h_rt; without one, as long as the log saw it run, or the median of the others.
// A task takes the same time wherever it runs. What users changed of jobs that
// waited (qalter, qhold, qrls) and suspensions by hand are not repeated; they are
// counted, so that whoever reads the figures knows.
//
// The package must not know where a log comes from, nor decide anything.
package whatif
