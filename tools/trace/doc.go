// Package trace is `quill trace`: it makes an OpenTelemetry trace of each job from the event log.
//
//	history.Log ── lists ──┐
//	client.Watch ── lists ─┴▶ Tracer ──▶ spans ──▶ OTLP (OTEL_EXPORTER_OTLP_ENDPOINT, ...), or JSON lines
//
// tracer.go is pure: it follows the lists and returns each span when it has ended. follow.go has the lists of a running
// cell without a gap, export.go the exporter of OpenTelemetry. Identifiers are those of execd/plan, so that a span that
// is exported twice is one span.
//
// The package must not decide why a job waits: pkg/view does.
//
// To add a span: a case in tracer.go where it ends.
package trace
