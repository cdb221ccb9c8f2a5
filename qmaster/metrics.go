package qmaster

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics"
	"github.com/quill-grid/quill/pkg/metrics/cellmetrics"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// Metrics are what a qmaster counts. A nil one counts nothing.
type Metrics struct {
	Set *metrics.Set
	metricTable

	reason    atomic.Pointer[string] // why it does not serve; nil: it does
	committer atomic.Pointer[bus.Committer]
	server    atomic.Pointer[bus.Server]
	hosts     reporters
	counter   *cellmetrics.Counter
}

// metricTable is the metrics of qmaster.
type metricTable struct {
	cellmetrics.Table

	Leader  prometheus.Gauge     `name:"quill_qmaster_leader" help:"1 while this qmaster leads, 0 while it starts or is a standby."`
	Lists   prometheus.Counter   `name:"quill_log_event_lists_total" help:"Event lists that this qmaster has appended to the log."`
	Bytes   prometheus.Counter   `name:"quill_log_appended_bytes_total" help:"Bytes of event lists that this qmaster has appended to the log."`
	Append  prometheus.Histogram `name:"quill_log_append_seconds" help:"Time from sending a frame to the log until it is durable." buckets:"latency"`
	Pending prometheus.Gauge     `name:"quill_log_appending_seconds" help:"How long the frame that is being appended has been waited for; 0 while there is none."`

	Requests *prometheus.CounterVec   `name:"quill_requests_total" help:"Answers, by what was requested and the outcome." labels:"subject,outcome"`
	Latency  *prometheus.HistogramVec `name:"quill_request_seconds" help:"Time from receiving a request until its answer is ready to leave." labels:"subject" buckets:"latency"`

	ReportAge     prometheus.Gauge       `name:"quill_host_report_age_seconds" help:"Time since the last report of the host that has been silent for longest among those that count as reporting."`
	Connections   prometheus.Gauge       `name:"quill_connections" help:"Connections of users and daemons to the embedded server."`
	Registrations *prometheus.CounterVec `name:"quill_event_client_registrations_total" help:"Full states requested by event clients, by role." labels:"role"`
}

// NewMetrics returns metrics for Options.Metrics.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.Set = metrics.New(&m.metricTable, metrics.Options{Ready: m.ready, Refresh: m.refresh})
	m.unready("starting")
	return m
}

// appendMost is how long an append may take before qmaster does not count as ready.
const appendMost = 5 * time.Second

// ready returns why qmaster does not serve.
func (m *Metrics) ready() error {
	if why := m.reason.Load(); why != nil {
		return errors.New(*why)
	}
	if c := m.committer.Load(); c != nil && c.Appending() > appendMost {
		return fmt.Errorf("the log has not taken an append for %s", c.Appending().Round(time.Second))
	}
	return nil
}

// refresh sets what changes with time.
func (m *Metrics) refresh() {
	if c := m.committer.Load(); c != nil {
		m.Pending.Set(c.Appending().Seconds())
	}
	if s := m.server.Load(); s != nil {
		m.Connections.Set(float64(s.Connections()))
	}
	m.ReportAge.Set(m.hosts.oldest(time.Now()).Seconds())
}

// unready notes why qmaster does not serve.
func (m *Metrics) unready(why string) {
	if m != nil {
		m.reason.Store(&why)
		m.Leader.Set(0)
	}
}

// begin notes the state that qmaster begins with.
func (m *Metrics) begin(q *QMaster, s *state.State) {
	if m == nil {
		return
	}
	m.committer.Store(q.committer)
	m.server.Store(q.server)
	now := time.Now()
	s.Each(grid.KindLoad, func(o grid.Object) bool {
		m.hosts.load(o.(*grid.Load), now)
		return true
	})
	m.counter = cellmetrics.NewCounter(&m.Table, s)
}

// serve notes that qmaster leads and answers requests.
func (m *Metrics) serve() {
	if m != nil {
		m.Leader.Set(1)
		m.reason.Store(nil)
	}
}

// landed counts a durable frame.
func (m *Metrics) landed(f *frame.Frame, took time.Duration) {
	if m == nil {
		return
	}
	m.Append.Observe(took.Seconds())
	m.Lists.Add(float64(f.Count))
	m.Bytes.Add(float64(len(f.Payload)))
	if f.Flags&frame.More == 0 {
		m.Sequence.Set(float64(f.Last))
	}
}

// list returns what counts an event list once it is durable; s is the state after it. nil: nothing is counted.
func (m *Metrics) list(l events.List, s *state.State) func() {
	if m == nil || len(l.Events) == 0 {
		return nil
	}
	counts := m.counter.Count(l, s)
	return func() {
		m.counter.Add(counts)
		for _, e := range l.Events {
			switch load, _ := e.Object.(*grid.Load); {
			case e.Kind != grid.KindLoad:
			case load == nil:
				m.hosts.remove(e.Key.Name)
			default:
				m.hosts.load(load, time.Now())
			}
		}
	}
}

// host notes that a host has reported.
func (m *Metrics) host(name string) {
	if m != nil {
		m.hosts.report(name, time.Now())
	}
}

// registered counts a registration.
func (m *Metrics) registered(r bus.Role) {
	if m != nil {
		m.Registrations.WithLabelValues(string(r)).Inc()
	}
}

// answered counts an answer. since is when the request came; zero: its time is not observed.
func (m *Metrics) answered(subject, outcome string, since time.Time) {
	if m == nil {
		return
	}
	m.Requests.WithLabelValues(subject, outcome).Inc()
	if !since.IsZero() {
		m.Latency.WithLabelValues(subject).Observe(time.Since(since).Seconds())
	}
}

// streamed counts an answer in chunks by the last of them.
func (m *Metrics) streamed(one *stream, last []byte) {
	if m == nil {
		return
	}
	outcome := gdi.StatusOK.Code()
	if reply, err := codec.DecodeReply(last); err == nil { // else the full state of a registration is complete
		outcome = outcomeOf(core.Answer{Reply: &reply})
	}
	m.answered(one.about, outcome, one.since)
}

// busy is the outcome of a request that was not taken: its client repeats it.
const busy = "busy"

// outcomeOf returns the label of an answer of the core: the first status that is not OK.
func outcomeOf(a core.Answer) string {
	switch {
	case a.Result != nil && len(a.Result.Refused) > 0:
		return "refused"
	case a.Reply != nil:
		for _, one := range a.Reply.Answers {
			if one.Status != gdi.StatusOK {
				return one.Status.Code()
			}
		}
	}
	return gdi.StatusOK.Code()
}
