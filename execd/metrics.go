package execd

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/metrics"
	"github.com/quill-grid/quill/pkg/report"
)

// Metrics are what an execd counts. A nil one counts nothing.
type Metrics struct {
	Set *metrics.Set
	metricTable

	reason atomic.Pointer[string] // why it is not connected; nil: it is
	loaded atomic.Int64           // when load was reported last, in Unix nanoseconds; 0: never

	mu      sync.Mutex
	running map[report.Attempt]bool
}

// metricTable is the metrics of execd.
type metricTable struct {
	Running   prometheus.Gauge       `name:"quill_execd_running_tasks" help:"Attempts that the shepherd runs on this host."`
	Started   prometheus.Counter     `name:"quill_execd_started_total" help:"Attempts that the shepherd has accepted."`
	Refused   *prometheus.CounterVec `name:"quill_execd_refused_total" help:"Attempts that could not be started, by the failure as in accounting(5)." labels:"failed,cause"`
	Ended     *prometheus.CounterVec `name:"quill_execd_ended_total" help:"Attempts whose end qmaster has acknowledged, by the failure as in accounting(5)." labels:"failed,cause"`
	Reports   *prometheus.CounterVec `name:"quill_execd_reports_total" help:"Reports to qmaster, by outcome." labels:"outcome"`
	Report    prometheus.Histogram   `name:"quill_execd_report_seconds" help:"Time until qmaster has acknowledged a report." buckets:"latency"`
	Loads     prometheus.Counter     `name:"quill_execd_load_reports_total" help:"Load reports of this host that were sent."`
	LoadAge   prometheus.Gauge       `name:"quill_execd_load_report_age_seconds" help:"Time since the last load report; since the start while there is none."`
	Shepherds prometheus.Gauge       `name:"quill_execd_shepherd_connected" help:"1 while the shepherd of the jobs is connected."`
}

// NewMetrics returns metrics for Options.Metrics.
func NewMetrics() *Metrics {
	m := &Metrics{running: map[report.Attempt]bool{}}
	m.Set = metrics.New(&m.metricTable, metrics.Options{Ready: m.readyError, Refresh: m.refresh})
	m.setUnready("waiting for qmaster")
	m.loaded.Store(time.Now().UnixNano())
	return m
}

// readyError returns why execd is not connected to qmaster.
func (m *Metrics) readyError() error {
	if why := m.reason.Load(); why != nil {
		return errors.New(*why)
	}
	return nil
}

func (m *Metrics) setUnready(why string) { m.reason.Store(&why) }

// Lost notes that the connection to qmaster has broken, until qmaster acknowledges a report: execd sends one when it is
// connected again.
func (m *Metrics) Lost(why error) {
	if m != nil {
		m.setUnready("the connection to qmaster was lost: " + why.Error())
	}
}

// refresh sets what changes with time.
func (m *Metrics) refresh() {
	m.LoadAge.Set(time.Since(time.Unix(0, m.loaded.Load())).Seconds())
}

// countLoad counts a load report.
func (m *Metrics) countLoad() {
	if m != nil {
		m.Loads.Inc()
		m.loaded.Store(time.Now().UnixNano())
	}
}

// countReport counts a report and its receipt, or the error instead of one. The end of an attempt is counted when
// qmaster has it.
func (m *Metrics) countReport(r report.Report, receipt report.Receipt, err error, took time.Duration) {
	switch {
	case m == nil:
		return
	case err != nil:
		m.Reports.WithLabelValues("unanswered").Inc()
		m.setUnready("qmaster does not answer: " + err.Error())
		return
	}
	m.Reports.WithLabelValues("ok").Inc()
	m.Report.Observe(took.Seconds())
	m.reason.Store(nil)
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Phase == report.Ended && t.Result != nil && slices.Contains(receipt.Have, t.Attempt) {
			countFailure(m.Ended, t.Result.Failed)
		}
	}
}

// countAnswers counts the shepherd's answers to plans, and the plans that execd refused itself.
func (m *Metrics) countAnswers(answers []plan.Answer) {
	if m == nil {
		return
	}
	for i := range answers {
		switch a := &answers[i]; {
		case a.Failed != report.NoFailure:
			countFailure(m.Refused, a.Failed)
		case a.State == plan.Starting:
			m.Started.Inc()
		}
	}
}

func countFailure(by *prometheus.CounterVec, failed report.Failure) {
	by.WithLabelValues(fmt.Sprint(uint32(failed)), failed.String()).Inc()
}

// countListed notes all attempts of a shepherd that is connected.
func (m *Metrics) countListed(all []plan.Status) {
	if m == nil {
		return
	}
	m.mu.Lock()
	clear(m.running)
	m.mu.Unlock()
	m.Shepherds.Set(1)
	m.countChanged(all)
}

// countChanged notes how far attempts are.
func (m *Metrics) countChanged(changes []plan.Status) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range changes {
		if s := &changes[i]; s.State == plan.Running {
			m.running[s.Attempt] = true
		} else {
			delete(m.running, s.Attempt)
		}
	}
	m.Running.Set(float64(len(m.running)))
}

// countShepherdGone notes that the shepherd is not connected any more.
func (m *Metrics) countShepherdGone() {
	if m != nil {
		m.Shepherds.Set(0)
	}
}
