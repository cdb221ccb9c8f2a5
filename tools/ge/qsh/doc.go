// Package qsh refuses qsh, submit(1): an xterm started by a job on the display of
// the user. Scripts that call it learn what to use instead.
//
// The package must not know anything else of a cell. There is nothing to add: a
// replacement belongs into qrsh.
package qsh
