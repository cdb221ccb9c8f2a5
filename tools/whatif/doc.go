// Package whatif repeats what a cell was asked to do under another algorithm,
// configuration or cluster, and holds the outcome against what happened.
//
//	log ─▶ record.go    the state to start from; the changes of the configuration,
//	       │            the loads of the hosts; how long each attempt ran
//	       ├─ asked.go  what users asked for, found from what it changed
//	       └─▶ world.go    qmaster's core and the scheduler (schedd/couple) on
//	           │           virtual time
//	           ├─ inputs.go     what came from outside comes again
//	           └─ processes.go  tasks end after the time that they took
//	both ─▶ outcome.go     accounting records, recorded or not, become an Outcome
//
// Under the same circumstances the same happens: TestAsItWas. Jobs, tasks and
// advance reservations may get other numbers; a request for one means what it has
// become. What is requested too late or too early finds nothing to do, which is reported.
//
// Nothing is estimated that the log knows. An attempt runs as long as it ran,
// suspensions not counted: a suspension lasts as long as it does here, but the
// h_rt that the job asks for continues meanwhile. One that was killed would have run at least until then. A task that
// had not ended takes its h_rt; without one, as long as the log saw it run, or the median of the others. A task takes
// the same time wherever it runs, and what it uses is booked when it ends. What was decided, a preemption or a
// suspension by load, is not repeated but decided anew.
//
// Not repeated are attempts that were lost with their hosts, and commands that
// changed none of this (qconf -tsm, -ks, -cu): Recorded.Skipped counts them. A
// host that fell silent does so here max_unheard after its last report.
//
// The package must not know where a log comes from, nor decide anything.
//
// To repeat another kind of request: a case in asked.go that finds it from its effects.
// To repeat another outer event: a case in inputs.go.
package whatif
