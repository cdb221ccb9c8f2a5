// Package report is the protocol between qmaster and the execution daemons:
// reports up, commands down.
//
// Up, from execd: a Report with load values and what became of tasks. Each
// item is resent until the reply says that qmaster has it durably.
// Down, to execd: Commands, derived by qmaster from its state ("assigned, not
// confirmed") and resent until an event confirms them; execd answers repeats
// from its journal. The key of both is job, task, attempt, and the PE task's name.
//
//	execd ──Report──▶ qmaster ──Receipt──▶ execd
//	qmaster ──Command──▶ execd ──(ack: journaled)──▶ qmaster
//
// A Deliver is confirmed when the attempt is told to be Running or Ended, a Signal
// that ends by Ended. Suspend and Resume are confirmed by Task.Suspended: execd
// answers both with the attempt, also when it had them before. What is not
// confirmed for some seconds is told again, so each Command may come twice. A
// Suspend is told with the Deliver of what is to stand still from the beginning.
// After a Hello qmaster tells only what differs from what it wants. Likewise the
// host's configuration: Hello and Load name the one that execd follows.
//
// The package knows no bus and no process.
package report
