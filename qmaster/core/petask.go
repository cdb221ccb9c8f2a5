package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The tasks of a tightly integrated parallel job, sge_pe(5) control_slaves: what
// the job starts on its hosts with qrsh -inherit. They are signalled and
// accounted with their job, and none outlives it: when the script has ended the
// task is exiting and its PE tasks are ended; only then its own end is taken from
// its execution daemon, which keeps it until then.

// startTask starts a PE task, or says why not.
func (c *Core) startTask(in Request, b *gdi.StartTask) {
	t, g, text := c.mayStartTask(in.Request, b)
	if text != "" {
		c.reply(in.Ref, gdi.Deny(gdi.StatusDenied, text))
		return
	}
	p := &grid.PETask{
		Job: t.Job, Task: t.ID, ID: fmt.Sprintf("%d.%s", c.nextPETask(t, g.Host), g.Host), Host: g.Host,
		Status: grid.Transfering, Start: c.now, Attempt: t.Attempt, Launch: b.Launch,
	}
	if t.Limits != nil {
		p.Limits = t.Limits.Version
	}
	c.emit(events.Add(p))
	c.deliverPETask(t, p)
	c.taskStarted(in.Ref, p.ID)
}

func (c *Core) taskStarted(ref uint64, id string) {
	c.reply(ref, gdi.Done(""))
	c.lastReply().PETask = id
}

// mayStartTask finds the task and the grant to start a PE task in; the text says
// why it may not be, as qrsh(1) says after "executing task of job 7 failed".
func (c *Core) mayStartTask(r gdi.Request, b *gdi.StartTask) (t *grid.JATask, g grid.Grant, text string) {
	j := c.state.Job(b.Job)
	t = c.state.Task(b.Job, b.Task)
	switch {
	case len(b.Launch.Args) == 0 && b.Launch.Connect == "":
		return nil, g, "no command to execute"
	case j == nil || t == nil || !t.Started() || dying(t):
		return nil, g, "the job is not running"
	case j.Owner != r.User:
		return nil, g, fmt.Sprintf("the job does not belong to user %q", r.User)
	}
	g, slots := grantOn(t, b.Host)
	pe := c.state.PE(t.PE)
	switch l := c.state.Load(g.Host); {
	case slots == 0 && c.state.ExecHost(b.Host) == nil:
		return nil, g, fmt.Sprintf("failed sending task to execd@%s: can't resolve host name", b.Host)
	case slots == 0:
		return nil, g, notAccepted(b.Host, "the job has no slots there")
	case pe == nil || !pe.ControlSlaves:
		return nil, g, notAccepted(b.Host, fmt.Sprintf("control_slaves of parallel environment %q is FALSE", t.PE))
	case c.peTasksOn(t, pe, g.Host) >= slots:
		why := fmt.Sprintf("the job's slots there are taken (%d)", slots)
		if pe.JobIsFirstTask && t.Grants[0].Host == g.Host {
			why += fmt.Sprintf(", one of them by the job itself: job_is_first_task of parallel environment %q is TRUE", pe.Name)
		}
		return nil, g, notAccepted(b.Host, why)
	case l != nil && l.Unheard:
		return nil, g, fmt.Sprintf("failed sending task to execd@%s: got send error", b.Host)
	}
	return t, g, ""
}

// notAccepted is Grid Engine's refusal, with the reason.
func notAccepted(host, why string) string {
	return fmt.Sprintf("execution daemon on host %q didn't accept task: %s", host, why)
}

// dying reports whether a started task is to end, or its script has.
func dying(t *grid.JATask) bool { return ending(t) || t.State&grid.StateExiting != 0 }

// grantOn is the first grant on a host, and how many slots there are on it in
// all. A name without domain will do: some launchers cut it off.
func grantOn(t *grid.JATask, host string) (first grid.Grant, slots uint32) {
	i := slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return g.Host == host })
	if i < 0 {
		i = slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return grid.SameHost(g.Host, host) })
	}
	if i < 0 {
		return first, 0
	}
	first = t.Grants[i]
	for _, g := range t.Grants {
		if g.Host == first.Host {
			slots += g.Slots
		}
	}
	return first, slots
}

// peTasksOn is how many of a host's slots are taken. With job_is_first_task the
// job's script takes one.
func (c *Core) peTasksOn(t *grid.JATask, pe *grid.PE, host string) (n uint32) {
	if pe.JobIsFirstTask && t.Grants[0].Host == host {
		n++
	}
	for _, p := range c.living(t) {
		if p.Host == host {
			n++
		}
	}
	return n
}

// living are the PE tasks of a task that have not ended.
func (c *Core) living(t *grid.JATask) (ps []*grid.PETask) {
	if t.PE == "" {
		return nil
	}
	for _, p := range c.state.PETasks(t.Job, t.ID) {
		if p.ID != grid.PastUsage {
			ps = append(ps, p)
		}
	}
	return ps
}

// past is past_usage of a task, nil before a PE task has ended.
func (c *Core) past(t *grid.JATask) *grid.PETask {
	if t.PE == "" {
		return nil
	}
	return c.state.PETask(grid.Key{ID: t.Job, Sub: t.ID, Name: grid.PastUsage})
}

// nextPETask counts a host's PE tasks, those that have ended too.
func (c *Core) nextPETask(t *grid.JATask, host string) (n uint32) {
	if past := c.past(t); past != nil {
		for _, l := range past.Last {
			if l.Host == host {
				n = l.Number
			}
		}
	}
	for _, p := range c.living(t) {
		if p.Host == host {
			n = max(n, peTaskNumber(p))
		}
	}
	return n + 1
}

