// Package ticket is Grid Engine's scheduler, configured as `default`.
//
// It starts jobs by -p and then first come first served, each where it fits
// best: hosts by load_formula and queues by seq_no, or the other way round.
//
//	Decide ─▶ suspend thresholds
//	       ─▶ dispatch: the next head of the groups, its tasks one by one;
//	          what does not fit takes its whole category out of the starts;
//	          those of it with -R y may still reserve (reserve.go), up to
//	          max_reservation, and what is reserved is in the way of those
//	          behind: they start beside it or end before
//	       ─▶ reasons, where they changed
//
// To add a policy that orders jobs (tickets, urgency): give the model another
// order of places, from priorities computed before the dispatch. To add a
// limit: give it a level in pkg/sched. What is here must stay the short story of
// one run. monitor.go tells it in the lines of the schedule file.
package ticket
