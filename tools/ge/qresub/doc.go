// Package qresub is qresub of submit(1): it submits jobs that wait or run once
// more, as they were submitted. What it makes of one is qmaster's to decide.
//
// 8.1.9 says with -h that it has modified a hold of the job that is copied, which it
// has not; this says nothing of it.
//
// The package must not know jobs' attributes. To add a switch: a row in command, and a
// field of gdi.Resubmit.
package qresub
