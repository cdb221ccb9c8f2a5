// Command quill is Grid Engine's commands and those that operate a cell.
//
// commands.go is the table: program name → function. main looks up the name it
// was started under (qsub, qstat, ...), or the first argument of quill itself
// (`quill qsub ...`, `quill key`). `quill links DIR` makes the links; the end to
// end tests install the same table.
//
// Two kinds of commands are programs of their own beside this one, so that a qsub
// starts light: those that hold the daemons (tools/quill-daemon/serve) and the laboratory (tools/quill-lab/lab),
// which analyses and simulates. others.go lists them, and quill becomes that program:
//
//	qsub ...          ──link──▶ quill
//	quill qmaster ... ──exec──▶ quill-daemon
//	quill sim ...     ──exec──▶ quill-lab
//
// To add a command: Run(env, args) in a package tools/ge/qNAME, or beside the commands that it belongs to, as in
// tools/ge/jobs and tools/ge/reservation, and its line in commands.go; one that holds daemons or of the laboratory:
// see tools/quill-daemon/serve and tools/quill-lab/lab. Each has a manual page, as tools/manual says.
//
// It must not know what its programs do: each is a package with a Run.
package main
