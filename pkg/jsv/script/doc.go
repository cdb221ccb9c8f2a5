// Package script runs a job submission verifier: one process that is kept from
// job to job, as whom the URL says, in a process group of its own. It is
// started when the first job comes, started anew when its file has changed,
// when it has died, when it has said what makes no sense or when it does not
// answer in time. What goes over the line, and what it means, is package jsv's.
package script
