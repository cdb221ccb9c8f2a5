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
// RunLines runs listing commands against a FakeClient, which answers from a list of objects, as SmallCell: three
// hosts and jobs in many states. Every JSON document that is printed is compared with its schema:
//
//	pkg/document types ─▶ Schema ─▶ tools/manual/schemas    written with -update
//	output of a command ─▶ CheckDocument ─▶ error
//
// To test another command: a _test file that hands its testdata and its Run to Transcripts. To add an object or a
// state: a line in the list of the objects of cell.go, in key order. To add a document: see pkg/document. Only tests
// import this package.
//
// The package must not know any command: a test passes its Run.
package opttest
