package ticket

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// policies is everything that priorities depend on besides the jobs, at the
// time of one run.
type policies struct {
	conf     *grid.SchedConf
	m        *model.Model
	now      grid.Time
	posix    bounds // of -p
	urgent   bounds // of the urgency
	most     float64
	tickets  bool
	userSort bool
}

// worth is what a task is worth to the policies.
type worth struct {
	urgency
	tickets                      tickets
	priority                     float64
	nposix, nurgency, nticketsOf float64
}

// newPolicies looks over what is pending and running.
func newPolicies(conf *grid.SchedConf, m *model.Model, now grid.Time) *policies {
	p := &policies{conf: conf, m: m, now: now, posix: nothing, urgent: nothing}
	m.Classes(func(c model.Class) { p.posix.observe(float64(c.Priority)) })
	if text, _ := conf.Param("PRIORITY_RANGE"); strings.EqualFold(text, "fixed") {
		p.posix = bounds{-1024, 1024}
	}
	m.Extremes(func(resources float64, submit, deadline grid.Time) {
		p.urgent.observe(urgencyOf(conf, resources, submit, deadline, now).sum())
	})
	return p
}

// weigh finds out what the candidate's job is worth, apart from share tree
// tickets.
func (o *order) weigh(k *candidate) {
	w := worth{urgency: urgencyOf(o.conf, o.lines.Group(k.place.Group).Urgency, k.place.Submit, k.class.Deadline, o.now)}
	w.nposix = sched.Normalise(float64(k.class.Priority), o.posix.lo, o.posix.hi)
	w.nurgency = sched.Normalise(w.urgency.sum(), o.urgent.lo, o.urgent.hi)
	k.worth = o.summed(w)
	k.stamp = o.stampOf(k)
}

// full is the worth of a candidate with share tree tickets.
func (o *order) full(k *candidate) worth { return k.worth }

// summed is a worth with its priority.
func (p *policies) summed(w worth) worth {
	w.nticketsOf = sched.Normalise(w.tickets.sum(), 0, p.most)
	w.priority = p.conf.WeightPriority*w.nposix + p.conf.WeightUrgency*w.nurgency + p.conf.WeightTicket*w.nticketsOf
	return w
}

type tickets struct{ override, functional, share, deadline float64 }

func (t tickets) sum() float64 { return t.override + t.functional + t.share + t.deadline }

type share struct{}

func (c *contest) value() float64                    { return 0 }
func (o *order) contestOf(c model.Class) *contest    { return &o.root }
func (o *order) stampOf(k *candidate) int64          { return 0 }
func (o *order) count(k *candidate)                  {}
