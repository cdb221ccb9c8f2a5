package core

import (
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

const (
	// reportTasks bounds the attempts of one report, but for a Hello.
	reportTasks = 1000
	// retrySeconds is the wait after a first report without answer; it doubles
	// up to retryMax.
	retrySeconds = 0.1
	retryMax     = 5.0
	// settleSeconds is how long a start may wait to be reported: an attempt that has
	// ended by then is reported once, not twice.
	settleSeconds = 0.01
)

// markDue has the state of an attempt reported at once.
func (c *Core) markDue(a *attempt) {
	c.urgent = true
	if !a.due {
		a.due = true
		c.due = append(c.due, a.key)
	}
}

// markStartsDue has starts reported whose time has come.
func (c *Core) markStartsDue(now grid.Time) {
	n := 0
	for n < len(c.fresh) && c.fresh[n].at <= now {
		if a := c.attempts[c.fresh[n].attempt]; a != nil && a.state == plan.Running {
			c.markDue(a)
		}
		n++
	}
	c.fresh = c.fresh[:copy(c.fresh, c.fresh[n:])]
}

// markLateDue has the ends reported again that qmaster has not acknowledged.
func (c *Core) markLateDue() {
	for _, k := range c.late {
		if a := c.attempts[k]; a != nil {
			c.markDue(a)
		}
	}
	c.late = c.late[:0]
}

// sendReport sends what is due, unless a report is in flight or qmaster has just
// failed to answer.
func (c *Core) sendReport(now grid.Time, r *Ready) {
	if !c.listed || c.inFlight || now < c.retryAt || !c.hello && !c.urgent {
		return
	}
	c.seq++
	m := &report.Report{Host: c.host, Incarnation: c.incarnation, Seq: c.seq, Hello: c.hello, Conf: c.follows}
	c.flight = c.flight[:0]
	if c.hello {
		m.Load = c.load
		for _, k := range c.due {
			if a := c.attempts[k]; a != nil {
				a.due = false
			}
		}
		c.due, c.late, c.fresh = c.due[:0], c.late[:0], c.fresh[:0]
		for _, k := range c.sortedKeys() {
			c.addToReport(m, c.attempts[k])
		}
	} else {
		n := 0
		for _, k := range c.due {
			if len(m.Tasks) == reportTasks {
				break
			}
			n++
			if a := c.attempts[k]; a != nil && a.due { // not: it was delivered anew since, and is reported already
				a.due = false
				c.addToReport(m, a)
			}
		}
		c.due = c.due[:copy(c.due, c.due[n:])]
	}
	c.hello, c.urgent = false, len(c.due) > 0
	if !m.Hello && len(m.Tasks) == 0 {
		c.seq--
		return
	}
	c.inFlight = true
	r.Report = m
}

// addToReport puts an attempt into a report. One that the shepherd has not accepted yet is
// left out, as if it had not been delivered.
func (c *Core) addToReport(m *report.Report, a *attempt) {
	if a.state == plan.Wanted || a.doomed {
		return
	}
	t := report.Task{Attempt: a.key, Phase: report.Running, Start: a.began, Usage: a.usage, Binding: c.bindingText(a.key),
		Suspended: a.asked == report.Suspend,
		Limits:    a.limits, Refused: a.refused, RefusedText: a.refusedText}
	if a.state == plan.Ended {
		t.Phase, t.Result = report.Ended, a.result
	}
	m.Tasks = append(m.Tasks, t)
	c.flight = append(c.flight, reportedState{a.key, a.state})
}

// handleReceipt applies a receipt: an end that qmaster has is removed, an attempt that it
// does not know is terminated, an end that it did not acknowledge is repeated later. The
// receipt is about the states in the report: an attempt that ended since is due again.
func (c *Core) handleReceipt(now grid.Time, m report.Receipt, r *Ready) {
	if !c.inFlight {
		return
	}
	if !c.followEpoch(m.Epoch) {
		r.Refused = m.Epoch
		c.handleUnanswered(now)
		return
	}
	c.inFlight, c.failures, c.retryAt = false, 0, 0
	for _, k := range m.Drop {
		if a := c.attempts[k]; a != nil {
			c.dropUnknown(now, a, r)
		}
	}
	have := make(map[report.Attempt]bool, len(m.Have))
	for _, k := range m.Have {
		have[k] = true
	}
	for _, s := range c.flight {
		a := c.attempts[s.attempt]
		switch {
		case a == nil || s.state != plan.Ended || a.state != plan.Ended: // it may have been delivered anew since
		case have[s.attempt]:
			c.forgetAttempt(a, r)
		default:
			c.late = append(c.late, s.attempt)
		}
	}
}

// dropUnknown terminates and removes an attempt that qmaster does not know.
func (c *Core) dropUnknown(now grid.Time, a *attempt, r *Ready) {
	a.doomed = true
	if a.state == plan.Ended {
		c.forgetAttempt(a, r)
		return
	}
	c.requestSignal(now, a, report.Terminate, r)
}

// handleUnanswered ends the wait for a receipt. The next report has the whole list: another
// qmaster may receive it.
func (c *Core) handleUnanswered(now grid.Time) {
	if !c.inFlight {
		return
	}
	c.inFlight, c.hello = false, true
	wait := min(retrySeconds*float64(uint64(1)<<min(c.failures, 10)), retryMax)
	c.failures++
	c.retryAt = now.Add(wait)
}

// handleSampled applies load values and usage. Usage that has not changed is not reported.
func (c *Core) handleSampled(in Sampled, r *Ready) {
	for i := range in.Usage {
		u := &in.Usage[i]
		a := c.attempts[u.Attempt]
		if a == nil || a.state != plan.Running {
			continue
		}
		if !usedMore(a.usage, u.Usage) && !(c.conf.Reserved && u.Usage.WallSeconds > a.usage.WallSeconds) {
			continue
		}
		a.usage = u.Usage
		c.markDue(a)
	}
	if in.Load == nil {
		return
	}
	in.Load.Values = c.topologyInUse(in.Load.Values)
	c.load = in.Load
	if len(in.Global) > 0 {
		c.publishLoad(grid.GlobalHost, &report.Load{Values: in.Global, At: in.Load.At}, r)
	}
	c.publishLoad(c.host, in.Load, r)
}

// publishLoad adds a load report. They are numbered on their own: they may
// overtake other reports.
func (c *Core) publishLoad(host string, load *report.Load, r *Ready) {
	c.loadSeq++
	r.Load = append(r.Load, report.Report{Host: host, Incarnation: c.incarnation, Seq: c.loadSeq, Load: load,
		Conf: c.follows})
}

// usedMore reports whether a job has used more of what does not grow with time alone.
func usedMore(old, new grid.Usage) bool {
	old.WallSeconds = new.WallSeconds
	old.Mem = new.Mem // grows with time alone
	return old != new
}
