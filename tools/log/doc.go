// Package log is `quill log`: what there is of a cell's log, and the log as a
// file that can be kept, checked, handed on and looked at elsewhere.
//
//	quill log                              span, epochs, states, segments, recorded runs
//	quill log verify                       the whole chain; the first damage
//	quill log export --from --to [FILE]    a stretch as one file
//	quill log export --redact [FILE]       the same without names, see pkg/redact
//	quill log import FILE DIR              the directory of a cell made of a file
//	quill log move --nats URL [--back]     the log of a stopped cell to an external server, or back
//
// It prints and writes files; what a log is and how it is read is
// pkg/history's business.
//
// To add a verb: a file with its cli.Command and a line in Command.
//
// The package must not know the bytes of a log (pkg/frame, pkg/archive).
package log
