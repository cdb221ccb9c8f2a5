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

// Counter counts event lists into a Table that pkg/metrics has filled in. One goroutine at a time calls Count, and one
// Add.
type Counter struct {
	*Table
	started map[attemptKey]struct{} // tasks of the list that is being counted
	hosts   map[string]bool         // whether they report
	silent  int
	tally   state.Tally // as it is in the gauges
}

type attemptKey struct{ job, task, attempt uint32 }

// Counts is what an event list adds, and what there is after it.
type Counts struct {
	starts            int
	waits             []wait
	ends              []uint32 // failures
	jobs              int
	tally             state.Tally
	reporting, silent int // hosts
}

type wait struct {
	queue   string
	seconds float64
}

// NewCounter returns a Counter that begins with a state.
func NewCounter(t *Table, s *state.State) *Counter {
	c := &Counter{Table: t, started: map[attemptKey]struct{}{}, tally: state.Tally{Pending: -1}, hosts: map[string]bool{}}
	s.Each(grid.KindLoad, func(o grid.Object) bool {
		c.load(o.(*grid.Load))
		return true
	})
	c.Add(c.Count(events.List{}, s))
	c.Sequence.Set(float64(s.Seq))
	return c
}

// List counts an event list that is durable; s is the state after it. The Sequence is left to the caller.
func (c *Counter) List(l events.List, s *state.State) { c.Add(c.Count(l, s)) }

// Count returns what an event list adds, to be added when the list is durable; s is the state after it.
func (c *Counter) Count(l events.List, s *state.State) (n Counts) {
	clear(c.started)
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.JATask:
			c.task(&n, o, l.At, s)
		case *grid.Accounting:
			if o.PETask == "" {
				n.ends = append(n.ends, o.Failed)
			}
		case *grid.Load:
			c.load(o)
		case nil:
			if e.Kind == grid.KindLoad {
				c.remove(e.Key.Name)
			}
		}
	}
	n.jobs, n.tally = s.Len(grid.KindJob), s.Tally()
	n.reporting, n.silent = len(c.hosts)-c.silent, c.silent
	return n
}

// task counts the start of a task, which a list may change more than once.
func (c *Counter) task(n *Counts, t *grid.JATask, at grid.Time, s *state.State) {
	key := attemptKey{t.Job, t.ID, t.Attempt}
	if _, again := c.started[key]; again || t.Status != grid.Transfering || t.Start != at {
		return
	}
	c.started[key] = struct{}{}
	n.starts++
	if j := s.Job(t.Job); j != nil && t.Attempt == 1 && len(t.Grants) > 0 {
		n.waits = append(n.waits, wait{t.Grants[0].Queue, t.Start.Sub(j.Submit)})
	}
}

// Add adds what Count has returned, in the same order.
func (c *Counter) Add(n Counts) {
	c.Start.Add(float64(n.starts))
	for _, w := range n.waits {
		c.Wait.WithLabelValues(w.queue).Observe(w.seconds)
	}
	for _, failed := range n.ends {
		c.End.WithLabelValues(fmt.Sprint(failed), report.Failure(failed).String()).Inc()
	}
	c.Hosts.WithLabelValues("reporting").Set(float64(n.reporting))
	c.Hosts.WithLabelValues("silent").Set(float64(n.silent))
	c.Jobs.Set(float64(n.jobs))
	if n.tally == c.tally {
		return
	}
	c.tally = n.tally
	for _, t := range [...]struct {
		state string
		tasks int
	}{
		{"pending", n.tally.Pending}, {"held", n.tally.Held}, {"error", n.tally.Error},
		{"starting", n.tally.Starting}, {"running", n.tally.Running}, {"suspended", n.tally.Suspended},
	} {
		c.Tasks.WithLabelValues(t.state).Set(float64(t.tasks))
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
