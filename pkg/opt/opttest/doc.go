// Package opttest runs commands in tests: without a process and without a cell. The
// requests of a command are recorded as text and answered with the replies that the test
// has set, so that a test reads as a transcript:
//
//	reply
//	job 7
//	----
//
//	run
//	qsub -b y sleep 10
//	----
//	submit
//	  Job.Name: sleep
//	  ...
//	1> Your job 7 ("sleep") has been submitted
//	exit 0
//
// To test another command: a _test file that hands its testdata and its Run to
// Transcripts. Only tests import this package.
//
// The package must not know any command: a test passes its Run.
package opttest
