// Package report is the talk between qmaster and the execution daemons.
//
// Up, from execd: a Report with load values and what became of tasks. Each
// item is resent until the reply says that qmaster has it durably.
// Down, to execd: Commands, derived by qmaster from its state ("assigned, not
// confirmed") and resent until an event confirms them; execd answers repeats
// from its journal. The key of both is job, task, attempt.
//
//	execd ──Report──▶ qmaster ──Receipt──▶ execd
//	qmaster ──Command──▶ execd ──(ack: journaled)──▶ qmaster
//
// The package knows no bus and no process.
package report
