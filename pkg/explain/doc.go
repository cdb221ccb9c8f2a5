// Package explain answers why a task waits, from a state and the fit alone: in one sentence, as a list of obstacles
// whose first one decides, and for the queue instances that come closest, what each lacks.
//
//	state ─┬▶ own        holds, predecessors, -a, error: the job itself
//	       ├▶ never      does it fit the cell when it is empty and all of it is up?      AtBest
//	       ├▶ algorithm  what the last run of the algorithm has against it               grid.JobScheddInfo
//	       ├▶ closed     ... when it is empty and not reserved in advance, with the states that queues are in now?
//	       ├▶ busy       ... now: what is short, who has it
//	       ├▶ planned    it fits: would it delay what the last run keeps free for another job?    grid.JobReservation
//	       └▶ turn       it fits: who is before it
//
// quill why, the console, the API and MCP show what it returns; none makes such sentences itself. The package must not
// know which algorithm decides, nor write output: texts are fields. To add an obstacle: a code in pkg/reason, and where
// it is found (explain.go) and said (sentence.go).
package explain
