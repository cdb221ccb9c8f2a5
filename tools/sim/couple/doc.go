// Package couple puts qmaster's core and the scheduler's algorithm together
// without anything between them: no bus, no log, no daemons.
//
//	Step ─▶ core ─▶ event list ─▶ algorithm
//	Pass ─▶ algorithm ─▶ orders ─▶ core ─▶ event list ─▶ algorithm
//
// Who replays a workload or measures a decision brings the cell's state and
// its time. The package holds no rule of the cluster.
package couple
