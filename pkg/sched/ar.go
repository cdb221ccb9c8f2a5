package sched

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// An advance reservation is two things. For everybody else it is a plan: what
// it holds is taken from its start to its end (its ledger plans it in the
// diagrams). For its own jobs it is a small cluster: the granted instances
// with the granted slots, and of each consumable what was reserved of it and
// nothing else. Its jobs are placed, booked and verified there by the same
// code, and what they take is none of the cluster's.
//
// But no daemon ends a job whose end was only assumed: it may stand where the
// reservation begins, and the reservation's jobs wait until it is gone. So all
// levels keep note of their guests, the tasks of reservations, and who starts
// now needs room beside all that stand there (level.slots).

// reservation is an advance reservation as its jobs see it.
func (c *Cluster) reservation(a *grid.AR) *Cluster {
	granted := c.site.ReservedBy(a)
	r := &Cluster{st: c.st, ar: a, of: c, site: granted, ledger: c.ledger.Reserve(a, granted)}
	r.find = search{Cluster: r, of: c, span: c.find.span}
	r.world, r.nows = c.world, nowsInside(r.site, c)
	r.empty()
	return r
}

// nowsInside returns what is known of the hosts of an advance reservation: the same as outside.
func nowsInside(l *site.Layout, outside *Cluster) cow.List[hostNow] {
	nows := cow.NewList[hostNow](len(l.Hosts))
	for i, h := range l.Hosts {
		out := outside.nows.At(outside.site.HostAt[h.Name])
		n := hostNow{out.load, make([]grid.QueueState, len(h.Instances))}
		for k, in := range h.Instances {
			n.states[k] = out.states[outside.site.Instances[outside.site.InstAt[in.Name]].Place-1]
		}
		nows.Set(i, n)
	}
	return nows
}

// clusterOf is where a job counts: its advance reservation, or the cluster.
func (c *Cluster) clusterOf(ar uint32) *Cluster {
	if ar != 0 && c.ar == nil {
		for _, r := range c.ars {
			if r.ar.ID == ar {
				return r
			}
		}
	}
	return c
}

// heldUp reports whether a need has no place now for the sake of those alone who
// should have ended when the reservation began.
func (c *Cluster) heldUp(n *Need) bool {
	alone := search{Cluster: c, span: c.find.span}
	alone.setWindow(c.find.span.Now, n)
	_, why := alone.place(n, &Cursor{})
	return why.Fits()
}

// inside reports whether a need is to be placed in an advance reservation, which
// one, and why it can't be.
func (c *Cluster) inside(n *Need) (r *Cluster, why reason.Reason, inside bool) {
	j := n.Job
	if j.AR == 0 || c.ar != nil {
		return nil, reason.Reason{}, false
	}
	id := strconv.Itoa(int(j.AR))
	if r = c.clusterOf(j.AR); r == c || r.ar.Over() {
		return nil, reason.Reason{Code: reason.ARUnknown, What: id}, true
	}
	r.find.span.Now = c.find.span.Now
	switch a := r.ar; {
	case !c.site.PermitsAR(a, j.Owner, j.Group):
		why = reason.Reason{Code: reason.NoAccessAR, What: id}
	case a.State == grid.ARWaiting, a.State == grid.ARWarning:
		why = reason.Reason{Code: reason.ARWaits, What: id}
	case a.State == grid.ARError && a.ErrorHandlingHard:
		why = reason.Reason{Code: reason.ARInError, What: id}
	case r.find.end(c.find.span.Now, n) > a.End:
		why = reason.Reason{Code: reason.ARTooShort, What: id}
	}
	return r, why, true
}

// explainInside is Explain for a job of an advance reservation.
func (c *Cluster) explainInside(n *Need, why reason.Reason, most int) (out []reason.Reason) {
	r, outside, _ := c.inside(n)
	if !outside.Fits() {
		return []reason.Reason{outside}
	}
	for _, in := range c.site.Instances {
		if _, holds := r.site.InstAt[in.Name]; !holds && len(out) < most {
			out = append(out, reason.Reason{Code: reason.NotReserved, Object: in.Name, What: strconv.Itoa(int(r.ar.ID))})
		}
	}
	return append(out, r.Explain(n, why, most-len(out))...)
}
