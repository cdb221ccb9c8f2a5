// Package metrics serves what a daemon counts, over HTTP, in the text formats of OpenMetrics and Prometheus.
//
//	Metrics of a daemon ── table: struct with tags ──▶ New ── Set: registry, ready, refresh
//	                                                            │
//	Serve(address) ──▶ /metrics  Set.Gather                     │
//	               ──▶ /healthz  200: the process runs          ├─ nothing else is served
//	               ──▶ /readyz   200, or 503 and the reason ────┘
//
// A daemon makes its table only when an address is configured; without one it counts nothing. There is no global
// registry: the metrics of a Set are those of its table, of the process and of the Go runtime. Names begin with quill_
// and end with their unit; values are in base units (seconds, bytes). Labels have few values: no user, no job, no text
// of a request. Counting is a few atomic operations in the shell of a daemon; the pure cores count nothing, and no
// scrape looks at the state: a scrape costs the same with one job and with a million.
//
// The package must not know what is counted, nor who: each daemon's table is in its metrics.go.
//
// To add a metric: a field with its tags in the table of the daemon that knows it, the place that counts it, and a line
// in the chapter tools/manual/monitor.md.
package metrics
