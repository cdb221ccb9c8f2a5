package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics/cellmetrics"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// counts is what quill web counts of itself.
type counts struct {
	Requests    *prometheus.CounterVec `name:"quill_web_requests_total" help:"HTTP requests by route and status." labels:"route,status"`
	Took        prometheus.Histogram   `name:"quill_web_request_seconds" help:"Time to answer a request; of an event stream, how long it was open." buckets:"latency"`
	Connections prometheus.Gauge       `name:"quill_web_connections" help:"Open HTTP connections."`
}

// metricTable is the metrics of quill web: its own, and those of the cell that follow from event lists.
type metricTable struct {
	counts
	cellmetrics.Table
}

var slotsDesc = gauge("quill_slots",
	"Slots of a cluster queue as in qstat -g c: total; used; reserved; available; temporary and manual: in instances that take no job by themselves, until an operator acts.", "queue", "state")

// slots collects the slots of cluster queues from the mirror.
type slots struct{ *mirror.Mirror }

// Describe implements prometheus.Collector.
func (slots) Describe(to chan<- *prometheus.Desc) { to <- slotsDesc }

// Collect implements prometheus.Collector.
func (s slots) Collect(to chan<- prometheus.Metric) {
	at, err := s.Now()
	if err != nil {
		return // not yet
	}
	queues, err := at.View().ClusterQueues(view.QueueFilter{})
	if err != nil {
		return // there are none
	}
	for _, q := range queues {
		for _, n := range [...]struct {
			state string
			slots int
		}{{"total", q.Total}, {"used", q.Used}, {"reserved", q.Reserved}, {"available", q.Available},
			{"temporary", q.Temporary}, {"manual", q.Manual}} {
			emit(to, slotsDesc, float64(n.slots), q.Name, n.state)
		}
	}
}

var (
	waitingDesc = gauge("quill_jobs_waiting",
		"Jobs with tasks that have never been started, by the first reason why they wait, as in quill why; scheduler: none of their own.", "reason")
	instancesDesc = gauge("quill_resource_instances",
		"Instances of a resource map on all hosts: free, granted; error: reported by a load sensor; disabled: by an administrator.", "resource", "state")
)

// noWait is the value of the label for jobs that have no reason of their own: there is no place for them yet, or it is
// not their turn.
const noWait = "scheduler"

// waiting collects why jobs wait.
type waiting struct{ *mirror.Mirror }

// Describe implements prometheus.Collector.
func (waiting) Describe(to chan<- *prometheus.Desc) { to <- waitingDesc }

// Collect implements prometheus.Collector.
func (w waiting) Collect(to chan<- prometheus.Metric) {
	waiting, err := w.Waiting()
	if err != nil {
		return // not yet
	}
	for _, why := range view.WaitCodes {
		emit(to, waitingDesc, float64(waiting[why]), cmp.Or(why.String(), noWait))
	}
}

// instances collects the instances of resource maps from the mirror.
type instances struct{ *mirror.Mirror }

// Describe implements prometheus.Collector.
func (instances) Describe(to chan<- *prometheus.Desc) { to <- instancesDesc }

// Collect implements prometheus.Collector.
func (i instances) Collect(to chan<- prometheus.Metric) {
	at, err := i.Now()
	if err != nil {
		return // not yet
	}
	for _, n := range at.View().Instances() {
		emit(to, instancesDesc, float64(n.Free), n.Resource, "free")
		emit(to, instancesDesc, float64(n.Granted), n.Resource, "granted")
		emit(to, instancesDesc, float64(n.Error), n.Resource, "error")
		emit(to, instancesDesc, float64(n.Disabled), n.Resource, "disabled")
	}
}

// The metrics of users and of their jobs that run.
var (
	userJobsDesc = gauge("quill_user_pending_jobs",
		"Jobs of a user with tasks that have never been started; an array job is one.", "user")
	userTasksDesc = gauge("quill_user_tasks", "Tasks of a user by state; a job that is no array is one task.", "user",
		"state")
	userSlotsDesc = gauge("quill_user_slots",
		"Slots of a user: used by started tasks; requested by tasks that have never been started, at least.", "user", "state")
	jobSlotsDesc  = gauge("quill_job_slots", "Slots of a started task.", jobLabels...)
	jobStartDesc  = gauge("quill_job_start_time_seconds", "When the task started, in seconds since 1970.", jobLabels...)
	jobCPUDesc    = gauge("quill_job_cpu_seconds", "CPU time of a started task, as last reported.", jobLabels...)
	jobMemoryDesc = gauge("quill_job_memory_bytes", "Virtual memory of a started task, as last reported.", jobLabels...)
)

var jobLabels = []string{"job", "task", "user", "project", "queue", "host"}

// users collects what each user has, and the tasks that run.
type users struct {
	at mirror.Moment
	of map[string]cellmetrics.User
}

