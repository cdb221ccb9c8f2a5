package web

import "github.com/prometheus/client_golang/prometheus"

// counts is what quill web counts of itself.
type counts struct {
	Requests    *prometheus.CounterVec `name:"quill_web_requests_total" help:"HTTP requests by route and status." labels:"route,status"`
	Took        prometheus.Histogram   `name:"quill_web_request_seconds" help:"Time to answer a request; of an event stream, how long it was open." buckets:"latency"`
	Seq         prometheus.Gauge       `name:"quill_web_sequence" help:"Number of the last event list in the mirror."`
	Connections prometheus.Gauge       `name:"quill_web_connections" help:"Open HTTP connections."`
}
