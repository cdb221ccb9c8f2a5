package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// tick does what is due by time: it repeats unconfirmed commands, emits the reported
// loads, detects silent hosts, reschedules their tasks, and opens and closes queues by
// their calendars.
func (c *Core) tick() {
	c.resend()
	c.deleteAutomaticUsers()
	c.calendars()
	c.expireTokens()
	c.outbox.endForgotten()
	var loads []*grid.Load
	c.state.Each(grid.KindLoad, func(o grid.Object) bool {
		loads = append(loads, o.(*grid.Load))
		return true
	})
	for _, l := range loads {
		if t := c.outbox.hosts[l.Host]; t != nil && t.load != nil {
			l, t.load = t.load, nil
			c.emit(events.Mod(l))
		}
		c.outbox.markEnded(l.Host)
		c.silence(l)
		c.outbox.announceEpoch(l)
	}
}

// takeBack takes back what was sent only in commands that are lost: it starts elsewhere, and its host gets nothing new
// until it reports. Just after this qmaster began, hosts connect again: they are sent it once more before.
func takeBack(c *Core, in Undelivered) {
	talk := c.outbox.hosts[in.Host]
	if talk == nil {
		return
	}
	for _, key := range talk.noteBack(in.Number) {
		t := c.state.Task(key.ID, key.Sub)
		if c.cell.Now.Sub(c.began) < resendSeconds || key.Name != "" || t == nil || t.Status != grid.Transfering ||
			t.Grants[0].Host != in.Host || cell.IsDying(t) {
			continue
		}
		talk.confirm(key)
		talk.load = nil
		c.outbox.markUnheard(in.Host)
		c.makePending(t, 0, "")
	}
}

// silence marks a host unknown that has sent nothing for max_unheard, and reschedules its
// rerunnable tasks after reschedule_unknown more.
func (c *Core) silence(l *grid.Load) {
	quiet := c.cell.Now.Sub(c.outbox.lastContactOf(l))
	s := c.cell.HostSettings(l.Host)
	if quiet <= s.Silent || s.Silent == 0 {
		return
	}
	c.outbox.markUnheard(l.Host)
	c.endPETasksOn(l.Host)
	c.overdue(l.Host)
	if s.Again == 0 || quiet <= s.Silent+s.Again || c.cell.HasParam("DISABLE_AUTO_RESCHEDULING") {
		return
	}
	for _, t := range c.state.OnHost(l.Host) {
		j := c.state.Job(t.Job)
		if t.State&grid.StateDeleted != 0 {
			continue
		}
		if !c.cluster.Rerunnable(j, t) {
			if t.Grants[0].Host == l.Host && c.cell.HasParam("ENABLE_RESCHEDULE_KILL") {
				c.abandonTask(t, report.FailedNoStatus, "its host "+l.Host+" is silent")
			}
			continue
		}
		if t.Grants[0].Host != l.Host {
			c.slaveLost(t)
			continue
		}
		c.account(j, t, report.Result{Start: t.Start, End: c.cell.Now, Failed: report.FailedRestart,
			Text: "its host " + l.Host + " is silent"}, true)
		c.mailRescheduled(t)
		c.restart(t)
	}
}

// overdue ends what runs on a silent host for longer than its s_rt or h_rt and
// DURATION_OFFSET let it, when qmaster_params ENABLE_ENFORCE_MASTER_LIMIT says so.
func (c *Core) overdue(host string) {
	if !c.cell.HasParam("ENABLE_ENFORCE_MASTER_LIMIT") {
		return
	}
	offset := site.DurationOffset(c.state.SchedConf())
	for _, t := range c.state.OnHost(host) {
		g := t.Grants[0]
		cq := c.state.CQueue(g.Queue)
		if g.Host != host || cq == nil {
			continue
		}
		q := c.cell.QueueFor(cq, host, t.Held(c.state.Job(t.Job)))
		if c.cell.Now.Sub(t.Start) > min(q.SRT, q.HRT)+offset {
			c.abandonTask(t, report.FailedLimit, "its run time limit has passed, and its host "+host+" is silent")
		}
	}
}

// abandonTask ends a task whose host has not reported for too long.
func (c *Core) abandonTask(t *grid.JATask, failed report.Failure, why string) {
	j, what := c.state.Job(t.Job), cell.DescribeTask(c.state.Job(t.Job), t.ID)
	c.account(j, t, report.Result{Start: t.Start, End: c.cell.Now, Failed: failed, Text: why}, false)
	c.mailAborted(j, "Aborted "+what, what+" was given up: "+why+"\n")
	c.outbox.dropAttempt(t.Grants[0].Host, cell.AttemptOf(t))
	c.finish(t)
}

// resend repeats what hosts have not confirmed.
func (c *Core) resend() {
	for _, host := range sortedKeys(c.outbox.hosts) {
		talk := c.outbox.hosts[host]
		for _, key := range sortedTasks(talk.unconfirmed) {
			again := c.outbox.resendTask(host, key)
			if key.Name != "" {
				again = c.outbox.resendPETask(host, key)
			}
			if again == nil {
				talk.confirm(key)
			} else if c.cell.Now.Sub(talk.unconfirmed[key]) >= resendSeconds {
				again()
			}
		}
		c.resendLimits(host, talk)
	}
}
