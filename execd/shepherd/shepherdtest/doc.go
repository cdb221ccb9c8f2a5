// Package shepherdtest lets a test binary be the shepherd that its tests start.
// It knows how a shepherd is called and when the tests are over, and nothing of
// what shepherds do.
//
// The package must not know what shepherds do. To test with a shepherd: a TestMain that
// calls Keep.
package shepherdtest
