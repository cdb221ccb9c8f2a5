// Package qsh refuses qsh, submit(1): an xterm started by a job on the display of
// the user. Scripts that call it learn what to use instead.
package qsh
