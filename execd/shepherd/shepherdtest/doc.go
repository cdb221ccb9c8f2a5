// Package shepherdtest lets a test binary be the keeper that its tests start.
// It knows how a keeper is called and when the tests are over, and nothing of
// what keepers do.
package shepherdtest
