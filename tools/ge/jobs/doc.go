// Package jobs is Grid Engine's commands that change jobs: each sends qmaster what its command line says, one request
// for each job or switch, and prints the answers.
//
//	qalter.go  attributes           qdel.go    deletion
//	qmod.go    states, also queues' qresub.go  a copy
//	qhold.go   qhold and qrls: qalter with nothing but -h
//
// The package must not know which jobs exist, what is permitted or what a request does to a job: qmaster decides. To
// add a switch: a row in the table of its command, and a field of the request in pkg/gdi; for qalter a row in
// pkg/submit.
package jobs
