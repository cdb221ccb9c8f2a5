// Package fbsng is the scheduler of Fermilab's FBSNG, configured as `fbsng`:
// queues and sections have priorities that move with every start. A queue is a
// group of jobs (group_by), a section a job or one task of it, a node a host.
//
//	step 1  the queues by priority; the first may hold others by its gap QPG
//	step 2  the sections of a queue by priority; the first may hold by SPG
//	start   sections that were passed gain 1, queues that were passed QPI; the
//	        queue pays QPD; what it cannot pay on its floor its equals receive
//
//	Model ─▶ require   jobs request all that their process type takes: so what
//	                   runs is counted, and pkg/sched is the one does-it-fit
//	      ─▶ lines     ready sections by kind and batch: the first speaks for all
//	      ─▶ farm      the same nodes with nothing running: what can never be
//	                   placed takes part in nothing
//	Decide ─▶ dispatch the two steps, on contenders: kinds with ready sections
//	       ─▶ place    processes over nodes in the order of their names
//	       ─▶ move     what a start moves: remembered with it, counted by the next run
//
// In a job's context (-ac) process_type names its type, placement its mode
// (round_robin, spread, pack), sect_resources=name=amount+... what it takes
// once. PROC_RESOURCES are -l, ON_NODES -q *@node, PRIO_INC -p, DEPEND
// -hold_jid. The tasks of an array have one priority together.
//
// What priorities have become is kept by qmaster (memory.go): of the last run
// what each start moves, so that one that is refused has moved nothing, else the
// sums (moves.go), by the parameters that held when it was decided. The
// package must not know what a queue instance offers: that is pkg/sched's. To
// add a placement mode: a constant and its turn in place.go. To add a reason to
// leave sections out: candidate in dispatch.go.
package fbsng
