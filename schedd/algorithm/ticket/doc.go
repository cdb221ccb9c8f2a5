// Package ticket is Grid Engine's scheduler, configured as `default`.
//
// It starts jobs in the order of their dispatch priority, each where it fits
// best: hosts by load_formula and queues by seq_no, or the other way round.
//
//	Decide ─▶ suspend thresholds
//	       ─▶ dispatch: the job of the highest priority, its tasks one by one;
//	          a job that does not fit takes its whole category out of the starts;
//	          those of it with -R y may still reserve (reserve.go), up to
//	          max_reservation, and reservations restrict the jobs
//	          after them: these are backfilled if they end before or fit beside. Where none of them
//	          may start and no reasons are requested, the run ends: none is made
//	       ─▶ reasons, where they changed
//	       ─▶ priorities and tickets, for qstat (report.go: for how many)
//
// The order of jobs:
//
//	policies   values over all jobs (ranges, shares, running tasks), once a run
//	           tickets.go (override, deadline)  share.go  functional.go
//	order      a heap of the first job of each class; priority.go computes its
//	           priority, by the formula of pkg/shares, which qstat uses too
//
// sge_priority(5) and share_tree(5) define how tickets are assigned, but not in which
// order pending jobs are counted. Here a pending task always has what it would have if it
// were started next, counting what runs and what this run has started. So
//
//   - share tree and override tickets of a task follow from the priority order
//     itself, which all policies make together; only the functional policy
//     ranks jobs beforehand, and policy_hierarchy says whose tickets count
//     there. The numbers are those of Grid Engine: n jobs of a leaf have a
//     half, a third, ... of what the leaf has when one of it runs;
//   - a job that cannot start takes nothing from those after it. (Where every
//     pending job is counted, a leaf with many that cannot start starves.)
//   - no priority rises during a run, so that a heap of which only the
//     top is kept exact gives the same order as weighing every job at every
//     step. naive_test.go does that and compares;
//   - below a node of the share tree all jobs have the same tickets of it; those
//     are first whose own node has most. The root's only active child is in its
//     place.
//
// Functional shares of a job (-js) count for each of its tasks. Running share
// tree tickets are not cut to integers. The largest urgency is that of all jobs also where
// all are negative.
//
// Without tickets all jobs of one -p are one class, and the order costs what it
// would cost without policies: -p, user_sort, urgency, first come first served.
//
// To add a policy: its tickets for a running and for the next pending task of a class in
// a file of its own, and a term in running and pending (tickets.go). To add a limit: give
// it a level in pkg/sched. monitor.go writes the lines of the schedule file.
//
// The package must not know what a queue instance offers (pkg/sched), nor how tickets
// are printed (pkg/view).
package ticket
