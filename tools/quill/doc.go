// Command quill is all of Quill's programs in one binary.
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
//	quill shepherd the keeper of a host's jobs; execd starts it
//	quill key      who may come in over the network
//
// To add a command: a package tools/qNAME with Run(env, args) and its line in
// commands.go.
package main
