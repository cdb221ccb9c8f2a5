package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// TraceID is the OpenTelemetry trace of a job, as W3C Trace Context has it: all its spans. Identifiers follow from the
// names, so that the host that starts a job and the program that exports its trace from the log agree without a word
// between them.
type TraceID [16]byte

// SpanID is a span of a trace.
type SpanID [8]byte

// RunSpan is the name of the span of a job's own processes, which is the parent of their spans.
const RunSpan = "run"

// TraceVariable is the environment variable with the TraceParent.
const TraceVariable = "TRACEPARENT"

// TraceOf returns the trace of a job of a cell.
func TraceOf(cell string, job uint32) (id TraceID) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte("quill\x00"+cell+"\x00"), job))
	copy(id[:], sum[:])
	return id
}

// Span returns the span of something that happened to a task in an attempt.
func (id TraceID) Span(what string, task, attempt uint32) (s SpanID) {
	b := append(id[:], what...)
	b = binary.BigEndian.AppendUint32(append(b, 0), task)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, attempt))
	copy(s[:], sum[:])
	return s
}

// TraceParent returns the traceparent of the processes of an attempt: the RunSpan of the task is their parent.
func TraceParent(cell string, job, task, attempt uint32) string {
	id := TraceOf(cell, job)
	span := id.Span(RunSpan, task, attempt)
	return "00-" + hex.EncodeToString(id[:]) + "-" + hex.EncodeToString(span[:]) + "-01"
}
