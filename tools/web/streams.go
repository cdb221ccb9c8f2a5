package web

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/quill-grid/quill/pkg/gdi"
)

const (
	// streamsAge is after how long qmaster is asked again, streamsOld how long what it has said is shown, streamsWait how
	// long its answer may take.
	streamsAge  = 5 * time.Second
	streamsOld  = 15 * time.Second
	streamsWait = time.Second
)

// Streams asks qmaster where the streams of the cell are stored.
type Streams func(context.Context) ([]gdi.Stream, error)

// streams keeps what qmaster has said, for pages, the API and metrics alike. A reader gets what is known at once, while
// qmaster is asked beside it.
type streams struct {
	ask Streams // nil: qmaster is not asked
	one singleflight.Group

	mu       sync.Mutex
	asked    time.Time // the last time
	answered time.Time // when known was said
	known    []gdi.Stream
	silent   bool // qmaster has not answered the last time
}

// get returns the streams; none while it is not known where they are. Only a reader who finds nothing known waits for
// qmaster, unless qmaster has just not answered.
func (s *streams) get(ctx context.Context) []gdi.Stream {
	if s.ask == nil {
		return nil
	}
	known, due, wait := s.now()
	if !due {
		return known
	}
	answer := s.one.DoChan("", s.refresh)
	if !wait {
		return known
	}
	select {
	case <-answer:
		known, _, _ = s.now()
	case <-ctx.Done():
	}
	return known
}

// now returns what may be shown, whether qmaster is to be asked, and whether a reader waits for that.
func (s *streams) now() (known []gdi.Stream, due, wait bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.answered) < streamsOld {
		known = s.known
	}
	return known, time.Since(s.asked) >= streamsAge, known == nil && !s.silent
}

// refresh asks qmaster. It does not end with a request of a reader, since the answer is for others, too.
func (s *streams) refresh() (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), streamsWait)
	defer cancel()
	found, err := s.ask(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.silent = time.Now(), err != nil
	if err == nil {
		s.answered, s.known = s.asked, found
	}
	return nil, err
}

var (
	streamLeaderDesc = gauge("quill_stream_leader",
		"1: the server that takes what is appended to the stream; without a NATS cluster the host of qmaster.",
		"stream", "server")
	streamBytesDesc = gauge("quill_stream_bytes", "Size of the stream.", "stream")
	streamLagDesc   = gauge("quill_stream_replica_lag_messages",
		"Messages of the stream that the replica does not have yet.", "stream", "server")
	streamCurrentDesc = gauge("quill_stream_replica_current",
		"1 while the replica of the stream has all that the leader has and is connected, else 0.", "stream", "server")
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

// gauge returns the description of a gauge.
func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func emit(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