func peTaskNumber(p *grid.PETask) uint32 {
	number, _, _ := strings.Cut(p.ID, ".")
	n, _ := strconv.ParseUint(number, 10, 32)
	return uint32(n)
}

// deliverPETask sends a PE task to its host.
func (c *Core) deliverPETask(t *grid.JATask, p *grid.PETask) {
	g, _ := grantOn(t, p.Host)
	q := c.state.CQueue(g.Queue)
	if q == nil {
		return
	}
	d := c.delivery(c.state.Job(p.Job), t, q, g)
	d.Attempt, d.Start, d.Launch = peAttemptOf(p), p.Start, p.Launch
	c.delivered(p.Host, t, d.Attempt)
}

func peAttemptOf(p *grid.PETask) report.Attempt {
	return report.Attempt{Job: p.Job, Task: p.Task, N: p.Attempt, PETask: p.ID}
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
		c.debitPETask(c.state.Job(p.Job), p, r.Usage, false)
		if n.Usage = r.Usage; n.Usage != p.Usage && c.interimDue(p.Start, p.Interim) && !c.sumsUp(c.state.Task(p.Job, p.Task)) {
			n.Interim = grid.InterimOf(c.now, n.Usage)
		}
	}
	if n.Status != p.Status || n.Usage != p.Usage {
		c.emit(events.Mod(&n))
	}
	if n.Status != p.Status {
		c.waiters.pe.started(c, p.Key())
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
		if len(c.living(t)) == 0 { // now the end of the job may be reported
			c.signalHost(t.Grants[0].Host, t, attemptOf(t))
		}
	case ending(t) || r.Failed == report.NoFailure:
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
	c.peOver(j, t, p, p.Usage, lost(p, c.now))
	c.dropAttempt(p.Host, peAttemptOf(p))
}

func lost(p *grid.PETask, now grid.Time) report.Result {
	return report.Result{Start: p.Start, End: now, Failed: report.FailedNoStatus, Text: report.FailedNoStatus.String()}
}

// peOver books a PE task that has ended, emits its accounting record if the parallel
// environment wants one, and adds it to past_usage.
func (c *Core) peOver(j *grid.Job, t *grid.JATask, p *grid.PETask, used grid.Usage, r report.Result) {
	c.debitPETask(j, p, used, true)
	g, _ := grantOn(t, p.Host)
	a := c.record(j, t, g, r)
	a.PETask, a.Priority, a.Submit, a.Usage = p.ID, 0, p.Start, used
	if !c.sumsUp(t) {
		c.emit(events.Add(a))
	}
	past := grid.PETask{Job: p.Job, Task: p.Task, ID: grid.PastUsage, Attempt: p.Attempt}
	op := events.Add
	if old := c.past(t); old != nil {
		past, op = *old, events.Mod
	}
	past.Usage = past.Usage.Beside(used)
	past.Last = lastWith(past.Last, p)
	c.emit(op(&past))
	c.emit(events.Del(grid.KindPETask, p.Key()))
	c.waiters.pe.ended(c, p.Key(), a)
}

// lastWith notes the number of a PE task that has ended, in a list of its own.
func lastWith(last []grid.LastTask, p *grid.PETask) []grid.LastTask {
	out := make([]grid.LastTask, 0, len(last)+1)
	n := peTaskNumber(p)
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
func (c *Core) dropPast(t *grid.JATask) {
	if past := c.past(t); past != nil {
		c.emit(events.Del(grid.KindPETask, past.Key()))
	}
}

// sumsUp reports whether a task's record holds the usage of its PE tasks too,
// sge_pe(5) accounting_summary; else each has a record of its own.
func (c *Core) sumsUp(t *grid.JATask) bool {
	pe := c.state.PE(t.PE)
	return pe != nil && pe.AccountingSummary
}

// endPETasks ends the PE tasks of a task whose script has ended. It returns whether the
// task's own end can be accepted now: it waits for PE tasks, except those on hosts that
// are unknown (max_unheard has passed).
func (c *Core) endPETasks(t *grid.JATask) bool {
	wait := false
	for _, p := range c.living(t) {
		l := c.state.Load(p.Host)
		wait = wait || l == nil || !l.Unheard
	}
	if wait && t.State&grid.StateExiting == 0 {
		n := *t
		n.State |= grid.StateExiting
		c.emit(events.Mod(&n))
		for _, p := range c.living(&n) {
			c.signalHost(p.Host, &n, peAttemptOf(p))
		}
	}
	return !wait
}

// endPETasksOn gives up the PE tasks on a host that has become unknown, where the end of
// their job waits for them.
func (c *Core) endPETasksOn(host string) {
	for _, t := range c.state.OnHost(host) {
		if t.State&grid.StateExiting != 0 && c.endPETasks(t) {
			c.signalHost(t.Grants[0].Host, t, attemptOf(t))
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
	for _, p := range c.living(t) {
		t = c.state.Task(t.Job, t.ID) // the end of one may be that of all
		a := peAttemptOf(p)
		switch r, is := there[a]; {
		case p.Host != host:
		case is:
			c.stands(t, host, r, true)
		case p.Status == grid.Transfering: // it may be on its way: what is to end begins, and ends
			c.deliverPETask(t, p)
		default:
			c.peEnded(p, p.Usage, lost(p, c.now))
		}
	}
}

// resendPETask sends a host again what it has not confirmed of a PE
// task; nil: there is nothing.
func (c *Core) resendPETask(host string, key grid.Key) (again func()) {
	p := c.state.PETask(key)
	if p == nil || p.Host != host {
		return nil
	}
	t := c.state.Task(p.Job, p.Task)
	if p.Status == grid.Transfering {
		return func() { c.deliverPETask(t, p) }
	}
	return func() { c.signalHost(host, t, peAttemptOf(p)) }
}
