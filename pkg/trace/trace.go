// Package trace has the identifiers of the OpenTelemetry trace of a job, as W3C Trace Context has them.
//
//	cell, job ──▶ ID ──▶ Span(what, task, attempt) ──▶ Parent: TRACEPARENT in the job's environment
//
// They follow from the names, so that the host that starts a job and the program that exports its trace from the log
// agree without a word between them.
//
// The package must not know what happens to jobs.
//
// To add a kind of span: a name for it where it is made, in tools/trace.
package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// ID is a trace: all spans of a job.
type ID [16]byte

// Span is a span of a trace.
type Span [8]byte

// Run is the name of the span of a job's own processes, which is the parent of their spans.
const Run = "run"

// Variable is the environment variable with the Parent.
const Variable = "TRACEPARENT"

// Of returns the trace of a job of a cell.
func Of(cell string, job uint32) (id ID) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte("quill\x00"+cell+"\x00"), job))
	copy(id[:], sum[:])
	return id
}

// Span returns the span of something that happened to a task in an attempt.
func (id ID) Span(what string, task, attempt uint32) (s Span) {
	b := append(id[:], what...)
	b = binary.BigEndian.AppendUint32(append(b, 0), task)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, attempt))
	copy(s[:], sum[:])
	return s
}

// Parent returns the traceparent of the processes of an attempt: the Run of the task is their parent.
func Parent(cell string, job, task, attempt uint32) string {
	id := Of(cell, job)
	span := id.Span(Run, task, attempt)
	return "00-" + hex.EncodeToString(id[:]) + "-" + hex.EncodeToString(span[:]) + "-01"
}
