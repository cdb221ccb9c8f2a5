// Package jobstory derives the whole story of one job from the log, and for a job that
// waits what would have to change for it to start. The command quill why, the console and
// the MCP server show it.
//
//	history.Log ── Runs ──▶ deciders: the runs that meant the job
//	            ── Lists ─▶ follower ──▶ Story: steps, waits, decisions
//	                          │ state          │
//	                          └─ outlook ──────┴─▶ text or JSON
//
// follower.go follows the lists, wait.go keeps the reasons for waiting (view.Waits)
// and how long each held, decide.go finds what stood before the job in the run that
// started it, outlook.go puts what tools/outlook foresees in words. print.go is the text,
// story.go what all others speak of, and the JSON.
//
// The package must not decide anything of its own: what fits and what goes
// first is what pkg/sched and the algorithms say.
//
// To add a kind of step: a case in follower.go and its text in print.go.
package jobstory
