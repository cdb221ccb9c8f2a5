// Package replay is quill replay: the cell as it was, at any list of the log
// or at any time.
//
//	--log, the cell ─▶ history.Log ─▶ history.Player ─▶ state ─▶ past ─▶ qstat, qconf, qhost, ...
//	                       │                └──────▶ tape ─▶ view, the terminal view
//	                       └▶ analyses: what else a log can be asked
//
// A showing command runs as it is; only its connection is another: past.go
// answers from a state that was with qmaster's own query engine, and refuses
// whatever would change something.
//
// Files: command.go (the flags, and the place in the log), programs.go and show.go
// (showing commands, run on past.go), terminal.go and tape.go (the terminal view),
// decide.go and whatif.go (the analyses).
//
// The package must not know how a log is stored (pkg/history) nor what a
// command prints. To add a showing command: its line in programs. To add an
// analysis of a log: a package with flags and a function, and its line in
// analyses.
package replay
