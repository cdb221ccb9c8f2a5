package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Alter counts a started task anew that has other Limits now, if there is room for what it takes more: at its queue
// instances and hosts, in the cluster, under the quotas, and until its new end. It is asked on a Copy, so that several
// tasks are decided together. Nothing else is asked: what is disabled or forbidden since does not stop a task that has
// started.
func (c *Cluster) Alter(now *grid.JATask) reason.Reason {
	c.settle()
	old, counted := c.ledger.Booking(ledger.Number(now.Job, now.ID))
	if !counted {
		return reason.Reason{Code: reason.NoSuchQueue}
	}
	j := old.Job
	r := c.clusterOf(j.AR)
	r.find.span.Now = c.find.span.Now
	before := c.site.Complex.Demands(nil, old.Task.Held(j), j.JobRequest)
	after := c.site.Complex.Demands(nil, now.Held(j), j.JobRequest)
	var more []complex.Demand
	for _, d := range after {
		i := slices.IndexFunc(before, func(o complex.Demand) bool { return o.Column == d.Column })
		if i >= 0 {
			d.Amount, d.Master = d.Amount-before[i].Amount, d.Master-before[i].Master
		}
		if d.Takes() && !d.Exclusive {
			more = append(more, d)
		}
	}
	end := c.site.GrossEnd(j, now)
	q := growth{c: c, in: r, job: j, task: now}
	why := q.room(more, grid.Window{Start: c.find.span.Now, End: max(end, c.find.span.Now+1)})
	if why.Fits() && r.site.Planning && end > old.End {
		// it stays longer, with all that it has
		why = q.room(after, grid.Window{Start: max(old.End, c.find.span.Now+1), End: max(end, c.find.span.Now+2)})
	}
	if !why.Fits() {
		return why
	}
	c.note(c.ledger.Replace(now))
	return reason.Reason{}
}

// growth is the question whether a started task can have more.
type growth struct {
	c, in *Cluster // in: of the job's advance reservation, else c
	job   *grid.Job
	task  *grid.JATask
}

// room reports whether all levels have so much for the grants of the task throughout a window.
func (q *growth) room(demands []complex.Demand, w grid.Window) reason.Reason {
	if len(demands) == 0 {
		return reason.Reason{}
	}
	c, r, grants := q.c, q.in, q.task.Grants
	if r.site.Planning {
		r.find.span.Window = w
	}
	if c.site.Planning {
		c.find.span.Window = w
	}
	all := func(grid.Grant) bool { return true }
	if why := q.fits(r.find.atGlobal(), demands, all, reason.Reason{Code: reason.NotGlobally}, "g"); !why.Fits() {
		return why
	}
	passing, quotas := c.site.QuotasFor(q.job, q.task.PE), map[site.BucketKey][]grid.Grant{}
	for _, g := range grants {
		in := r.site.Granted(g)
		if in == nil {
			continue
		}
		onHost := func(o grid.Grant) bool { return o.Host == g.Host }
		if why := q.fits(r.find.atHost(in.Host), demands, onHost, reason.Reason{Code: reason.NotAtHost, Object: g.Host},
			"h"); !why.Fits() {
			return why
		}
		same := func(o grid.Grant) bool { return o.Host == g.Host && o.Queue == g.Queue }
		if why := q.fits(r.find.atInstance(in), demands, same, reason.Reason{Code: reason.NotAtQueue, Object: in.Name},
			"q"); !why.Fits() {
			return why
		}
		var over reason.Reason
		c.site.EachQuota(passing, q.job, q.task.PE, in, func(rule *site.QuotaRule, key site.BucketKey) bool {
			quotas[key] = append(quotas[key], g)
			mine := func(o grid.Grant) bool { return slices.Contains(quotas[key], o) }
			if !q.fits(c.find.atQuota(rule, key, in), demands, mine, reason.Reason{Code: reason.NotGlobally}, "").Fits() {
				over = reason.Reason{Code: reason.OverQuota, Object: rule.Set + "/" + rule.Called, What: key.String()}
			}
			return over.Fits()
		})
		if !over.Fits() {
			return over
		}
	}
	return reason.Reason{}
}

// fits reports whether a level has so much for those of the grants that it gives; why says where it is.
func (q *growth) fits(
	l level, demands []complex.Demand, of func(grid.Grant) bool, why reason.Reason, letter string,
) reason.Reason {
	if l.whole != nil {
		if r := q.fits(*l.whole, demands, of, why, letter); !r.Fits() {
			return r
		}
	}
	for i := range demands {
		d := &demands[i]
		if l.Supply.Capacity[d.Column] >= complex.Unlimited || d.Exclusive {
			continue
		}
		need := 0.0
		for k, g := range q.task.Grants {
			if of(g) && (!d.PerHost || grid.FirstOnHost(q.task.Grants, k)) {
				need += d.Of(g.Slots, k == 0)
			}
		}
		left := l.Supply.Capacity[d.Column] - l.InUse(d.Column, &q.in.find.span)
		if need > left+complex.Tiny {
			a := q.c.site.Attr(d.Column)
			why.What = a.Name
			if r, asked := q.task.Held(q.job).Get(a.Name); asked {
				why.What = a.Name + "=" + r.Value
			}
			why.Offer = "it offers only " + letter + "c:" + a.Name + "=" + a.Format(max(left, 0)) + " more"
			return why
		}
	}
	return reason.Reason{}
}
