// Package polltest waits for what nobody tells of: a file that a job writes, what
// a command prints. Where something is told, a channel, a Seq, the end of a
// process, a test waits for that instead.
//
// It knows nothing of what is looked at. Only tests import it.
package polltest
