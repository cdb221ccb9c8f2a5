// Package execd is the execution daemon of one host: it moves bytes between
// qmaster, its core and the shepherd of the host's job processes.
//
//	Transport ── Command ──▶ ┌──────┐ ── spool, plans, signals ──▶ shepherd (execd/shepherd)
//	          ◀── Report ─── │ core │ ◀────── attempts, usage ──── │
//	/proc, load sensors ───▶ └──────┘ ── mails ──▶ mailer
//
// One goroutine owns the core; the shepherd, reports, load values and mails have one
// goroutine each, whose next batch is what arrived while it was busy. No goroutine belongs
// to a job.
//
//	execd.go         Run: the loop around the core
//	shepherd.go      the connection to the shepherd
//	batchrunner.go   what is done with the shepherd, in order: spool, plan, start, signal, forget
//	local.go         what a plan needs to know of the host: programs on the PATH, directories
//	account.go       owners and groups, looked up and cached
//	spool.go         job scripts and mail notes in the host's directory
//	tmp.go           the directories that hold the TMPDIRs of jobs
//	reportsender.go  reports to qmaster, one at a time
//	read.go          parts of output files, for qmaster
//	bus.go           the Transport over pkg/bus
//	load.go          load values, load_parameters(5)
//	topology.go      sockets, cores and threads that execd may use
//	sensor.go        external load sensors, sge_execd(8)
//
// Every rule is in execd/core. This package must not decide anything about a
// job. Several execds may run on one machine, each with its own host name and
// directory. To add something that must happen on the host: a field of core.Ready and
// its execution in carryOut or batchrunner.go.
package execd
