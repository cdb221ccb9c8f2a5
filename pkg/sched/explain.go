package sched

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// offersOnly is the reason of a level that cannot give one slot: what it has
// left of the narrowest attribute.
func (c *search) offersOnly(code reason.Code, object, letter string, l level, n *Need, attr int) reason.Reason {
	if attr < 0 {
		return reason.Reason{Code: reason.QueueUnavailable, Object: object}
	}
	a := &c.site.Complex.List[attr]
	if a.Column == c.site.Complex.Threads {
		return reason.Reason{Code: reason.NotBindable, Object: object, What: n.Job.Binding.Options(),
			Offer: c.unitsOffered(&l, n)}
	}
	offer, request := "", requestText(n.Job)
	if attr == 0 {
		request = "slots=1"
	}
	cap, left, due := complex.Unlimited, 0.0, ""
	if a.Column >= 0 {
		free := func(l *level) (cap, left float64) {
			cap = l.Supply.Capacity[a.Column] - c.outOfService(l, a.Column, c.span.Ahead())
			return cap, cap - l.InUse(a.Column, &c.span)
		}
		if cap, left = free(&l); left < cap-l.Used(a.Column) {
			due = " due to a reservation"
		}
		if l.whole != nil && !c.span.Ahead() {
			if all, rest := free(l.whole); rest < left {
				cap, left, due = all, rest, " until earlier jobs have ended"
			}
		}
		if some, with := c.selectedOf(&l, n, attr); some < left {
			left, due = some, " due to a reservation"
			if with != nil {
				due = " with " + with.String()
			}
		}
	}
	load, reported := 0.0, false
	if l.isHost {
		load, reported = c.loadOf(l.load, l.factor, attr)
	}
	origin := "l"
	if l.factor > 0 && perSlot(c.site, l.load, attr) != 0 {
		origin = "L"
	}
	switch {
	case a.Exclusive:
		offer = "exclusive resource (" + a.Name + ") is already in use"
	case cap < complex.Unlimited && !(reported && load < cap-l.Used(a.Column)):
		offer = "it offers only " + letter + "c:" + a.Name + "=" + a.Format(left) + due
	case reported:
		offer = "it offers only " + letter + origin + ":" + a.Name + "=" + a.Format(load)
	case l.isHost:
		text, _ := l.load.Text(a.Name)
		offer = "it offers only " + letter + "l:" + a.Name + "=" + text
	}
	return reason.Reason{Code: code, Object: object, What: request, Offer: offer}
}

// Explain returns why no job of the need can start, one reason per instance, host or PE; then why the last attempt as
// a whole failed, if that says more. They are at most `most`.
func (c *Cluster) Explain(n *Need, why reason.Reason, most int) []reason.Reason {
	var out []reason.Reason
	seen := map[reason.Reason]bool{}
	add := func(r reason.Reason) bool {
		if !r.Fits() && !seen[r] && !r.Nowhere() {
			seen[r] = true
			out = append(out, r)
		}
		return len(out) < most-1
	}
	if n.unknown != "" || why.Code == reason.NotGlobally || why.Code == reason.CkptUnknown {
		return []reason.Reason{why}
	}
	if n.Job.AR != 0 && c.ar == nil {
		return c.explainInside(n, why, most)
	}
	for _, in := range c.site.Instances {
		if r := c.stateReason(in); !r.Fits() {
			continue // reported once for all jobs: see Closed
		}
		if !add(c.find.whyNot(n, in)) {
			break
		}
	}
	add(why)
	return out
}

// whyNot is why one instance cannot take a job.
func (c *search) whyNot(n *Need, in *site.Instance) reason.Reason {
	if r := c.static(n, in); !r.Fits() {
		return r
	}
	now := c.nows.At(in.Host.Index)
	if c.ledger.At(in.Host.Index).Used(in.Place, 0) >= in.Supply.Capacity[0] || c.alarm(in, now).of != nil {
		return reason.Reason{} // reported once for all jobs
	}
	if c.closedByCalendar(in) {
		return reason.Reason{Code: reason.QueueCloses, Object: in.Name}
	}
	if attr := c.unknownAttr(n, grid.AllTasks, in, now); attr >= 0 {
		return reason.Reason{Code: reason.NotAtQueue, Object: in.Name, What: requestText(n.Job),
			Offer: "job requests unknown resource (" + c.site.Complex.List[attr].Name + ")"}
	}
	if slave, master, why := c.roles(n, in, now); !slave && !master {
		return why
	}
	l := c.atHost(in.Host)
	if r, attr := c.slots(l, n); !r.any(n) {
		return c.offersOnly(reason.NotAtHost, in.Host.Name, "h", l, n, attr)
	}
	l = c.atInstance(in)
	if r, attr := c.slots(l, n); !r.any(n) {
		return c.offersOnly(reason.NotAtQueue, in.Name, "q", l, n, attr)
	}
	pe := ""
	if len(n.pes) > 0 {
		pe = c.site.PEs[n.pes[0]].Name
	}
	_, hit := c.quotaSlots(n, pe, in, nil)
	return hit
}

// Closed returns which instances take no jobs at all: what holds for every
// pending job, reported once. At most `most` reasons.
func (c *Cluster) Closed(most int) []reason.Reason {
	c.settle()
	var out []reason.Reason
	for _, in := range c.site.Instances {
		if len(out) >= most {
			break
		}
		now := c.nows.At(in.Host.Index)
		r := c.stateReason(in)
		if r.Fits() {
			if c.ledger.At(in.Host.Index).Used(in.Place, 0) >= in.Supply.Capacity[0] {
				r = reason.Reason{Code: reason.QueueFull, Object: in.Name}
			} else {
				r = c.alarming(in, now)
			}
		}
		if !r.Fits() {
			out = append(out, r)
		}
	}
	if len(out) > 0 && c.order.Rows.Len() == 0 {
		out = append(out, reason.Reason{Code: reason.AllQueuesBusy})
	}
	return out
}

// alarming is the alarm of an instance as a reason.
func (c *Cluster) alarming(in *site.Instance, now *hostNow) reason.Reason {
	a := c.alarm(in, now)
	if a.of == nil {
		return reason.Reason{}
	}
	return reason.Reason{Code: a.code, Object: in.Name, What: c.alarmText(in, now, a.of, a.factor)}
}

// alarmText explains an alarm: np_load_avg=1.800000 (no load adjustment) >=
// 1.75, or (= 0.300000 + 0.50 * 24.000000 with nproc=8).
func (c *Cluster) alarmText(in *site.Instance, now *hostNow, t *complex.Threshold, factor float64) string {
	if t.Attr < 0 {
		return "unknown complex attribute " + t.Name
	}
	a := &c.site.Complex.List[t.Attr]
	v, ok := c.thresholdValue(in, now, factor, t)
	if !ok {
		return "no value for attribute " + t.Name
	}
	adjusted := " (no load adjustment)"
	if amount := perSlot(c.site, now.load, t.Attr) * factor; amount != 0 {
		if !a.IsLoad() {
			amount = -amount
		}
		raw, _ := c.site.Policy.AdjustmentFor(t.Attr)
		adjusted = fmt.Sprintf(" (= %s + %.2f * %f with nproc=%d)", a.Format(v-amount), raw, factor, now.load.Processors)
	}
	return t.Name + "=" + a.Format(v) + adjusted + " " + string(a.Relop) + " " + t.Text
}
