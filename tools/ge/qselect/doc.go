// Package qselect lists the queue instances that match, one a line or as JSON,
// qselect(1): the selecting half of qstat.
//
// The package must not know how queues are selected: pkg/view does.
//
// To add an option: a row in package queueoptions, which qstat shares.
package qselect
