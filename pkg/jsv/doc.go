// Package jsv is the line protocol between a client or qmaster and a job
// submission verifier, jsv(1): what is said of a job, what a script may answer,
// and what follows from it.
//
//	Wish ─▶ Dialog ─▶ START                  ─▶ script
//	                  PARAM ... ENV ... BEGIN ─▶
//	Verdict ◀─────── STARTED, SEND ENV, LOG, PARAM, ENV, RESULT ◀─
//
// A Dialog hears lines and says lines; script, the room below, has the process.
// What a parameter says of a job, and what a change makes of it, is not known
// here: pkg/submit has that beside the switches, because a change of a parameter
// is the switch given again, read by the same row of the same table. So a value
// that qsub refuses is refused from a script too, in the same words.
//
// Where jsv(1) and Grid Engine 8.1.9 differ, what 8.1.9 does holds: changes are
// kept with ACCEPT as they are with CORRECT, they and a RESULT count from START
// on, and whoever writes to standard error rejects the job. In three things it
// is the manual: ERROR rejects the job with the script's own words, CMDARGS may
// make the list of arguments longer, and empty lines say nothing. A parameter
// that nobody knows rejects the job.
//
// To add a command of the protocol: a case in Hear.
package jsv
