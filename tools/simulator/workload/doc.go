// Package workload reads workload logs in the Standard Workload Format of the Parallel
// Workloads Archive, and replays them on a cell of one pool of processors, on virtual time.
//
//	ReadLog ─▶ SWF{header, jobs as logged} ─▶ Usable(machine) ─▶ jobs in queue order ─▶ Run
//
// Everything that decides is the real thing: qmaster's core takes submissions,
// orders and reports and makes event lists; the scheduler's model follows
// these lists; its decider yields orders from a copy; the core judges them.
// Only what carries and what runs is left out: the bus, the log's disk, the
// daemons' loops, the processes. A job ends after its run time; one that is
// suspended by preemption ends later by as long as it stood still, also where h_rt
// would have ended it.
//
//	Job ────▶ clock ─▶ cell.submit ─┐
//	             ▲      cell.end    ─┼▶ core.Step ─▶ event lists ─▶ algorithm
//	             │      cell.pass   ─┘  (couple)                       │
//	             └───────── starts ◀── core.Step(orders) ◀─────────────┘
//
// swf.go reads a log, usable.go has the rules by which a job counts; cell.go is the cell and its one pool; kth.go the
// log that is always there; clock.go lets the seconds pass, in batch and in event mode; outcome.go hands the outcome
// to tools/outcome, which says how the jobs fared; starts.go writes and reads start times.
//
// The package holds no rule of the cluster and must not: a start time that is
// wrong is wrong in qmaster/core, schedd or pkg/sched. testdata has two logs
// of the Parallel Workloads Archive with the start time of every job, as
// independent simulators have found them.
//
// To add a rule by which a job counts: a condition in usable.go and its case in the
// tests. To add a policy: a case of Conf. To add a figure of a replay: a field of the outcome
// in outcome.go.
package workload
