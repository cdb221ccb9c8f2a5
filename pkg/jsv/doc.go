// Package jsv is the line protocol between a client or qmaster and a job submission
// verifier, jsv(1): the parameters of a job that a script receives, its answers, and what
// follows from them.
//
//	JobDescription ─▶ Dialog ─▶ START         ─▶ script
//	                  PARAM ... ENV ... BEGIN ─▶
//	Result ◀────────STARTED, SEND ENV, LOG, PARAM, ENV, RESULT ◀─
//
// A Dialog receives lines and returns lines to send; package script runs the process. The
// meaning of parameters is in pkg/submit beside the switches, because a change of a
// parameter is the switch given again, read by the same row of the same table. So a value
// that qsub refuses is refused from a script too, with the same message.
//
// Where jsv(1) and Grid Engine 8.1.9 differ, this package follows 8.1.9: changes are kept
// with ACCEPT as they are with CORRECT, they and a RESULT count from START on, and a
// script that writes to standard error rejects the job. In three points it follows the
// manual: ERROR rejects the job with the script's message, CMDARGS may make the list of
// arguments longer, and empty lines are ignored. An unknown parameter rejects the job.
//
// To add a command of the protocol: a case in Receive.
//
// The package must not know processes (package script) nor the parameters of jobs
// (pkg/submit).
package jsv