// Describe implements prometheus.Collector: what is collected is not checked against descriptions.
func (users) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (u users) Collect(to chan<- prometheus.Metric) {
	for user, c := range u.of { // order: gathered metrics are sorted
		for _, n := range [...]struct {
			state string
			tasks int
		}{{"pending", c.Pending}, {"held", c.Held}, {"error", c.Error}, {"starting", c.Starting}, {"running", c.Running},
			{"suspended", c.Suspended}} {
			emit(to, userTasksDesc, float64(n.tasks), user, n.state)
		}
		emit(to, userJobsDesc, float64(c.PendingJobs), user)
		emit(to, userSlotsDesc, float64(c.Slots), user, "used")
		emit(to, userSlotsDesc, float64(c.PendingSlots), user, "requested")
	}
	eachStarted(u.at, func(j *grid.Job, t *grid.JATask) {
		slots := uint32(0)
		for _, g := range t.Grants {
			slots += g.Slots
		}
		task := ""
		if j.Array {
			task = strconv.FormatUint(uint64(t.ID), 10)
		}
		labels := []string{strconv.FormatUint(uint64(j.ID), 10), task, j.Owner, j.Project, t.Grants[0].Queue,
			t.Grants[0].Host}
		emit(to, jobSlotsDesc, float64(slots), labels...)
		emit(to, jobStartDesc, float64(t.Start)/1000, labels...)
		emit(to, jobCPUDesc, t.Usage.CPU, labels...)
		emit(to, jobMemoryDesc, t.Usage.VMem, labels...)
	})
}

// eachStarted calls f with the started tasks that have slots.
func eachStarted(m mirror.Moment, f func(*grid.Job, *grid.JATask)) {
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if j := m.State.Job(t.Job); j != nil && t.Started() && len(t.Grants) > 0 {
			f(j, t)
		}
		return true
	})
}

// The metrics of gridengine_exporter.
var (
	gridUpDesc    = gauge("grid_queue_up", "1 unless the state of the queue instance has u.", "queue", "host")
	gridStateDesc = gauge("grid_queue_state", "1: the state of the queue instance in the letters of qstat.",
		"queue", "host", "state")
	gridSlotsDesc        = gauge("grid_slots_total", "Slots of a queue instance.", "queue", "host")
	gridSlotsRunningDesc = gauge("grid_slots_running", "Slots of the started tasks of a user in a queue instance.",
		"queue", "host", "user")
	gridSlotsPendingDesc = gauge("grid_slots_pending", "Slots that the pending jobs of a user request, at least.", "user")
	gridJobsRunningDesc  = gauge("grid_jobs_running", "Started tasks of a user in a queue instance.",
		"queue", "host", "user")
	gridJobsPendingDesc = gauge("grid_jobs_pending", "Pending jobs of a user; an array job is one.", "user")
)

// exporter collects under the names of gridengine_exporter.
type exporter users

// Describe implements prometheus.Collector.
func (exporter) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (e exporter) Collect(to chan<- prometheus.Metric) {
	queues, err := e.at.View().Queues(view.QueueFilter{}, "")
	if err != nil {
		queues = nil // there are none
	}
	for i := range queues {
		q, up := &queues[i], 1.0
		if q.State&grid.QueueUnknown != 0 {
			up = 0
		}
		emit(to, gridUpDesc, up, q.Queue, q.Host)
		emit(to, gridStateDesc, 1, q.Queue, q.Host, q.State.Letters())
		emit(to, gridSlotsDesc, float64(q.Slots), q.Queue, q.Host)
	}
	type place struct{ queue, host, user string }
	tasks, slots := map[place]int{}, map[place]uint32{}
	eachStarted(e.at, func(j *grid.Job, t *grid.JATask) {
		for _, g := range t.Grants {
			tasks[place{g.Queue, g.Host, j.Owner}]++
			slots[place{g.Queue, g.Host, j.Owner}] += g.Slots
		}
	})
	for p, n := range tasks { // order: gathered metrics are sorted
		emit(to, gridJobsRunningDesc, float64(n), p.queue, p.host, p.user)
		emit(to, gridSlotsRunningDesc, float64(slots[p]), p.queue, p.host, p.user)
	}
	for user, c := range e.of { // order: gathered metrics are sorted
		emit(to, gridJobsPendingDesc, float64(c.PendingJobs), user)
		emit(to, gridSlotsPendingDesc, float64(c.PendingSlots), user)
	}
}

// registerMetrics makes the route of metrics with names of users and jobs, which need a token.
func (s *handlers) registerMetrics() {
	op := operation(http.MethodGet, "/metrics/jobs", "get-job-metrics", "metrics",
		"Metrics of users, and of the tasks that run")
	op.Responses = map[string]*huma.Response{"200": {Description: "text format of OpenMetrics or Prometheus",
		Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	huma.Register(s.api, op, func(_ context.Context, in *struct {
		Alias string `query:"alias" enum:"grid" doc:"grid: the metrics of gridengine_exporter instead, under its names"`
	},
	) (*huma.StreamResponse, error) {
		at, err := s.mirror.Now()
		var of map[string]cellmetrics.User
		if err == nil {
			of, err = s.mirror.Users()
		}
		if err != nil {
			return nil, problem.NoMirror(err)
		}
		var c prometheus.Collector = users{at, of}
		if in.Alias == "grid" {
			c = exporter{at, of}
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(c)
		return &huma.StreamResponse{Body: func(h huma.Context) {
			r, w := humago.Unwrap(h)
			promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
		}}, nil
	})
}
