// Package fair has a queue that serves its users in turns, so that one user who
// brings much does not delay the others.
//
//	Put(user, daemon, item, size) ─▶ one queue per user ─▶ Next: round robin
//
// Items of one user leave in the order in which they came. While users and daemons
// both wait, every second item is a daemon's: users cannot delay daemons, and a
// daemon cannot delay users.
//
// A Queue knows nothing of what it holds, has no goroutine and no lock: whoever owns
// it serializes calls.
package fair
