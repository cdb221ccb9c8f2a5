package workload

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// The names in the cell.
const (
	master = "master" // the host of qmaster, where jobs are submitted
	pool   = "pool"   // the host with all processors
	queue  = "all.q"
	pe     = "trace" // for jobs of more than one processor
)

// cell is qmaster's core and the scheduler's algorithm, with one pool.
type cell struct {
	*couple.Couple
	pending int // tasks that were submitted and have not started
	project func(*Job) string
	run     grid.Time // when the last pass was
	shapes  map[shape]*grid.JobRequest
	spec    *grid.JobSpec // of all jobs
}

// shape is what jobs with the same request have in common.
type shape struct{ processors, estimate int64 }

// Conf is the scheduler configuration under which the start times of the
// archive's simulators hold: jobs in the order of submission, no margin after
// their estimate, at most so many reservations.
func Conf(reservations uint32) grid.SchedConf {
	c := *grid.DefaultSchedConf()
	c.JobLoadAdjustments, c.ScheddJobInfo = nil, "false"
	c.WeightTicket, c.WeightUrgency, c.WeightWaitingTime, c.WeightDeadline = 0, 0, 0, 0
	c.ReportPJobTickets = false
	c.Params = "DURATION_OFFSET=0"
	c.MaxReservation = reservations
	return c
}

// newCell installs a cell with a pool of processors.
func newCell(o ReplayOptions) (*cell, error) {
	conf, processors, now := o.Conf, o.Processors, o.Begin
	s := state.New()
	s.Apply(core.Fresh(now, "root", master))
	c := &cell{Couple: couple.New(s, shipped.Algorithms()), shapes: map[shape]*grid.JobRequest{},
		spec: &grid.JobSpec{SubmitHost: master}, project: o.Project}
	c.Lend = true
	c.Core.Step(now, core.Report{Report: report.Report{Host: pool, Hello: true, Load: &report.Load{
		Processors: uint32(processors), At: now, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	c.Core.Step(now, core.Tick{}) // takes the load in
	q := *s.CQueue(queue)
	q.Slots = grid.PerHost[int32]{Value: int32(processors)}
	q.LoadThresholds = grid.PerHost[grid.Values]{}
	q.PEList = grid.PerHost[grid.Names]{Value: grid.Names{pe}}
	environment := grid.DefaultPE(pe)
	environment.Slots = uint32(processors)
	conf.Version = 0
	added := []grid.Object{environment}
	for _, p := range algorithm.Projects(o.Projects) {
		added = append(added, &p)
	}
	for _, change := range []gdi.Body{
		&gdi.Add{Objects: added},
		&gdi.Modify{Objects: []grid.Object{&q, &conf}},
	} {
		r := c.Core.Step(
			now, core.UserRequest{Request: gdi.Request{User: "root", Host: master, Command: "qconf", Body: change}})
		if err := refusal(r.Answers[0].Reply); err != nil {
			return nil, err
		}
	}
	c.Log = o.Log
	return c, c.Register()
}

// refusal is the first bad answer of a reply.
func refusal(r *gdi.Reply) error {
	for _, a := range r.Answers {
		if a.Status != gdi.StatusOK {
			return errors.New(a.Text)
		}
	}
	return nil
}

// submit submits a job, or as many tasks of it, and returns its number in the
// cell.
func (c *cell) submit(now grid.Time, j *Job, tasks int) (uint32, error) {
	request := &grid.Job{Name: named("exe", j.Executable), Reserve: true, JobRequest: c.request(j), Spec: c.spec}
	if tasks > 1 {
		request.Array, request.Tasks = true, grid.Range{First: 1, Last: uint32(tasks), Step: 1}
	}
	if c.project != nil {
		request.Project = c.project(j)
	}
	r := c.Step(now, core.UserRequest{Request: gdi.Request{
		User: named("u", j.User), Group: named("g", j.Group), Host: master, Command: "qsub",
		Body: &gdi.Submit{Job: request}}})
	reply := r.Answers[0].Reply
	if err := refusal(reply); err != nil {
		return 0, fmt.Errorf("job %d: %w", j.Number, err)
	}
	c.pending += tasks
	c.shapes[shape{j.Requested, j.Estimate}] = c.Core.State().Job(reply.Job).JobRequest
	return reply.Job, nil
}

// request is what a job asks for; jobs that ask for the same share it, as
// qmaster has put it.
func (c *cell) request(j *Job) *grid.JobRequest {
	r := c.shapes[shape{j.Requested, j.Estimate}]
	if r == nil {
		r = &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: strconv.FormatInt(j.Estimate, 10)}}}
		if n := uint32(j.Requested); n > 1 {
			r.PE, r.PERange = pe, grid.Ranges{{First: n, Last: n, Step: 1}}
		}
	}
	return r
}

// named is the name of a user or an object that a log knows by number.
func named(prefix string, n int64) string { return prefix + strconv.FormatInt(max(n, 0), 10) }

// end reports the ends of attempts.
func (c *cell) end(now grid.Time, ended []report.Task) error {
	r := c.Step(now, core.Report{Report: report.Report{Host: pool, Tasks: ended}})
	if drop := r.Answers[0].Receipt.Drop; len(drop) > 0 {
		return fmt.Errorf("qmaster does not know %s", drop[0])
	}
	return nil
}

// due is when a pass may be that something asks for now.
func (c *cell) due(now grid.Time) grid.Time {
	if c.run == 0 {
		return now
	}
	return c.Algorithm.Next(c.run, now)
}

// pass is one scheduling run: it calls started with each task that starts, and signalled with
// each attempt that is preempted or resumed.
func (c *cell) pass(
	now grid.Time, started func(*grid.JATask), signalled func(report.Attempt, report.SignalKind),
) []orders.Refusal {
	c.run = now
	r, refused := c.Pass(now)
	for _, e := range r.List.Events {
		if t, ok := e.Object.(*grid.JATask); ok && t.Status == grid.Transfering && t.Start == now {
			c.pending--
			started(t)
		}
	}
	for _, command := range r.Commands {
		for _, s := range command.Signals {
			if s.Kind == report.Reschedule {
				c.pending++
			}
			signalled(s.Attempt, s.Kind)
		}
	}
	return refused
}
