package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Tasks that a preempt order has suspended. Such a task has given back its
// slots, of queue instances, hosts, the cluster, its PE and quotas; the other
// consumables it holds, as its processes do. Where it was granted them it can
// take its slots again, and nowhere else.

// Preempted lists them, those that started first before the others.
func (c *Cluster) Preempted() []*grid.JATask {
	c.settle()
	return c.ledger.Preempted()
}

// PreemptedOf lists those of a job, by number.
func (c *Cluster) PreemptedOf(job uint32) []*grid.JATask {
	c.settle()
	return c.ledger.PreemptedOf(job)
}

// FitsAgain reports whether a preempted task may take its slots again now: every
// level has them, and no job is alone there. If a level has fewer by now than
// the task was granted, all of them must be free. Nothing else is asked: what
// is disabled or forbidden since does not stop a task that has started.
func (c *Cluster) FitsAgain(t *grid.JATask) reason.Reason {
	c.settle()
	j := c.st.Job(t.Job)
	r := c.clusterOf(j.AR)
	if r.find.span.Now = c.find.span.Now; r.site.Planning {
		r.find.span.Window = grid.Window{Start: r.find.span.Now, End: max(r.site.GrossEnd(j, t), r.find.span.Now+1)}
	}
	b := comeback{c: r, alone: make([]bool, len(c.site.Complex.Consumables))}
	for _, d := range c.site.Complex.Demands(nil, j.Hard, j.JobRequest) {
		b.alone[d.Column] = d.Exclusive && d.Amount > 0
	}
	total, quotas, passing := portion{}, map[site.BucketKey]portion{}, c.site.QuotasFor(j, t.PE)
	for _, g := range t.Grants {
		total.add(g)
		in := r.site.Granted(g)
		if in == nil {
			continue
		}
		onQueue, onHost := portion{}, portion{}
		for _, o := range t.Grants {
			if o.Host == g.Host {
				onHost.add(o)
				if o.Queue == g.Queue {
					onQueue.add(o)
				}
			}
		}
		if !b.room(r.find.atInstance(in), onQueue) || !b.room(r.find.atHost(in.Host), onHost) {
			return reason.Reason{Code: reason.GrantSlots, Object: in.Name}
		}
		if r.preemptedSlots(in) == 0 {
			return reason.Reason{Code: reason.QueueSuspended, Object: in.Name}
		}
		var over reason.Reason
		c.site.EachQuota(passing, j, t.PE, in, func(q *site.QuotaRule, key site.BucketKey) bool {
			n := quotas[key]
			n.add(g)
			quotas[key] = n
			if !b.room(c.find.atQuota(q, key, in), n) {
				over = reason.Reason{Code: reason.OverQuota, Object: q.Set + "/" + q.Called, What: key.String()}
			}
			return over.Fits()
		})
		if !over.Fits() {
			return over
		}
	}
	if !b.room(r.find.atGlobal(), total) {
		return reason.Reason{Code: reason.NotGlobally, What: "slots=1", Offer: "it has no free slots"}
	}
	if i := r.site.PENamed(t.PE); i >= 0 {
		if free := r.find.peFree(i); free < min(int(total.slots), int(r.site.PEs[i].Slots)) {
			return reason.Reason{Code: reason.PEOffersOnly, Object: t.PE, Slots: free}
		}
	}
	return reason.Reason{}
}

// comeback is the question whether a preempted task can take its slots.
type comeback struct {
	c     *Cluster
	alone []bool // by place among the consumables: it wants to be alone, and so it is
}

// portion is the part of a task's grants that one level gives.
type portion struct{ slots, grants float64 }

func (p *portion) add(g grid.Grant) {
	p.slots += float64(g.Slots)
	p.grants++
}

// room reports whether a level has the slots of a portion, or all that it has are
// free, and no other job is alone there.
func (b *comeback) room(l level, p portion) bool {
	if l.whole != nil && !b.room(*l.whole, p) {
		return false
	}
	all := l.Supply.Capacity[0]
	if all < complex.Unlimited && l.InUse(0, &b.c.find.span)+min(p.slots, all) > all+complex.Tiny {
		return false
	}
	for _, place := range b.c.site.Complex.Exclusives {
		own := 0.0
		if b.alone[place] {
			own = p.grants
		}
		if l.Supply.Capacity[place] < complex.Unlimited && l.InUse(place, &b.c.find.span) > own {
			return false
		}
	}
	return true
}

// GiveBack counts the slots of a started task as free, as they are when it is
// preempted: decide on a copy, and the next decision sees it.
func (c *Cluster) GiveBack(t *grid.JATask) {
	c.holdSlots(t, -1)
	c.noteAllImproved()
	c.improved.booked = true
}

// BookAgain counts the slots of a preempted task as taken again, whether there
// are any or not: with none no other job gets what becomes free.
func (c *Cluster) BookAgain(t *grid.JATask) {
	c.improved.booked = true
	c.holdSlots(t, +1)
}

func (c *Cluster) holdSlots(t *grid.JATask, sign float64) {
	c.ledger.HoldSlots(t, sign)
	c.reorderAround(c.st.Job(t.Job).AR, t.Grants)
}
