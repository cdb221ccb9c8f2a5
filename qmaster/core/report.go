package core

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// report applies a report of an execution daemon: registration, load, changes of
// attempts. The receipt lists what is durable with this list. A report of a host that
// cannot belong to the cell is ignored.
func (c *Core) report(in Report) {
	receipt := &report.Receipt{Epoch: c.epoch}
	in.InLines()
	if c.state.ExecHost(in.Host) == nil {
		if in.Host == grid.GlobalHost || validate.Name("host", in.Host) != "" {
			c.ready.Answers = append(c.ready.Answers, Answer{Ref: in.Ref, Receipt: receipt})
			return
		}
		c.join(in.Host)
	}
	if in.Leaving {
		c.outbox.expectReturn(in.Host)
	}
	c.outbox.recordContact(in.Report)
	if in.Load != nil {
		c.storeSensedHealth(in.Host, in.Load.Values)
	}
	if in.Hello || in.Load != nil {
		c.outbox.conformConfig(in.Report)
	}
	for _, t := range in.Tasks {
		t.Usage, t.Start = t.Usage.Measured(), min(t.Start, c.cell.Now)
		switch c.attempt(in.Host, t) {
		case taken:
			receipt.Have = append(receipt.Have, t.Attempt)
			if t.Phase == report.Running && !in.Hello {
				c.outbox.compareSuspension(c.state.Task(t.Attempt.Job, t.Attempt.Task), in.Host, t, false)
			}
			if t.Phase == report.Running {
				c.limited(in.Host, t, in.Hello)
			}
		case unknown:
			if c.isForgotten(t) {
				c.outbox.takeForgotten(in.Host, t, receipt)
			} else {
				receipt.Drop = append(receipt.Drop, t.Attempt)
			}
		}
	}
	c.mailForgotten(in.Host)
	if in.Hello {
		c.outbox.hosts.of(in.Host).listed = true
		c.reconcile(in.Report)
	}
	c.ready.Answers = append(c.ready.Answers, Answer{Ref: in.Ref, Receipt: receipt})
}

// attempt takes in one task's report.
func (c *Core) attempt(host string, r report.Task) uptake {
	if r.Phase == report.Ended && r.Result == nil {
		return unknown
	}
	if r.Attempt.PETask != "" {
		return c.peAttempt(host, r)
	}
	t := c.state.Task(r.Attempt.Job, r.Attempt.Task)
	if t == nil || !t.Started() || t.Attempt != r.Attempt.N || t.Grants[0].Host != host {
		return unknown
	}
	switch r.Phase {
	case report.Running:
		c.running(t, r)
		c.used(r)
	case report.Ended:
		if !c.endPETasks(t) {
			return later
		}
		c.outbox.hosts.of(host).confirm(t.Key())
		c.ended(c.state.Task(t.Job, t.ID), r)
	}
	return taken
}

// used keeps a running task's usage when it has grown or has to be reported.
func (c *Core) used(r report.Task) {
	t := c.state.Task(r.Attempt.Job, r.Attempt.Task)
	due := c.cell.InterimDue(t.Start, t.Interim)
	if r.Usage == (grid.Usage{}) || r.Usage == t.Usage && !due {
		return
	}
	c.bookings.debitTask(c.state.Job(t.Job), t, r.Usage, false, false)
	n := *t
	n.Usage = r.Usage
	if due {
		n.Interim = grid.InterimOf(c.cell.Now, n.Usage)
	}
	c.emit(events.Mod(&n))
}

// ended decides what the end of an attempt leads to; the first rule that
// matches wins (protocol reference, 13.4).
func (c *Core) ended(t *grid.JATask, r report.Task) {
	j := c.state.Job(t.Job)
	n := *t
	n.Usage = r.Usage
	t = &n
	res := *r.Result
	deleted := t.State&grid.StateDeleted != 0
	if !deleted {
		c.cell.ApplyExitStatus(&res)
	}
	fault, next := c.cell.FaultOf(j, t, res.Failed), res.Failed.Next()
	if !deleted {
		c.mailFailed(j, t, res, fault)
	}
	switch {
	case deleted, fault == report.JobFault && j.Spec.NoError:
		c.account(j, t, res, false)
		c.finish(t)
	case fault == report.JobFault:
		c.account(j, t, res, true)
		c.makePending(t, grid.StateError, res.Text)
	case fault != report.NoFault && next == report.Over:
		c.account(j, t, res, false)
		c.setErrorState(t, fault, res.Text)
		c.finish(t)
	case fault != report.NoFault:
		c.account(j, t, res, true)
		c.setErrorState(t, fault, res.Text)
		c.makePending(t, 0, res.Text)
	case t.Kill == grid.Rescheduled:
		res.Failed, res.Text = report.FailedRestart, report.FailedRestart.String()
		c.account(j, t, res, true)
		c.restart(t)
	case next == report.Again, next == report.AgainIfRerunnable && c.cluster.Rerunnable(j, t):
		c.account(j, t, res, true)
		c.restart(t)
	default:
		c.account(j, t, res, false)
		c.finish(t)
	}
}

// setErrorState puts the queue instance of a task, or all of its host, into error state.
func (c *Core) setErrorState(t *grid.JATask, fault report.Fault, text string) {
	g := t.Grants[0]
	for _, qi := range c.state.QInstances() {
		if qi.Host != g.Host || fault != report.HostFault && qi.Queue != g.Queue {
			continue
		}
		message := "queue " + qi.Queue + " marked QERROR as result of job " + strconv.FormatUint(uint64(t.Job), 10) +
			"'s failure at host " + g.Host
		if text != "" {
			message += ": " + text
		}
		c.setQueueState(qi, qi.State|grid.QueueError, message)
	}
}

// reconcile holds an execution daemon's full list against the state: what it
// should have and does not is delivered again; what was running and is not
// there any more is lost.
func (c *Core) reconcile(r report.Report) {
	there := map[report.Attempt]report.Task{}
	for _, t := range r.Tasks {
		there[t.Attempt] = t
	}
	for _, t := range c.state.OnHost(r.Host) {
		c.reconcilePETasks(t, r.Host, there)
		if t = c.state.Task(t.Job, t.ID); t.Grants[0].Host != r.Host {
			continue
		}
		a := cell.AttemptOf(t)
		switch has, is := there[a]; {
		case is:
			c.outbox.compareSuspension(t, r.Host, has, true)
		case t.Status == grid.Transfering:
			c.outbox.deliverTask(t)
		case c.endPETasks(t):
			c.ended(c.state.Task(t.Job, t.ID), report.Task{Attempt: a, Usage: t.Usage, Result: &report.Result{
				Start: t.Start, End: c.cell.Now, Failed: report.FailedNoStatus, Text: c.lostOn(r.Host, a)}})
		}
	}
}

// allHosts is the host group that new execution hosts join.
const allHosts = "@allhosts"

// join takes a new execution host in, as Grid Engine's installation of a host
// does: it may administer and submit, and belongs to @allhosts.
func (c *Core) join(host string) {
	c.addMissing(&grid.ExecHost{Name: host})
	c.addMissing(&grid.AdminHost{Name: host})
	c.addMissing(&grid.SubmitHost{Name: host})
	if g := c.state.HGroup(allHosts); g != nil && !g.HostList.Has(host) {
		n := *g
		n.HostList = append(slices.Clone(g.HostList), host)
		n.Version++
		c.emit(events.Mod(&n))
		hgroupChanged(c, g, &n)
	}
}
