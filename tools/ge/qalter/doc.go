// Package qalter is qalter(1): it changes attributes of jobs that are not
// finished.
//
// The switches are qsub's and stand in pkg/submit; what a job may still have
// changed, qmaster decides. Only what was given is sent as to be changed.
//
// The package must not know which changes are permitted. To add a switch: its row in
// the table of pkg/submit.
package qalter
