// Package algorithmtest is the test bench of algorithms: a cell in one process, driven by
// short commands, and the laws for every algorithm.
//
//	Harness      the in-memory cell (schedd/couple): qmaster's core checks and
//	             applies orders; what else happens is written into its State
//	Run          the laws, for any Entry: nothing over-booked, same input same
//	             orders, every order accepted, no job overtaken that could have run
//	Swaps        the laws of changing from one algorithm to another while jobs run
//	Transcripts  the decisions of an algorithm, compared with testdata/*.txt
//	Cases        the worked cases of an algorithm, $SCHED_CASES
//
// The package must not know any algorithm: a test passes its Entry. To add a law: a
// check in laws.go, and a planted fault that breaks it. To add a command of
// transcripts: a case in Harness.Do.
package algorithmtest
