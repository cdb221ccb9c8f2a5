// Package outlook foresees when and where a job that waits could start, and what it lacks until then.
//
//	state ── pkg/sched ─▶ place now, instances that come closest, earliest start if the job went first
//	      └─ copy, the job and those before it reserve ─▶ the cell's own algorithm ─▶ start
//
//	state ── copy, the first jobs in line reserve ─▶ the cell's own algorithm ─▶ Plan: when and where each starts
//
// `quill why` prints it, the API has it as /v1/jobs/N/start. It costs a scheduling run on a copy of the state: callers
// bound how many are made at a time.
//
// The package must not decide anything of its own: what fits and what goes first is what pkg/sched and the algorithms
// say. It must not know how an outlook is printed.
//
// To add something that is foreseen: a field of Outlook, set in Of.
package outlook
