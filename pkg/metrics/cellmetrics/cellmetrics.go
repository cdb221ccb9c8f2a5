package cellmetrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
)

// Table is the metrics that follow from event lists.
type Table struct {
	Sequence prometheus.Gauge         `name:"quill_log_sequence" help:"Sequence number of the last durable event list."`
	Jobs     prometheus.Gauge         `name:"quill_jobs" help:"Jobs that wait or run; an array job is one."`
	Tasks    *prometheus.GaugeVec     `name:"quill_tasks" help:"Tasks by state; a job that is no array is one task." labels:"state"`
	Start    prometheus.Counter       `name:"quill_tasks_started_total" help:"Attempts that were sent to a host."`
	End      *prometheus.CounterVec   `name:"quill_tasks_ended_total" help:"Attempts that have ended, by the failure as in accounting(5)." labels:"failed,cause"`
	Wait     *prometheus.HistogramVec `name:"quill_task_wait_seconds" help:"Time from submission until the first start of a task, by queue." labels:"queue" buckets:"wait"`
	Hosts    *prometheus.GaugeVec     `name:"quill_hosts" help:"Execution hosts, by whether they report in time." labels:"state"`
}

// Counter counts event lists into a Table that pkg/metrics has filled in. One goroutine uses it.
type Counter struct {
	*Table
	started map[attempt]struct{} // tasks of the list that is being counted
	tally   state.Tally          // as it is in the gauges
	hosts   map[string]bool      // whether they report
	silent  int
}

type attempt struct{ job, task, attempt uint32 }

// NewCounter returns a Counter that begins with a state.
func NewCounter(t *Table, s *state.State) *Counter {
	c := &Counter{Table: t, started: map[attempt]struct{}{}, tally: state.Tally{Pending: -1}, hosts: map[string]bool{}}
	s.Each(grid.KindLoad, func(o grid.Object) bool {
		c.load(o.(*grid.Load))
		return true
	})
	c.countHosts()
	c.count(s)
	c.Sequence.Set(float64(s.Seq))
	return c
}

// List counts an event list; s is the state after it. The Sequence is left to the caller, who knows when the list is durable.
func (c *Counter) List(l events.List, s *state.State) {
	clear(c.started)
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.JATask:
			c.task(o, l.At, s)
		case *grid.Accounting:
			if o.PETask == "" {
				failed := report.Failure(o.Failed)
				c.End.WithLabelValues(fmt.Sprint(o.Failed), failed.String()).Inc()
			}
		case *grid.Load:
			c.load(o)
			c.countHosts()
		case nil:
			if e.Kind == grid.KindLoad {
				c.remove(e.Key.Name)
				c.countHosts()
			}
		}
	}
	c.count(s)
}

// task counts the start of a task, which a list may change more than once.
func (c *Counter) task(t *grid.JATask, at grid.Time, s *state.State) {
	key := attempt{t.Job, t.ID, t.Attempt}
	if _, again := c.started[key]; again || t.Status != grid.Transfering || t.Start != at {
		return
	}
	c.started[key] = struct{}{}
	c.Start.Inc()
	if j := s.Job(t.Job); j != nil && t.Attempt == 1 && len(t.Grants) > 0 {
		c.Wait.WithLabelValues(t.Grants[0].Queue).Observe(t.Start.Sub(j.Submit))
	}
}

// count sets the gauges that the state keeps up.
func (c *Counter) count(s *state.State) {
	c.Jobs.Set(float64(s.Len(grid.KindJob)))
	t := s.Tally()
	if t == c.tally {
		return
	}
	c.tally = t
	for _, n := range [...]struct {
		state string
		tasks int
	}{
		{"pending", t.Pending}, {"held", t.Held}, {"error", t.Error},
		{"starting", t.Starting}, {"running", t.Running}, {"suspended", t.Suspended},
	} {
		c.Tasks.WithLabelValues(n.state).Set(float64(n.tasks))
	}
}

func (c *Counter) load(l *grid.Load) {
	if l.Host == grid.GlobalHost {
		return
	}
	c.remove(l.Host)
	c.hosts[l.Host] = !l.Unheard
	if l.Unheard {
		c.silent++
	}
}

func (c *Counter) remove(host string) {
	if reports, known := c.hosts[host]; known && !reports {
		c.silent--
	}
	delete(c.hosts, host)
}

func (c *Counter) countHosts() {
	c.Hosts.WithLabelValues("reporting").Set(float64(len(c.hosts) - c.silent))
	c.Hosts.WithLabelValues("silent").Set(float64(c.silent))
}
