// Package script runs a job submission verifier: one process that is kept from job to
// job, as the user in the URL, in a process group of its own. It is started for the first
// job, and again when its file has changed, when it has died, when it has broken the
// protocol or when it does not answer in time. The protocol itself is in package jsv.
//
// The package must not know what the lines say. To add a reason to start the script
// again: a condition in ready.
package script
