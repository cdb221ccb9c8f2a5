// Package lab is the laboratory: the commands of quill that analyse, simulate
// and measure.
//
// They need what daemons and Grid Engine's commands should not carry: a
// terminal view, a cluster on virtual time, an attack. So they are a
// program of their own, quill-lab, which lies beside quill and which quill
// starts: the user types `quill sim ...` either way.
//
//	quill sim ... ──exec──▶ quill-lab sim ... ──▶ Commands
//	                        └─ starts quill where it needs a cell's programs
//
// Nothing that a cell runs may import this package; tools/tidy holds that.
//
// Two are so small that they are here: why.go prints the story of tools/jobstory, manual.go shows tools/manual.
//
// To add a command: a package with Command(opt.Env) *cli.Command, its line in
// commands.go, its name and usage in tools/quill/others.go, whose test holds
// the two lists equal, and a manual page, as tools/manual says.
//
// The package must not know how its commands work, what a log says about a job, or what the manual says: those are
// packages of their own.
package lab
