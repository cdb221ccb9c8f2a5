// Package qmod is qmod(1): it asks qmaster to disable, enable, suspend,
// unsuspend, clear or reschedule queues and jobs.
//
// Each switch is one request; they are sent in the order of the command line.
//
// The package must not know the states of queues and jobs. To add a switch: a row in
// command with the gdi.Control that it sends.
package qmod
