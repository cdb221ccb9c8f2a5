package ticket

import (
	"math"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/schedd/model"
)

// policies is what priorities depend on besides the jobs themselves, at the
// time of one run.
type policies struct {
	conf    *settings
	m       *model.Model
	now     grid.Time
	within  grid.PriorityRange // what was observed
	turning bool               // worth changes with the time
	tickets bool               // there are any

	parties    []party
	tree       *shares.Tree // nil: no share tree policy
	begin      *shares.Node // see start
	jobShares  map[*shares.Node]float64
	functional *functional
}

// worth is what a task is worth to the policies, sge_priority(5).
type worth struct {
	shares.Terms
	tickets
}

// newPolicies looks over all that is pending or runs, by class and group, in
// the memory of a run.
func newPolicies(conf *settings, m *model.Model, now grid.Time, memory *memory) *policies {
	p := &memory.policies
	*p = policies{conf: conf, m: m, now: now, parties: p.parties[:0]}
	posix, urgent := nothing, nothing
	p.tickets = m.Tickets() || conf.pool > 0
	m.Classes(func(c model.Class) {
		posix.observe(float64(c.Priority))
		p.tickets = p.tickets || c.OverrideTickets > 0
		k := party{Class: c}
		if c.Pending > 0 {
			k.first, _ = m.First(c.Number)
		}
		p.parties = append(p.parties, k)
	})
	if conf.fixed {
		posix = bounds{-1024, 1024}
	}
	m.Extremes(func(resources float64, submit, deadline grid.Time) {
		urgent.observe(shares.UrgencyOf(conf.SchedConf, resources, submit, deadline, now).Sum())
		p.turning = p.turning || deadline != 0 || conf.WeightWaitingTime > 0
	})
	p.within = grid.PriorityRange{At: now, LeastPriority: posix.lo, MostPriority: posix.hi, LeastUrgency: urgent.lo,
		MostUrgency: urgent.hi}
	if p.tickets || m.UserSort() {
		p.shares()
		p.resolveParties()
	}
	if p.tickets {
		p.functional = p.newFunctional()
		p.deadlines()
		p.mostTickets()
	}
	return p
}

// mostTickets finds the largest number of tickets that any task has.
func (p *policies) mostTickets() {
	for i := range p.parties {
		c := &p.parties[i]
		if c.Active > 0 {
			p.within.MostTickets = max(p.within.MostTickets, p.running(c).sum())
		}
		if c.Pending > 0 {
			t := p.pending(c)
			t.share = p.pendingShare(p.topOf(c.leaf))
			p.within.MostTickets = max(p.within.MostTickets, t.sum())
		}
	}
}

// weigh finds out what a job of a class is worth with some tickets.
func (p *policies) weigh(c *party, resources float64, submit grid.Time, t tickets) worth {
	u := shares.UrgencyOf(p.conf.SchedConf, resources, submit, c.Deadline, p.now)
	return worth{shares.TermsOf(p.conf.SchedConf, &p.within, c.Priority, u, t.sum()), t}
}

// sum completes a worth whose tickets have changed.
func (p *policies) sum(w worth) worth {
	w.Terms = w.WithTickets(p.conf.SchedConf, &p.within, w.tickets.sum())
	return w
}

// bounds is a range of observed values; empty until something was observed.
type bounds struct{ lo, hi float64 }

var nothing = bounds{math.Inf(1), math.Inf(-1)}

func (b *bounds) observe(v float64) { b.lo, b.hi = min(b.lo, v), max(b.hi, v) }
