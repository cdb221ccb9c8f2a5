package core

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// The tasks of a tightly integrated parallel job, sge_pe(5) control_slaves: what
// the job starts on its hosts with qrsh -inherit. They are signalled and
// accounted with their job, and none outlives it: when the script has ended the
// task is exiting and its PE tasks are ended; only then its own end is taken from
// its execution daemon, which keeps it until then.

// startTask starts a PE task, or says why not.
func (c *Core) startTask(in UserRequest, b *gdi.StartTask) {
	t, g, text := validate.MayStartTask(c.cell, in.Request, b)
	if text != "" {
		c.reply(in.Ref, gdi.Deny(gdi.StatusDenied, text))
		return
	}
	p := &grid.PETask{
		Job: t.Job, Task: t.ID, ID: fmt.Sprintf("%d.%s", c.cell.NextPETask(t, g.Host), g.Host), Host: g.Host,
		Status: grid.Transfering, Start: c.cell.Now, Attempt: t.Attempt, Launch: b.Launch,
	}
	if t.Limits != nil {
		p.Limits = t.Limits.Version
	}
	c.emit(events.Add(p))
	c.outbox.deliverPETask(t, p)
	c.answerTaskStarted(in.Ref, p.ID)
}

func (s *step) answerTaskStarted(ref uint64, id string) {
	s.reply(ref, gdi.Done(""))
	s.lastReply().PETask = id
}

// peAttempt takes in the report of a PE task.
func (c *Core) peAttempt(host string, r report.Task) uptake {
	p := c.state.PETask(grid.Key{ID: r.Attempt.Job, Sub: r.Attempt.Task, Name: r.Attempt.PETask})
	if p == nil || p.Attempt != r.Attempt.N || p.Host != host {
		return unknown
	}
	if r.Phase == report.Ended {
		c.peEnded(p, r.Usage, *r.Result)
		return taken
	}
	n := *p
	if p.Status == grid.Transfering { // now its host has it
		n.Status, n.Launch = grid.Running, nil
		if r.Start > 0 {
			n.Start = r.Start
		}
	}
	if r.Usage != (grid.Usage{}) {
		c.bookings.debitPETask(c.state.Job(p.Job), p, r.Usage, false)
		if n.Usage = r.Usage; n.Usage != p.Usage && c.cell.InterimDue(p.Start, p.Interim) &&
			!c.cell.SumsUp(c.state.Task(p.Job, p.Task)) {
			n.Interim = grid.InterimOf(c.cell.Now, n.Usage)
		}
	}
	if n.Status != p.Status || n.Usage != p.Usage {
		c.emit(events.Mod(&n))
	}
	if n.Status != p.Status {
		c.waiters.pe.started(&c.step, p.Key())
	}
	return taken
}

// peEnded takes a PE task to its end. One that went wrong takes its job with it:
// the rest of the job would wait for it.
func (c *Core) peEnded(p *grid.PETask, used grid.Usage, r report.Result) {
	j, t := c.state.Job(p.Job), c.state.Task(p.Job, p.Task)
	c.peOver(j, t, p, used, r)
	switch {
	case t.State&grid.StateExiting != 0:
		if len(c.cell.LivingPETasks(t)) == 0 { // now the end of the job may be reported
			c.outbox.signalHost(t.Grants[0].Host, t, cell.AttemptOf(t))
		}
	case cell.IsEnding(t) || r.Failed == report.NoFailure:
	case r.Failed.Next() == report.AgainIfRerunnable && c.cluster.Rerunnable(j, t):
		c.reschedule(t)
	default:
		n := *t
		n.Reason = fmt.Sprintf("tightly integrated parallel task %d.%d task %s failed - killing job", p.Job, p.Task, p.ID)
		c.kill(&n, "qmaster@"+p.Host)
	}
}

// peLost ends a PE task of which nothing more will be known; should it be there
// still, it is to end.
func (c *Core) peLost(j *grid.Job, t *grid.JATask, p *grid.PETask) {
	c.peOver(j, t, p, p.Usage, lost(p, c.cell.Now, "its job ended, and host "+p.Host+" had not reported its end"))
	c.outbox.dropAttempt(p.Host, cell.PEAttemptOf(p))
}

