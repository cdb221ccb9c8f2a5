// Package metrics is `quill metrics`: it writes the metrics of the past, from the log, as an OpenMetrics file that
// Prometheus imports (promtool tsdb create-blocks-from openmetrics).
//
//	log ── lists ──▶ cellmetrics.Counter ──▶ metrics.Set ── gathered at each step ──▶ series ──▶ file
//
// The counts are those that qmaster serves live. A counter begins with 0 at the first step.
//
// The package must not know what is counted: pkg/metrics/cellmetrics does.
//
// To add a metric: see pkg/metrics/cellmetrics.
package metrics
