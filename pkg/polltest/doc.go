// Package polltest waits for changes that cannot be subscribed to: a file that a job
// writes, the output of a command. Where there is a notification, a channel, a Seq, the
// end of a process, a test waits for that instead.
//
// It must not know what is polled. Only tests import it.
//
// To add a condition that many tests wait for: a function in the package that knows it,
// which calls Until.
package polltest
