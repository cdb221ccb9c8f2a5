// Package plan is the vocabulary of what a host does: execd/core decides in it, the shepherd (execd/shepherd) executes
// it and reports in it.
//
//	execd/core ── Plan: steps, files, limits, methods ──▶ shepherd
//	           ── report.SignalKind ────────────────────▶
//	           ◀── Answer ──────────────────────────────   the Plan is accepted or refused
//	           ◀── Status, Used ────────────────────────   attempts that start, are suspended, end; usage
//
//	plan.go     Plan, Owner, Dir, File, Step, Ckpt; the devices of a Plan are those of pkg/grid
//	limits.go   Limits, Bound, Rlimit, Resource; the shell that sets them
//	change.go   LimitsChange of an attempt that runs, Changed
//	cgroup.go   Cgroup: the control group and its limits
//	method.go   Method: a signal or a command
//	status.go   State, Status, End, Answer, Used
//	trace.go    TraceID, SpanID, TraceParent: a job's place in a trace
//
// A Plan is final: programs are paths, users are numeric ids, times are durations, signals are numbers of this system.
// The shepherd looks up nothing and decides nothing; it opens the paths that a user named (Cwd, standard streams,
// programs) with the rights of the Owner. Secrets are in two places only: Env and Environ, and a File that is private
// to the owner.
//
// The package has data and the parsers of its own words, no I/O. It must not know queues, jobs, qmaster's messages
// beyond report.Attempt and report.Result, the shepherd's socket, or how anything here is carried out.
//
// To add a field: the field here, its value in execd/core (with a case in testdata/plan), its line at the end of the
// list in execd/shepherd/fields.go, its effect in execd/shepherd with a test that runs a process. To add a step: a
// StepName between the others, in the order of execution, with its name; execd/core adds it to Plan.Steps, and
// startFailures and runFailures of the shepherd give its failure codes.
package plan
