// Command quill is all programs of a cell in one binary.
//
// commands.go is the table: program name → function. main looks up the name it
// was started under (qsub, qstat, ...), or the first argument of quill itself
// (`quill qsub ...`, `quill up`). `quill links DIR` makes the links; the end to
// end tests install the same table.
//
//	quill up       a whole cell in this process: server, qmaster, schedd, execds
//	quill qmaster  each daemon alone, for an installed cell
//	quill schedd
//	quill execd
//	quill shepherd the shepherd of a host's jobs; execd starts it
//	quill key      who may come in over the network
//
// What analyses and simulates is the laboratory's (tools/lab), a program of its
// own beside this one, so that daemons and commands start light and hold no
// plotter in memory: lab.go lists its commands, and `quill sim` starts it.
//
// To add a command: a package tools/qNAME with Run(env, args) and its line in
// commands.go; one of the laboratory: see tools/lab.
//
// It must not know what its programs do: each is a package with a Run.
package main
