// Package shepherd starts jobs, and is the only package that does.
//
// Each exec host has one shepherd: a process of its own, started detached by the first execd that needs it, that forks
// the job processes, enforces their limits and journals how they ended. It outlives execd, so killing execd
// hurts no job. Grid Engine starts one sge_shepherd(8) per task instead; a Go process per task would cost more
// than most short tasks do.
//
//	execd ── Start, Signal, Usage, List, Forget ──▶ shepherd ──▶ prolog, pe_start, job, pe_stop, epilog   one session each
//	      ◀── Changes: running, ended ────────────    │
//	                                                  └─▶ DIR/journal   begun before the first fork, ended before reported
//
// Files, in the order to read them:
//
//	client.go       Connect and the Client it returns: execd's side of the socket
//	rundir.go       names in the shepherd's directory, and who is at the other end of its socket
//	wire.go         the messages between the two, and how they are sent
//	fields.go       the fields of messages and journal records, written with pkg/wire
//	run.go          Run: the shepherd process, its lock and its socket, start and end; how many attempts start at a time
//	serve.go        its answers to requests
//	attempt.go      the life of one attempt, one goroutine each, from the first file to the last removal
//	failure.go      why it failed
//	prepare.go      spool directory, TMPDIR, output files; stdstreams.go opens these
//	asowner.go      what is done with the owner's rights
//	shared.go       one run of a function for all who call it at the same time
//	begincounter.go waits for what has begun, and holds up nothing that begins meanwhile
//	slow.go         paths of users that may block the process that opens them; trusted.go those that cannot
//	fork.go         the fork itself; processors that the child inherits; ulimits.go limits that must be set in it
//	careful.go      the start of what may block; starter.go the child that opens the files and becomes the program
//	reader.go       parts of output files: a child reads them as the job's owner
//	oom.go          jobs end before daemons when the host is out of memory
//	spool.go        the files that prologs, epilogs and wrappers read
//	environment.go  the one that later steps have from earlier ones
//	processes.go    the processes of an attempt, as far as the reaper must know it
//	reap.go         every wait in one place; what a finished step left over is found and killed
//	owner.go        whose process an orphan is; marker.go the variable that distinguishes them
//	delegate.go     how the shepherd's control group is divided; hostgroup.go the one of all attempts of an execd
//	cgroup.go       the control group of an attempt, where one may be had; cgroupfs.go what is written there
//	adopt.go        log-ins that join a job
//	change.go       other limits for attempts that run
//	devices.go      device files that are closed to an attempt
//	cause.go        why a job ended
//	alarms.go       signals requested of an attempt, and those that are due later
//	signal.go       suspend, resume, terminate, notify
//	ckpt.go         checkpoints by the clock, and the one before a job continues on another host
//	meter.go        what an attempt has used; usage.go samples it: limits over the whole job
//	journal.go      the append-only file, its group commit and its compaction; the bytes are described in tools/manual/formats.md
//	leavings.go     what an attempt leaves, and its removal; removetree.go that of a directory, however deep it is
//	leftover.go     what could not be removed when its attempt was over
//	recover.go      attempts of a shepherd that died
//
// The package knows processes, files and signals; /proc and the counters of control groups are read by execd/procfs. It
// must not know queues, job states or policies: whether an exit status of 99 means "again" is decided by the reader of
// the Ended record. The plan says what to do, never why.
//
// What it is given and what it reports is in execd/plan, the failure codes in pkg/report.
//
// To add a field to what a job can ask for: a field of plan.Plan and at the end of planFields, its effect in
// attempt.go, prepare.go or fork.go, and a test that runs a real process and looks.
package shepherd
