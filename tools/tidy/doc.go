// Package tidy checks the source against its plan: which package may import which, which packages are pure, which words
// and log keys the glossary retires. It has only tests.
//
//	go list ─▶ imports, sources ─┐
//	plan (plan_test.go) ─────────┼─▶ TestPlan      imports outside the plan, grants that nothing needs, arrows upwards
//	                             ├─▶ TestPurity    I/O, clock, goroutines in pure packages
//	                             ├─▶ TestOrder     loops over maps in pure packages whose order may matter
//	                             ├─▶ TestRooms     packages whose files all reach each other, types with too many methods
//	                             ├─▶ TestTypeNames names of types that too many packages have
//	                             ├─▶ TestWithout   modules that a program must not link
//	                             ├─▶ TestDocs      what every package comment says
//	                             ├─▶ TestWords     names, comments, documents and log keys that the glossary and the writing guide retire
//	                             └─▶ TestPage      the package table of tools/manual/architecture.md; -update writes it
//
// It must not know what the packages do. To add a package: a row in plan, after the rows that it imports, and
// `go test ./tools/tidy -update`. To change the plan: change the row, and give the reason in the commit.
package tidy
