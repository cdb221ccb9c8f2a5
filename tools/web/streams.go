package web

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/pkg/gdi"
)

const (
	// streamsAge is how long what qmaster has said of its streams counts, streamsWait how long a request waits for it.
	streamsAge  = 5 * time.Second
	streamsWait = 2 * time.Second
)

// Streams asks qmaster where the streams of the cell are stored.
type Streams func(context.Context) ([]gdi.Stream, error)

// streams keeps what qmaster has said, for pages, the API and metrics alike.
type streams struct {
	ask Streams // nil: qmaster is not asked

	mu    sync.Mutex
	asked time.Time
	known []gdi.Stream
}

// get returns the streams; none while qmaster does not answer. The answer is for others too: it is waited for when its first reader goes away.
func (s *streams) get(ctx context.Context) []gdi.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ask == nil || time.Since(s.asked) < streamsAge {
		return s.known
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamsWait)
	defer cancel()
	s.known, _ = s.ask(ctx)
	s.asked = time.Now()
	return s.known
}

var (
	streamLeaderDesc  = gauge("quill_stream_leader", "1: the server that takes what is appended to the stream; without a NATS cluster the host of qmaster.", "stream", "server")
	streamBytesDesc   = gauge("quill_stream_bytes", "Size of the stream.", "stream")
	streamLagDesc     = gauge("quill_stream_replica_lag_messages", "Messages of the stream that the replica does not have yet.", "stream", "server")
	streamCurrentDesc = gauge("quill_stream_replica_current", "1 while the replica of the stream has all that the leader has and is connected, else 0.", "stream", "server")
)

// Describe implements prometheus.Collector.
func (*streams) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{streamLeaderDesc, streamBytesDesc, streamLagDesc, streamCurrentDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *streams) Collect(to chan<- prometheus.Metric) {
	for _, one := range s.get(context.Background()) {
		emit(to, streamBytesDesc, float64(one.Bytes), one.Name)
		if one.Leader != "" {
			emit(to, streamLeaderDesc, 1, one.Name, one.Leader)
		}
		for _, r := range one.Replicas {
			current := 0.0
			if r.Current && !r.Offline {
				current = 1
			}
			emit(to, streamLagDesc, float64(r.Lag), one.Name, r.Server)
			emit(to, streamCurrentDesc, current, one.Name, r.Server)
		}
	}
}

// leader returns the host of the qmaster that leads, "" while it is not known.
func (s *Server) leader() string {
	if s.options.Master == nil {
		return ""
	}
	return s.options.Master()
}
