package ticket

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// policies is what priorities depend on besides the jobs themselves, at the
// time of one run.
type policies struct {
	conf    *grid.SchedConf
	m       *model.Model
	now     grid.Time
	posix   bounds  // of -p
	urgent  bounds  // of the urgency
	most    float64 // the largest number of tickets
	tickets bool    // there are any

	parties    []party
	tree       *sched.ShareTree // nil: no share tree policy
	begin      *sched.ShareNode // see start
	jobShares  map[*sched.ShareNode]float64
	functional *functional
}

// worth is what a task is worth to the policies, sge_priority(5).
type worth struct {
	urgency
	tickets
	posix, urgent, ticket float64 // normalised
	priority              float64
}

// newPolicies looks over all that is pending or runs, by class and group. The
// parties take the place of others that nobody needs any more.
func newPolicies(conf *grid.SchedConf, m *model.Model, now grid.Time, parties []party) *policies {
	p := &policies{conf: conf, m: m, now: now, posix: nothing, urgent: nothing, parties: parties[:0], functional: &functional{}}
	pool, _ := deadlinePool(conf)
	p.tickets = m.Tickets() || pool > 0
	m.Classes(func(c model.Class) {
		p.posix.observe(float64(c.Priority))
		p.tickets = p.tickets || c.OverrideTickets > 0
		k := party{Class: c}
		if c.Pending > 0 {
			k.first, _ = m.First(c.Number)
		}
		p.parties = append(p.parties, k)
	})
	if text, _ := conf.Param("PRIORITY_RANGE"); strings.EqualFold(text, "fixed") {
		p.posix = bounds{-1024, 1024}
	}
	m.Extremes(func(resources float64, submit, deadline grid.Time) {
		p.urgent.observe(urgencyOf(conf, resources, submit, deadline, now).sum())
	})
	if p.tickets || m.UserSort() {
		p.shares()
		p.meet()
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
			p.most = max(p.most, p.running(c).sum())
		}
		if c.Pending > 0 {
			t := p.pending(c)
			t.share = p.pendingShare(p.topOf(c.leaf))
			p.most = max(p.most, t.sum())
		}
	}
}

// weigh finds out what a job of a class is worth with some tickets.
func (p *policies) weigh(c *party, resources float64, submit grid.Time, t tickets) worth {
	w := worth{urgency: urgencyOf(p.conf, resources, submit, c.Deadline, p.now), tickets: t}
	w.posix = sched.Normalise(float64(c.Priority), p.posix.lo, p.posix.hi)
	w.urgent = sched.Normalise(w.urgency.sum(), p.urgent.lo, p.urgent.hi)
	return p.sum(w)
}

// sum completes a worth with the dispatch priority that follows from its parts.
func (p *policies) sum(w worth) worth {
	w.ticket = sched.Normalise(w.tickets.sum(), 0, p.most)
	w.priority = sched.Priority(p.conf, w.posix, w.urgent, w.ticket)
	return w
}
