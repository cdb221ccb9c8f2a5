// Package switches is the option language of Grid Engine's commands: one table of switches per command, how the words
// of a command line are divided among them, and the values of sge_types(1) that several commands read.
//
//	words ─▶ Command[T].Parse ─▶ T     one table: switch, arguments, help, what it sets
//	file  ─▶ FileLines ─▶ words        files of options, line by line
//
// The words are read here and not by a library: switches take several words (-pe mpi 4-8), their order matters (-hard,
// -soft), and the same language is in scripts and files.
//
// The package must not know of a process, a terminal or a cell: help and exit statuses are data of a Command, printed
// by pkg/opt. Names and values that only qmaster can judge are passed on as written.
//
// Files: command.go (the table and how words are read), set.go (what most switches do), files.go (files of options,
// lines cut into words). Values: list.go, ranges.go, time.go, jobs.go (job_task_list).
//
// To add a switch: one row in the command's table. A switch of the manual page that is not supported gets a row with
// Refused, so that it is rejected and not ignored.
package switches
