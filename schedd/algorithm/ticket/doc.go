// Package ticket is Grid Engine's scheduler, configured as `default`.
//
// It starts jobs by -p and then first come first served, each where it fits
// best: hosts by load_formula and queues by seq_no, or the other way round.
//
//	Decide ─▶ suspend thresholds
//	       ─▶ dispatch: the next head of the groups, its tasks one by one;
//	          what does not fit takes its whole category out of the run
//	       ─▶ reasons, where they changed
//
// Policies that order jobs (tickets, urgency) belong in order.go's place
// between model and dispatch, reservation into pkg/sched's levels; what is
// here must stay a short story of one run.
package ticket
