package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// The life of a task: pending (a number in its job's range) → transfering →
// running → gone, or back to idle when it is rescheduled or put in error.

// start sends a task to the master host of its grants, with instances of resource maps and processor cores.
func (c *Core) start(j *grid.Job, o *orders.StartJob, maps []grid.MapGrant, cores []grid.CoreGrant) {
	task := o.Task
	t := grid.JATask{Job: j.ID, ID: task}
	enrol := true
	if old := c.state.Task(j.ID, task); old != nil {
		t, enrol = *old, false
	}
	t.Attempt = max(t.Attempt, uint32(c.state.Counter(grid.AttemptBase))) + 1
	t.Status = grid.Transfering
	t.State = grid.StateRunning
	t.Grants, t.Maps, t.Cores, t.Takes, t.Limits, t.PE, t.Start = o.Grants, maps, cores, o.Takes, nil, o.PE, c.cell.Now
	t.JobVersion = j.Version
	t.Priority, t.Tickets = o.Priority, o.Tickets
	t.OTickets, t.FTickets, t.STickets, t.Share, t.NTickets = 0, 0, 0, 0, 0 // until the next run
	t.Kill, t.Reason, t.Error = "", "", ""
	t.Usage, t.Interim = grid.Usage{}, nil
	if enrol {
		c.emit(events.Add(&t))
	} else {
		c.emit(events.Mod(&t))
	}
	c.touch(t.Grants)
	c.outbox.deliverTask(&t)
}

// running notes that the execution daemon has started the attempt.
func (c *Core) running(t *grid.JATask, r report.Task) {
	if t.Status != grid.Transfering {
		return
	}
	n := *t
	n.Status = grid.Running
	n.Binding = r.Binding
	if r.Start > 0 {
		n.Start = r.Start
	}
	c.emit(events.Mod(&n))
	c.waiters.started(t.Job)
}

// restart puts a task back to begin again. It is shown with an R, and its next attempt
// runs with RESTARTED=1.
func (c *Core) restart(t *grid.JATask) {
	n := *t
	n.Restarted = true
	c.makePending(&n, 0, "")
}

// makePending puts a task back: idle, waiting for its next attempt. The message is
// what went wrong.
func (c *Core) makePending(t *grid.JATask, extra grid.TaskState, message string) {
	n := *t
	n.Status = grid.Idle
	n.State = grid.StateQueued | grid.StateWaiting | extra
	n.Error = message
	n.Previous = t.Previous.Plus(t.Usage)
	n.Usage, n.Interim = grid.Usage{}, nil
	n.Grants, n.Maps, n.Cores, n.Takes, n.Limits = nil, nil, nil, nil, nil
	n.PE, n.Kill, n.Reason, n.Binding = "", "", "", ""
	c.emit(events.Mod(&n))
	c.dropPast(t)
	c.touch(t.Grants)
	c.dropOrphans(t.Grants)
}

// forceEnd removes a started task without waiting for its execution daemon.
func (c *Core) forceEnd(t *grid.JATask, by string) {
	r := report.Result{Start: t.Start, End: c.cell.Now, Failed: report.FailedAfterJob,
		Text: "removed by force by " + by + " without waiting for host " + t.Grants[0].Host, ExitStatus: 137}
	n := *t
	n.Kill = by
	c.account(c.state.Job(t.Job), &n, r, false)
	if t.State&grid.StateDeleted == 0 {
		c.mailKilled(&n)
	}
	c.outbox.dropAttempt(t.Grants[0].Host, cell.AttemptOf(t))
	c.finish(t)
}

// finish lets an ended task go, with its job when it was the last.
func (c *Core) finish(t *grid.JATask) {
	grants := t.Grants
	c.touch(grants)
	c.removeEndedTask(t.Job, t.ID)
	c.dropOrphans(grants)
}

// account emits the accounting record of an attempt's end. PE tasks that the attempt did
// not wait for end with it.
func (c *Core) account(j *grid.Job, t *grid.JATask, r report.Result, again bool) {
	for _, p := range c.cell.LivingPETasks(t) {
		c.peLost(j, t, p)
	}
	c.bookings.debitTask(j, t, t.Usage, true, again)
	used := t.Usage
	past := c.cell.PastUsage(t)
	switch {
	case c.cell.HostSettings(t.Grants[0].Host).ReservedUsage:
		used = c.cell.Reserved(j, t, used)
	case past != nil && c.cell.SumsUp(t):
		used = used.Beside(past.Usage)
	}
	a := c.cell.AccountingRecord(j, t, t.Grants[0], r)
	a.Usage, a.Maps, a.Rescheduled = used, t.Maps, again
	c.emit(events.Add(a))
	c.waiters.record(a, again)
}
