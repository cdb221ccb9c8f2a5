// Package qmod is qmod(1): it asks qmaster to disable, enable, suspend,
// unsuspend, clear or reschedule queues and jobs.
//
// Each switch is one request; they are sent in the order of the command line.
package qmod
