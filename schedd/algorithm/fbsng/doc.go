// Package fbsng is the scheduler of Fermilab's FBSNG, configured as `fbsng`: queues and
// sections have dynamic priorities that change with every start. A queue is a group of
// jobs (group_by), a section is a job or one task of it, a node is a host.
//
//	step 1  the queues by priority; the first may hold others by its gap QPG
//	step 2  the sections of a queue by priority; the first may hold by SPG
//	start   sections that were passed gain 1, queues that were passed QPI; the
//	        queue loses QPD; the part below its minimum goes to queues of equal priority
//
//	Model ─▶ require   jobs request all that their process type needs: so what
//	                   runs is counted, and pkg/sched is the one does-it-fit
//	      ─▶ lines     ready sections by kind and batch: the first represents all
//	      ─▶ farm      the same nodes with nothing running: sections that never fit
//	                   are left out
//	Decide ─▶ dispatch the two steps, on contenders: kinds with ready sections
//	       ─▶ place    processes over nodes in the order of their names
//	       ─▶ move     the priority changes of a start: stored with it, applied by the next run
//
// In a job's context (-ac) process_type names its type, placement its mode
// (round_robin, spread, pack), sect_resources=name=amount+... what it takes
// once. PROC_RESOURCES are -l, ON_NODES -q *@node, PRIO_INC -p, DEPEND
// -hold_jid. The tasks of an array have one priority together.
//
// qmaster stores the current priorities (memory.go): for the last run the changes by each
// start, so that a refused start changes nothing; for earlier runs the sums (moves.go).
// Both use the parameters at the time of the decision. The package must not know what a
// queue instance offers: that is pkg/sched's. To add a placement mode: a constant and its
// turn in place.go. To add a reason to leave sections out: candidate in dispatch.go.
package fbsng
