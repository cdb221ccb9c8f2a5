// Package fair provides a queue that serves its users in turns, so that one user with
// many items does not delay the others.
//
//	Put(user, daemon, item, size) ─▶ one queue per user ─▶ Next: round robin
//
// Items of one user leave in the order in which they came. While users and daemons
// both wait, every second item is a daemon's: users cannot delay daemons, and a
// daemon cannot delay users.
//
// A Queue must not know what its items are. It has no goroutine and no lock: its owner serializes
// calls.
//
// To add an order of service: another Next beside NextOf, and its cases in the tests.
package fair
