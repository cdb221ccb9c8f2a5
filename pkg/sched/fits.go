package sched

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/reason"
)

// Fits reports whether a task of the job may start on exactly these grants now:
// the queue instances exist and take jobs, the job has access to them, and
// every level (queue instance, host, cluster, PE) has what it takes. It is
// qmaster's check of a start order, on the same tests with which the
// scheduler found the place. Load alarm and soft requests are the
// scheduler's word and not asked again. Versions and the task's state are the
// caller's.
func (c *Cluster) Fits(j *grid.Job, grants []grid.Grant, pe string) reason.Reason {
	n := c.needOf(j)
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return why
		}
		return r.Fits(j, grants, pe)
	}
	c.find.setWindow(c.find.span.Now, n)
	if n.unknown != "" {
		return reason.Reason{Code: reason.UnknownResource, What: n.unknown}
	}
	total := 0
	for i, g := range grants {
		total += int(g.Slots)
		if r := c.find.fitsAt(n, grants, i, pe); !r.Fits() {
			return r
		}
	}
	if r, narrow := c.find.slots(c.find.atGlobal(), n); !r.holds(total, true) {
		return c.find.offersOnly(reason.NotGlobally, "", "g", c.find.atGlobal(), n, narrow)
	}
	if l := c.find.atGlobal(); !c.find.hostsFit(&l, n, hostsOf(grants)) {
		return c.find.offersOnly(reason.NotGlobally, "", "g", l, n, c.find.perHostAttr(n))
	}
	if r := c.find.fitsQuotas(n, grants, pe); !r.Fits() {
		return r
	}
	return c.find.fitsPE(n, pe, uint32(total))
}

// fitsAt checks one grant. Slots that the task gets in other elements of the
// list on the same host count too.
func (c *search) fitsAt(n *Need, grants []grid.Grant, i int, pe string) reason.Reason {
	g := grants[i]
	in := c.site.Granted(g)
	if in == nil {
		return reason.Reason{Code: reason.NoSuchQueue, Object: g.Instance()}
	}
	if r := c.stateReason(in); !r.Fits() {
		return r
	}
	if c.closedByCalendar(in) {
		return reason.Reason{Code: reason.QueueCloses, Object: in.Name}
	}
	if r := c.static(n, in); !r.Fits() {
		return r
	}
	if pe != "" && !in.PEs.Has(pe) {
		return reason.Reason{Code: reason.NotInPEList, Object: in.Name, What: pe}
	}
	now := c.nows.At(in.Host.Index)
	if slave, master, why := c.roles(n, in, now); i == 0 && !master || (i > 0 || g.Slots > 1) && !slave {
		return why
	}
	onQueue, onHost := 0, 0
	for _, o := range grants {
		if o.Host == g.Host {
			onHost += int(o.Slots)
			if o.Queue == g.Queue {
				onQueue += int(o.Slots)
			}
		}
	}
	if attr := c.unknownAttr(n, grid.AllTasks, in, now); attr >= 0 {
		return reason.Reason{Code: reason.UnknownResource, What: c.site.Complex.List[attr].Name}
	}
	first := grants[0]
	if r, narrow := c.slots(c.atInstance(in), n); !r.holds(onQueue, g.Host == first.Host && g.Queue == first.Queue) {
		if narrow == 0 {
			return reason.Reason{Code: reason.GrantSlots, Object: in.Name, Slots: r.slots}
		}
		return c.offersOnly(reason.NotAtQueue, in.Name, "q", c.atInstance(in), n, narrow)
	}
	l := c.atHost(in.Host)
	l.factor = 0 // the adjustments of a moment are the scheduler's
	if r, narrow := c.slots(l, n); !r.holds(onHost, g.Host == first.Host) {
		return c.offersOnly(reason.NotAtHost, in.Host.Name, "h", l, n, narrow)
	}
	return reason.Reason{}
}

func (c *search) fitsPE(n *Need, pe string, slots uint32) reason.Reason {
	if n.Job.PE == "" {
		if slots != 1 || pe != "" {
			return reason.Reason{Code: reason.PENoMatch, Object: pe}
		}
		return reason.Reason{}
	}
	i := c.site.PENamed(pe)
	if i < 0 || !pattern.Match(n.Job.PE, pe) {
		return reason.Reason{Code: reason.PENoMatch, Object: n.Job.PE}
	}
	p := c.site.PEs[i]
	if !c.site.Permits(n.Job.Owner, n.Job.Group, p.UserLists, p.XUserLists) {
		return reason.Reason{Code: reason.NoAccessPE, Object: pe}
	}
	if !n.Job.PERange.Contains(slots) {
		return reason.Reason{Code: reason.PETotal, Object: pe}
	}
	if free := c.peFree(i); free < int(slots) {
		return reason.Reason{Code: reason.PEOffersOnly, Object: pe, Slots: free}
	}
	return reason.Reason{}
}
