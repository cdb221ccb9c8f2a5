package schedd

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics"
)

// Metrics are what a scheduler counts. A nil one counts nothing.
type Metrics struct {
	Set *metrics.Set
	metricTable

	reason atomic.Pointer[string] // why it does not schedule; nil: it does
	// since when it waits for the effects of its last run, in Unix nanoseconds; 0: it does not
	lagging atomic.Int64

	explained map[string]bool // categories with reasons
}

// metricTable is the metrics of schedd.
type metricTable struct {
	Run      prometheus.Histogram   `name:"quill_schedd_run_seconds" help:"Time of a scheduling run, until its orders are answered." buckets:"latency"`
	Orders   *prometheus.CounterVec `name:"quill_schedd_orders_total" help:"Orders that qmaster has answered, by type." labels:"type"`
	Refused  *prometheus.CounterVec `name:"quill_schedd_refused_orders_total" help:"Orders that qmaster has refused, by reason code." labels:"code"`
	Reasons  prometheus.Gauge       `name:"quill_schedd_waiting_categories" help:"Categories of pending jobs for which the last runs found reasons why they wait."`
	Sequence prometheus.Gauge       `name:"quill_schedd_sequence" help:"Sequence number of the last event list that the mirror has."`
	Awaited  prometheus.Gauge       `name:"quill_schedd_awaited_sequence" help:"Sequence number of the event list that shows all effects of the last run."`
	Delay    prometheus.Gauge       `name:"quill_schedd_event_delay_seconds" help:"Time from qmaster's decision on the last event list until the mirror had it, by the clocks of both hosts."`
	Starts   prometheus.Counter     `name:"quill_schedd_registrations_total" help:"Registrations with qmaster that brought the full state."`
}

// NewMetrics returns metrics for Options.Metrics.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.Set = metrics.New(&m.metricTable, metrics.Options{Ready: m.ready})
	m.Unready("waiting for qmaster")
	return m
}

// laggingMost is how long the effects of a run may take before schedd does not count as up to date.
const laggingMost = 5 * time.Second

// ready returns why schedd does not schedule.
func (m *Metrics) ready() error {
	if why := m.reason.Load(); why != nil {
		return errors.New(*why)
	}
	if since := m.lagging.Load(); since != 0 && time.Since(time.Unix(0, since)) > laggingMost {
		return errors.New("the effects of the last run have not arrived for more than " + laggingMost.String())
	}
	return nil
}

// Unready notes why schedd does not schedule, until the next registration.
func (m *Metrics) Unready(why string) {
	if m != nil {
		m.reason.Store(&why)
	}
}

// fresh notes that a full state comes.
func (m *Metrics) fresh() {
	if m != nil {
		m.Unready("reading the full state from qmaster")
		m.lagging.Store(0)
		m.explained = map[string]bool{}
		m.Reasons.Set(0)
	}
}

// registered notes that the full state is complete.
func (m *Metrics) registered() {
	if m != nil {
		m.Starts.Inc()
		m.reason.Store(nil)
	}
}

// list counts an event list that the mirror has now.
func (m *Metrics) list(l events.List, now time.Time) {
	if m == nil {
		return
	}
	m.Sequence.Set(float64(l.Seq))
	for _, e := range l.Events {
		if e.Op != events.OpList {
			m.Delay.Set(max(0, grid.TimeOf(now).Sub(l.At)))
		}
		if e.Kind != grid.KindJobScheddInfo {
			continue
		}
		if e.Op == events.OpDel {
			delete(m.explained, e.Key.Name)
		} else {
			m.explained[e.Key.Name] = true
		}
		m.Reasons.Set(float64(len(m.explained)))
	}
}

// answered counts the orders of a list and qmaster's answer.
func (m *Metrics) answered(l orders.List, r orders.Answer) {
	if m == nil {
		return
	}
	for _, o := range l.Orders {
		m.Orders.WithLabelValues(o.Type().String()).Inc()
	}
	for i := range r.Refused {
		m.Refused.WithLabelValues(r.Refused[i].Code.String()).Inc()
	}
}

// ran counts a run.
func (m *Metrics) ran(o Outcome) {
	if m != nil {
		m.Run.Observe(o.Took.Seconds())
	}
}

// awaits notes which list the mirror has and which it must have before the next run.
func (m *Metrics) awaits(seq, await uint64) {
	if m == nil {
		return
	}
	m.Awaited.Set(float64(await))
	switch {
	case seq >= await:
		m.lagging.Store(0)
	case m.lagging.Load() == 0:
		m.lagging.Store(time.Now().UnixNano())
	}
}
