// Package report is the protocol between qmaster and the execution daemons:
// reports up, commands down.
//
//	execd ──Report──▶ qmaster ──Receipt──▶ execd
//	qmaster ──Command──▶ execd ──(ack: journaled)──▶ qmaster
//
//	report.go    Attempt, Report, Receipt, Command and what they contain
//	failure.go   the table of failure codes
//	starter.go   the file for the program that runs in place of an interactive job
//	mail.go      mails and the addresses that are accepted
//
// A Report has load values and the state of tasks. Each item is sent again until
// the Receipt says that qmaster has it durably. Commands are derived by qmaster
// from its state ("assigned, not confirmed") and sent again until an event confirms
// them; execd answers repeats from its journal. The key of both is Attempt.
//
// A Deliver is confirmed when the attempt is reported as Running or Ended, a Signal
// that ends by Ended. Suspend and Resume are confirmed by Task.Suspended: execd
// answers both with the attempt, also when it had them before. What is not
// confirmed for some seconds is sent again, so each Command may come twice. A
// Suspend is sent with the Deliver of an attempt that is suspended from the beginning.
// A LimitsChange is confirmed by Task.Limits, or answered by Task.Refused with the same version.
// After a Hello qmaster sends only what differs from its state. Likewise the
// host's configuration: Hello and Load name the one that execd follows.
//
// The package must not know the bus, processes, or who reports which failure why.
// To add a field: here and at the end of its list in pkg/codec. To add a failure
// code: a constant and a row in failure.go.
package report
