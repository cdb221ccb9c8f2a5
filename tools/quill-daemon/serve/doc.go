// Package serve is the commands of quill that hold the daemons: qmaster, schedd, execd and shepherd
// alone, all of them in one process (up, demo), and the scheduling algorithms on a copy of the state
// (sched).
//
// They need what Grid Engine's commands should not carry: the NATS server, metrics, the
// algorithms. So they are a program of their own, quill-daemon, which lies beside quill and which quill starts:
// the user types `quill qmaster ...` either way, under one process id.
//
//	quill qmaster ... ──exec──▶ quill-daemon qmaster ... ──▶ Commands ──▶ tools/daemons
//	                            └─ starts quill for links and for what qrsh runs
//
//	daemons.go   options and commands of the daemons
//	up.go        a whole cell in one process; demo.go shows one
//	provide.go   what a daemon puts below $SGE_ROOT for programs that know Grid Engine
//	notify.go    readiness, for systemd
//	sched.go     the algorithms
//	adopt.go     a log-in that joins a job, by the shepherd alone
//
// The package must not know how a daemon works: tools/daemons runs it, and qmaster, schedd and execd are packages of
// their own.
//
// To add a daemon: its command in Commands, its name and usage in tools/quill/others.go, whose test holds the two lists
// equal, and its systemd unit in tools/quill/units.tmpl.
package serve
