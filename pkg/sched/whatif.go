package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// What a Cluster is changed to for questions: "and if only these instances were open", "and if that reservation were
// gone". They are functions, as nothing that decides needs them.

// Confine disables all queue instances of a copy but those that are kept, in its advance reservations as well: what has
// a place there has one in these.
func Confine(c *Cluster, keep func(queue, host string) bool) {
	c.settle()
	for _, r := range append(c.ars[:len(c.ars):len(c.ars)], c) {
		for i, h := range r.site.Hosts {
			now := *r.nows.At(i)
			now.states = slices.Clone(now.states)
			for k, in := range h.Instances {
				if !keep(in.Queue.Name, h.Name) {
					now.states[k] |= grid.QueueDisabled
				}
			}
			r.nows.Set(i, now)
		}
		r.reorderAll()
	}
}

// WithoutARs returns the cluster as it is, but for advance reservations that are dropped: they keep nothing free for
// their jobs. Their tasks that run hold what they have. It follows no State.
func WithoutARs(c *Cluster, dropped func(*grid.AR) bool) *Cluster {
	d := sharingLayout(c)
	d.populate(slices.DeleteFunc(c.st.ARs(), dropped), true)
	return d
}

// FreeSlots returns how many slots of queue instances, by number, neither tasks nor advance reservations have now, and
// how many of the hosts of these can be used at the same time.
func FreeSlots(c *Cluster, numbers []int) (each []int, together int) {
	c.settle()
	span := c.find.span.Present()
	span.Window = grid.Window{Start: span.Now, End: span.Now + 1}
	left := func(l level) int {
		return int(max(min(l.Supply.Capacity[0], unlimitedSlots)-l.InUse(0, &span), 0))
	}
	hosts := map[*site.Host]int{}
	for _, n := range numbers {
		in := c.site.Instances[n]
		if _, known := hosts[in.Host]; !known {
			hosts[in.Host] = left(c.find.atHost(in.Host))
		}
		free := left(c.find.atInstance(in))
		each = append(each, min(free, hosts[in.Host]))
	}
	for i, n := range numbers {
		in := c.site.Instances[n]
		free := min(each[i], hosts[in.Host])
		hosts[in.Host] -= free
		together += free
	}
	return each, together
}

// CountedUnder returns how much of what is short under a quota, a Lack of level L, grants of a job are counted as: in
// the units of the Lack. hard are the requests with which the job is counted.
func CountedUnder(c *Cluster, l *Lack, j *grid.Job, hard grid.Requests, grants []grid.Grant, pe string) (sum float64) {
	passing := c.site.QuotasFor(j, pe)
	attr := c.site.Complex.Find(l.Resource)
	if passing == nil || attr < 0 {
		return 0
	}
	var taken []complex.Demand
	for _, d := range c.site.Complex.Demands(nil, hard, j.JobRequest) {
		if d.Column == c.site.Complex.List[attr].Column {
			taken = append(taken, d)
		}
	}
	for k, g := range grants {
		in := c.site.Granted(g)
		if in == nil {
			continue
		}
		c.site.EachQuota(passing, j, pe, in, func(_ *site.QuotaRule, key site.BucketKey) bool {
			for i := range taken {
				if key == l.bucket && !(taken[i].PerHost && !grid.FirstOnHost(grants, k)) {
					sum += taken[i].Of(g.Slots, k == 0)
				}
			}
			return true
		})
	}
	return sum
}