func lost(p *grid.PETask, now grid.Time, why string) report.Result {
	return report.Result{Start: p.Start, End: now, Failed: report.FailedNoStatus, Text: why}
}

// peOver books a PE task that has ended, emits its accounting record if the parallel
// environment wants one, and adds it to past_usage.
func (c *Core) peOver(j *grid.Job, t *grid.JATask, p *grid.PETask, used grid.Usage, r report.Result) {
	c.bookings.debitPETask(j, p, used, true)
	g, _ := cell.GrantOn(t, p.Host)
	a := c.cell.AccountingRecord(j, t, g, r)
	a.PETask, a.Priority, a.Submit, a.Usage = p.ID, 0, p.Start, used
	if !c.cell.SumsUp(t) {
		c.emit(events.Add(a))
	}
	past := grid.PETask{Job: p.Job, Task: p.Task, ID: grid.PastUsage, Attempt: p.Attempt}
	op := events.Add
	if old := c.cell.PastUsage(t); old != nil {
		past, op = *old, events.Mod
	}
	past.Usage = past.Usage.Beside(used)
	past.Last = lastWith(past.Last, p)
	c.emit(op(&past))
	c.emit(events.Del(grid.KindPETask, p.Key()))
	c.waiters.pe.ended(&c.step, p.Key(), a)
}

// lastWith notes the number of a PE task that has ended, in a list of its own.
func lastWith(last []grid.LastTask, p *grid.PETask) []grid.LastTask {
	out := make([]grid.LastTask, 0, len(last)+1)
	n := cell.PETaskNumber(p)
	for _, l := range last {
		if l.Host == p.Host {
			n = max(n, l.Number)
		} else {
			out = append(out, l)
		}
	}
	return append(out, grid.LastTask{Host: p.Host, Number: n})
}

// dropPast forgets the PE tasks of an attempt that is over.
func (s *step) dropPast(t *grid.JATask) {
	if past := s.cell.PastUsage(t); past != nil {
		s.emit(events.Del(grid.KindPETask, past.Key()))
	}
}

// endPETasks ends the PE tasks of a task whose script has ended. It returns whether the
// task's own end can be accepted now: it waits for PE tasks, except those on hosts that
// are unknown (max_unheard has passed).
func (c *Core) endPETasks(t *grid.JATask) bool {
	wait := false
	for _, p := range c.cell.LivingPETasks(t) {
		l := c.state.Load(p.Host)
		wait = wait || l == nil || !l.Unheard
	}
	if wait && t.State&grid.StateExiting == 0 {
		n := *t
		n.State |= grid.StateExiting
		c.emit(events.Mod(&n))
		for _, p := range c.cell.LivingPETasks(&n) {
			c.outbox.signalHost(p.Host, &n, cell.PEAttemptOf(p))
		}
	}
	return !wait
}

// endPETasksOn gives up the PE tasks on a host that has become unknown, where the end of
// their job waits for them.
func (c *Core) endPETasksOn(host string) {
	for _, t := range c.state.OnHost(host) {
		if t.State&grid.StateExiting != 0 && c.endPETasks(t) {
			c.outbox.signalHost(t.Grants[0].Host, t, cell.AttemptOf(t))
		}
	}
}

// slaveLost starts a task anew that has lost one of its hosts, where its parallel
// environment knows what runs there.
func (c *Core) slaveLost(t *grid.JATask) {
	if pe := c.state.PE(t.PE); pe != nil && pe.ControlSlaves && t.State&grid.StateExiting == 0 {
		c.reschedule(t)
	}
}

// reconcilePETasks holds a host's full list against the PE tasks of a task.
func (c *Core) reconcilePETasks(t *grid.JATask, host string, there map[report.Attempt]report.Task) {
	for _, p := range c.cell.LivingPETasks(t) {
		t = c.state.Task(t.Job, t.ID) // the end of one may be that of all
		a := cell.PEAttemptOf(p)
		switch r, is := there[a]; {
		case p.Host != host:
		case is:
			c.outbox.compareSuspension(t, host, r, true)
		case p.Status == grid.Transfering: // it may be on its way: what is to end begins, and ends
			c.outbox.deliverPETask(t, p)
		default:
			c.peEnded(p, p.Usage, lost(p, c.cell.Now, c.lostOn(host, a)))
		}
	}
}
