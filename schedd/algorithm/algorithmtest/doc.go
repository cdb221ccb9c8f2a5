// Package algorithmtest is the test bench of algorithms: a cell in one
// process, told what to do in short lines, and the laws every algorithm keeps.
//
//	Cell         a State that plays qmaster: it checks orders with sched.Fits and
//	             turns them into events; the algorithm follows these as it would
//	             those of a real cell
//	Run          the laws, for any Entry: nothing over-booked, same input same
//	             orders, every order accepted, nobody overtaken who could have run
//	Swaps        the laws of changing from one algorithm to another while jobs run
//	Transcripts  what an algorithm wants, as testdata/*.txt tell it
//	Cases        the worked cases of an algorithm, $SCHED_CASES
package algorithmtest
