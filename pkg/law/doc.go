// Package law checks laws on seeded random cases: each case is a subtest, and one that breaks a law prints the
// command that repeats it alone. Tests that use it have the flags
//
//	-seeds N   as many cases of each law instead of those that are quick
//	-seed N    the first case; without -seeds the only one
//
// It must not know what a law is about. Only tests import it.
//
// To add a law: a test that calls Each with what it does with one seed, and a line in the Makefile's soak if
// thousands of cases are worth the time.
package law
