package core

import (
	"slices"

	"github.com/quill-grid/quill/qmaster/core/cell"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Commands are derived from the state: "assigned, not confirmed" must be delivered,
// "deleted, still there" must be killed. The outbox stores only when a command was last
// sent to a host; losing it costs a repeated message.

// leaveSeconds is how long an execution daemon may take to stop: it
// sees jobs off that continue elsewhere.
const leaveSeconds = 120

// resendSeconds is how long a host may take to confirm before it is sent
// again.
const resendSeconds = 5

// outbox is what was sent to each host and received from it.
type outbox map[string]*hostTalk

type hostTalk struct {
	contact grid.Time // when qmaster last received something from the host
	// leaving: until then reports of the host do not count as contact, because its
	// execution daemon was sent the command to stop.
	leaving grid.Time
	load    *grid.Load // the latest load, until the next tick emits it
	// listed: the host has reported all its attempts to this qmaster.
	listed bool
	// announced is when the host was sent this qmaster's epoch alone.
	announced grid.Time
	// instructed is when the host was sent its configuration.
	instructed grid.Time
	// unconfirmed are tasks that a command was sent for, and when.
	unconfirmed map[grid.Key]grid.Time
	// limited are tasks that were sent other limits, and when.
	limited map[grid.Key]grid.Time
	// forgotten are the host's attempts that a restored state does not know, as they were reported to the administrator.
	forgotten map[report.Attempt]Forgotten
}

func (o outbox) hosts(h string) *hostTalk {
	t := o[h]
	if t == nil {
		t = &hostTalk{unconfirmed: map[grid.Key]grid.Time{}, limited: map[grid.Key]grid.Time{}}
		o[h] = t
	}
	return t
}

// command returns this step's command for a host, and makes it on the first call.
func (c *Core) command(host string) *report.Command {
	at, made := c.commanded[host]
	if !made {
		at = len(c.ready.Commands)
		c.commanded[host] = at
		c.ready.Commands = append(c.ready.Commands, Command{Host: host, Command: report.Command{Epoch: c.epoch}})
	}
	return &c.ready.Commands[at].Command
}

// deliver sends a task to its master host.
func (c *Core) deliver(t *grid.JATask) {
	j := c.state.Job(t.Job)
	g := t.Grants[0]
	q := c.state.CQueue(g.Queue)
	if j == nil || q == nil {
		return
	}
	d := c.delivery(j, t, q, g)
	d.Ckpt, d.CkptSeconds = c.cell.Checkpointing(j, q, g.Host)
	c.delivered(g.Host, t, d.Attempt)
}

// delivered records that a host is sent an attempt to start, and adds a signal to the
// command if the attempt is to be suspended or terminated.
func (c *Core) delivered(host string, t *grid.JATask, a report.Attempt) {
	c.sent.hosts(host).unconfirmed[cell.KeyOf(a)] = c.cell.Now
	if cell.IsDying(t) || t.State&grid.StateSuspendedAny != 0 {
		c.signalHost(host, t, a)
	}
}

// delivery adds an attempt of a task, by one of its grants, to the command for
// its host.
func (c *Core) delivery(j *grid.Job, t *grid.JATask, q *grid.CQueue, g grid.Grant) *report.Deliver {
	cmd := c.command(g.Host)
	if !slices.ContainsFunc(cmd.Jobs, func(o *grid.Job) bool { return o.ID == j.ID }) {
		cmd.Jobs = append(cmd.Jobs, j)
	}
	maps := grid.MapsOn(t.Maps, g.Host)
	d := report.Deliver{
		Attempt: cell.AttemptOf(t), Queue: queueIn(cmd, c.cell.QueueOf(t, j, q, g.Host)), Grants: t.Grants, PE: c.state.PE(t.PE),
		Restarted: t.Restarted, Start: t.Start, Maps: maps, Devices: c.cluster.Devices(g.Host, maps), Cores: grid.CoresOn(t.Cores, g.Host),
		Taken: c.cluster.Taken(j, t.Grants, g.Host),
	}
	if t.Limits != nil {
		d.Limits = t.Limits.Version
	}
	cmd.Deliver = append(cmd.Deliver, d)
	return &cmd.Deliver[len(cmd.Deliver)-1]
}

// queueIn returns where a command has a queue, which it gets if it does not have it.
func queueIn(cmd *report.Command, queue report.Queue) int {
	i := slices.Index(cmd.Queues, queue)
	if i < 0 {
		i = len(cmd.Queues)
		cmd.Queues = append(cmd.Queues, queue)
	}
	return i
}

// signal sends all hosts of a task the signal that the task's state requires.
func (c *Core) signal(t *grid.JATask) {
	c.signalHost(t.Grants[0].Host, t, cell.AttemptOf(t))
	for _, p := range c.cell.LivingPETasks(t) {
		c.signalHost(p.Host, t, cell.PEAttemptOf(p))
	}
}

// signalHost sends one host of a task the signal that the task's state requires.
func (c *Core) signalHost(host string, t *grid.JATask, a report.Attempt) {
	kind := report.Resume
	switch {
	case t.Kill == grid.Rescheduled:
		kind = report.Reschedule
	case t.Kill == grid.Migrating:
		kind = report.Migrate
	case t.State&(grid.StateDeleted|grid.StateExiting) != 0:
		kind = report.Terminate
	case t.State&grid.StateSuspendedAny != 0:
		kind = report.Suspend
	}
	if kind == report.Migrate && a.PETask != "" {
		return // it ends when the job has left
	}
	cmd := c.command(host)
	cmd.Signals = append(cmd.Signals, report.Signal{Attempt: a, Kind: kind})
	c.sent.hosts(host).unconfirmed[cell.KeyOf(a)] = c.cell.Now
}

// stands compares the suspension of a task on a host, as the host reports it, with the
// task's state. If they differ the host is sent the signal again: at once after a new
// connection, else after resendSeconds, because the last signal may be on its way.
func (c *Core) stands(t *grid.JATask, host string, r report.Task, anew bool) {
	unconfirmed := c.sent.hosts(host).unconfirmed
	_, sent := unconfirmed[cell.KeyOf(r.Attempt)]
	switch same := r.Suspended == (t.State&grid.StateSuspendedAny != 0); {
	case same && !cell.IsDying(t):
		delete(unconfirmed, cell.KeyOf(r.Attempt))
	case anew || !sent && !same:
		c.signalHost(host, t, r.Attempt)
	}
}

// dropAttempt commands a host to remove an attempt that no longer matters.
func (c *Core) dropAttempt(host string, a report.Attempt) {
	cmd := c.command(host)
	cmd.Signals = append(cmd.Signals, report.Signal{Attempt: a, Kind: report.Terminate})
	cmd.Forget = append(cmd.Forget, a)
}

// resend repeats what hosts have not confirmed.
func (c *Core) resend() {
	for _, host := range sortedKeys(c.sent) {
		talk := c.sent[host]
		for _, key := range sortedTasks(talk.unconfirmed) {
			again := c.resendTask(host, key)
			if key.Name != "" {
				again = c.resendPETask(host, key)
			}
			if again == nil {
				delete(talk.unconfirmed, key)
			} else if c.cell.Now.Sub(talk.unconfirmed[key]) >= resendSeconds {
				again()
			}
		}
		c.resendLimits(host, talk)
	}
}

// announce sends this qmaster's epoch to a host with tasks that has not listed its attempts
// since it began: what the qmaster before it sent, and the host did not confirm, may be lost.
// The host answers a new epoch with all it has; a report of its load alone says nothing of them.
func (c *Core) announce(l *grid.Load) {
	t := c.sent.hosts(l.Host)
	if l.Unheard || t.listed || c.cell.Now.Sub(max(c.began, t.announced)) < resendSeconds || len(c.state.OnHost(l.Host)) == 0 {
		return
	}
	t.announced = c.cell.Now
	c.command(l.Host)
}

// resendTask sends the master host of a task again what it has not
// confirmed; nil: there is nothing.
func (c *Core) resendTask(host string, key grid.Key) (again func()) {
	t := c.state.Task(key.ID, key.Sub)
	if t == nil || !t.Started() || t.Grants[0].Host != host {
		return nil
	}
	if t.State&grid.StateExiting != 0 && !cell.IsEnding(t) && len(c.cell.LivingPETasks(t)) > 0 {
		return nil // its end waits for its PE tasks
	}
	if t.Status == grid.Transfering {
		return func() { c.deliver(t) }
	}
	return func() { c.signalHost(host, t, cell.AttemptOf(t)) }
}

// unconfirmed marks, after a restart, the tasks whose command may have to be sent again.
// Running tasks are compared with the list in their host's first report.
func (c *Core) unconfirmed() {
	c.state.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if !t.Started() {
			return true
		}
		if t.Status == grid.Transfering || cell.IsDying(t) {
			c.sent.hosts(t.Grants[0].Host).unconfirmed[t.Key()] = 0
		}
		changing := t.Limits != nil && t.Limits.Changing
		if changing {
			c.sent.hosts(t.Grants[0].Host).limited[t.Key()] = 0
		}
		for _, p := range c.cell.LivingPETasks(t) {
			if p.Status == grid.Transfering || cell.IsDying(t) {
				c.sent.hosts(p.Host).unconfirmed[p.Key()] = 0
			}
			if changing {
				c.sent.hosts(p.Host).limited[p.Key()] = 0
			}
		}
		return true
	})
}

func sortedKeys(o outbox) []string {
	out := make([]string, 0, len(o))
	for h := range o {
		out = append(out, h)
	}
	slices.Sort(out)
	return out
}

func sortedTasks(m map[grid.Key]grid.Time) []grid.Key {
	out := make([]grid.Key, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, grid.Key.Compare)
	return out
}
