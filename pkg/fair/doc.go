// Package fair keeps one user, whatever that user does, from taking what others need. It has three parts:
//
//	Queue     what waits: users are served in turns
//	Places    what is in use at a time, in any unit: a bound in all and per user, a reserve for daemons, a Queue of those who wait
//	Listener  connections: a bound in all and per user before anything is read; PeerOf finds the user
//
//	Put(user, daemon, item, size) ─▶ one queue per user ─▶ Next: round robin
//	Join, Wait(user, n) ─▶ Queue ─▶ begin ─▶ leave
//	Accept ─▶ PeerOf ─▶ Conn, or an idle one of the greediest user is closed
//
// Items of one user leave in the order in which they came. While users and daemons
// both wait, every second item is a daemon's: users cannot delay daemons, and a
// daemon cannot delay users.
//
// Nothing is held while a client reads, and nothing for a client that has gone: a place is left before the answer is
// written to the client, and a waiting request is cancelled when the client has gone. Every Queue, Places and Listener
// of the programs is a row of a table in the manual, security.md.
//
// The package must not know what its items are. A Queue has no goroutine and no lock: its owner serializes
// calls.
//
// To add an order of service: another Next beside NextOf, and its cases in the tests.
package fair
