package trace

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/tools/swf"
)

// The names in the cell.
const (
	master    = "master" // the host of qmaster, where jobs are submitted
	pool      = "pool"   // the host with all processors
	queue     = "all.q"
	pe        = "trace" // for jobs of more than one processor
	scheduler = "sim"
)

// cell is qmaster's core, and the scheduler's algorithm that follows it.
type cell struct {
	core      *core.Core
	algorithm algorithm.Algorithm
	run       uint64
	refused   []orders.Refusal // orders, since the last look
	pending   int              // tasks that were submitted and have not started
	shapes    map[shape]*grid.JobRequest
}

// shape is what jobs with the same request have in common.
type shape struct{ processors, estimate int64 }

// Conf is the scheduler configuration under which the start times of the
// archive's simulators hold: jobs in the order of submission, no margin behind
// their estimate, at most so many reservations.
func Conf(reservations uint32) grid.SchedConf {
	c := *grid.DefaultSchedConf()
	c.JobLoadAdjustments, c.ScheddJobInfo = nil, "false"
	c.WeightTicket, c.WeightUrgency, c.WeightWaitingTime, c.WeightDeadline = 0, 0, 0, 0
	c.Params = "DURATION_OFFSET=0"
	c.MaxReservation = reservations
	return c
}

// newCell installs a cell with a pool of processors.
func newCell(conf grid.SchedConf, processors int64, now grid.Time) (*cell, error) {
	s := state.New()
	s.Apply(core.Fresh(now, "root", master))
	c := &cell{core: core.New(s, 1), shapes: map[shape]*grid.JobRequest{}}
	c.core.Step(now, core.Scheduler{Name: scheduler})
	c.core.Step(now, core.Report{Report: report.Report{Host: pool, Hello: true, Load: &report.Load{
		Processors: uint32(processors), At: now, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	c.core.Step(now, core.Tick{}) // takes the load in
	q := *s.CQueue(queue)
	q.Slots = grid.PerHost[int32]{Value: int32(processors)}
	q.LoadThresholds = grid.PerHost[grid.Values]{}
	q.PEList = grid.PerHost[grid.Names]{Value: grid.Names{pe}}
	environment := grid.DefaultPE(pe)
	environment.Slots = uint32(processors)
	conf.Version = 0
	for _, wish := range []gdi.Body{
		&gdi.Add{Objects: []grid.Object{environment}},
		&gdi.Modify{Objects: []grid.Object{&q, &conf}},
	} {
		r := c.core.Step(now, core.Request{Request: gdi.Request{User: "root", Host: master, Command: "qconf", Body: wish}})
		if err := refusal(r.Answers[0].Reply); err != nil {
			return nil, err
		}
	}
	return c, c.register()
}

// register gives the algorithm the full state.
func (c *cell) register() (err error) {
	conf := *c.core.State().SchedConf()
	for _, e := range schedd.Algorithms() {
		if e.Name == conf.Algorithm {
			c.algorithm, err = e.New(conf)
		}
	}
	if err != nil || c.algorithm == nil {
		return errors.Join(fmt.Errorf("algorithm %q can't be used", conf.Algorithm), err)
	}
	full := events.List{Seq: c.core.State().Seq, At: c.core.State().At}
	c.core.State().Full(func(e events.Event) bool {
		full.Events = append(full.Events, e)
		return true
	})
	c.algorithm.Apply(full)
	return nil
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

// step has the core decide and the algorithm follow.
func (c *cell) step(now grid.Time, in core.Input) core.Ready {
	r := c.core.Step(now, in)
	if len(r.List.Events) > 0 {
		c.algorithm.Apply(r.List)
	}
	return r
}

// submit submits a job and returns its number in the cell.
func (c *cell) submit(now grid.Time, j *swf.Job) (uint32, error) {
	wish := &grid.Job{Name: named("exe", j.Executable), Reserve: true, JobRequest: c.request(j)}
	r := c.step(now, core.Request{Request: gdi.Request{
		User: named("u", j.User), Group: named("g", j.Group), Host: master, Command: "qsub", Body: &gdi.Submit{Job: wish}}})
	reply := r.Answers[0].Reply
	if err := refusal(reply); err != nil {
		return 0, fmt.Errorf("job %d: %w", j.Number, err)
	}
	c.pending++
	return reply.Job, nil
}

// request is what a job asks for; jobs that ask for the same share it.
func (c *cell) request(j *swf.Job) *grid.JobRequest {
	s := shape{j.Requested, j.Estimate}
	r := c.shapes[s]
	if r == nil {
		r = &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: strconv.FormatInt(j.Estimate, 10)}}}
		if n := uint32(j.Requested); n > 1 {
			r.PE, r.PERange = pe, grid.Ranges{{First: n, Last: n, Step: 1}}
		}
		c.shapes[s] = r
	}
	return r
}

// named is the name of somebody or something that a log knows by number.
func named(prefix string, n int64) string { return prefix + strconv.FormatInt(max(n, 0), 10) }

// end reports the ends of attempts.
func (c *cell) end(now grid.Time, ended []report.Task) error {
	r := c.step(now, core.Report{Report: report.Report{Host: pool, Tasks: ended}})
	if drop := r.Answers[0].Receipt.Drop; len(drop) > 0 {
		return fmt.Errorf("qmaster does not know %s", drop[0])
	}
	return nil
}

// pass is one scheduling run: it tells each task that it has started.
func (c *cell) pass(now grid.Time, started func(*grid.JATask)) {
	c.run++
	list := orders.List{Seq: c.core.State().Seq, Scheduler: scheduler, Algorithm: "default", Run: c.run}
	for o := range c.algorithm.Begin()(algorithm.Run{Number: c.run, Now: now}) {
		list.Orders = append(list.Orders, o)
	}
	if len(list.Orders) == 0 {
		return
	}
	r := c.step(now, core.Orders{List: list})
	c.refused = append(c.refused, r.Answers[0].Result.Refused...)
	for _, e := range r.List.Events {
		if t, ok := e.Object.(*grid.JATask); ok && t.Status == grid.Transfering && t.Start == now {
			c.pending--
			started(t)
		}
	}
}
