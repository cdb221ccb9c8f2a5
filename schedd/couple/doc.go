// Package couple is the in-memory cell: qmaster's core and a scheduling algorithm
// with nothing between them, no bus, no log, no daemons.
//
//	Step ─▶ core ─▶ event list ─▶ algorithm
//	Pass ─▶ algorithm ─▶ orders ─▶ core ─▶ event list ─▶ algorithm
//
// The simulator, what-if, quill why's outlook, the scheduling benchmarks and the
// transcripts and laws of algorithmtest use it. The caller brings the state, the time and the
// algorithms: the table of the shipped ones is shipped.Algorithms. The package must
// not know that table, because algorithms' own tests use the cell, and it holds no
// rule of the cluster. To add an input: Step takes whatever the core takes.
package couple
