// Package gdi defines the requests of users and their answers: Grid Engine's database
// interface, used by every command.
//
// A Request carries one Body: a change (decided by qmaster/core, answered when it is
// durable) or a Get (answered from a consistent copy of the state). Answers are texts in
// Grid Engine's wording with a status; commands print them and exit accordingly.
//
// To add a request: a struct with a verb method here, its line in the codec
// and its case in qmaster/core; what it must have is checked in complete.go, how much it
// may ask for in bounds.go.
//
// The package must not know how requests travel (pkg/codec, pkg/bus) nor how they are
// decided.
package gdi
