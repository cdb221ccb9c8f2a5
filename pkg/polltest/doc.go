// Package polltest waits in tests for what is not reported: a file that a job writes, what
// a command prints. Where a channel, a Seq or the end of a process reports
// it, a test waits for that instead.
//
// It knows nothing of what is looked at. Only tests import it.
package polltest
