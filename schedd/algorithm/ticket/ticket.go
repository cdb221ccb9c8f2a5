package ticket

import (
	"iter"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Entry is the algorithm that sched_conf(5) calls default.
var Entry = algorithm.Pair("default", model.New, New).Dividing(division)

// Decider decides by the configuration it was made from.
type Decider struct {
	conf   *settings
	memory *memory // of the last run, for the next
}

// New makes a decider. A load_formula that cannot be read, a queue_sort_method
// or schedd_job_info that is none, is an error.
func New(conf grid.SchedConf) (algorithm.Decider[*model.Model], error) {
	if err := validate(conf); err != nil {
		return nil, err
	}
	return &Decider{conf: newSettings(&conf)}, nil
}

// run is one decision: it dies with it.
type run struct {
	*Decider
	model.Decision
	*memory
	m        *model.Model
	reserved int  // reservations made
	quiet    bool // no reasons are wanted, and reservations only if the run explains
	order    *order
}

// Decide yields the orders of one run.
func (d *Decider) Decide(r algorithm.Run, m *model.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		m.Start(r.Now)
		s := &run{Decider: d, Decision: m.Decision(r, yield), m: m, memory: d.memory.again()}
		s.quiet = r.Monitor == nil && s.Quiet()
		d.memory = nil
		s.Prepare()
		s.dispatch()
		s.reportReasons()
		s.PublishReservations()
		s.report()
		d.memory = s.memory
	}
}

// jobs is the order of jobs, which is not needed while nothing is free.
func (r *run) jobs() *order {
	if r.order == nil {
		r.order = newOrder(newPolicies(r.conf, r.m, r.Now, r.memory), r.memory)
	}
	return r.order
}
