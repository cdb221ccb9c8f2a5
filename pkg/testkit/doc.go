// Package testkit is what tests of any package share. Only tests import it.
//
//	seeds.go     EachSeed: a law is checked on seeded random cases, each a subtest; one that breaks it prints the command that
//	             repeats it alone. Flags of the tests: -seeds N, as many cases instead of those that are quick; -seed N, the
//	             first case, without -seeds the only one
//	until.go     Until: a wait for what cannot be subscribed to, as a file that a job writes. Where there is a notification,
//	             a channel, a Seq, the end of a process, a test waits for that instead
//	page.go      ReadPage ─▶ Page: tables, blocks and record layouts of the manual's chapter on file formats, compared with the
//	             bytes that the code writes
//	shepherd.go  BecomeShepherd: a test binary is the shepherd that its tests start
//
// The package must not know another package of this module: tests of all of them import it. What only some tests share
// is in a package beside theirs.
//
// To add a law: a test that calls EachSeed, and a line in the Makefile's soak if thousands of cases are worth the
// time. To describe another format: a heading with a table "offset | size | field | contents" in the chapter, and a
// test of the package that writes it, which calls Layout.
package testkit
