// Package tidy holds the floor plan of the house against its walls: which
// package may import which, and which packages are pure. It has only tests.
//
// The plan is a table in tidy_test.go; a plan that hurts is changed there,
// openly, with the reason in the commit.
package tidy
