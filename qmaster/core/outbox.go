package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Commands are derived from the state: "assigned, not confirmed" must be delivered,
// "deleted, still there" must be killed. The outbox stores only when a command was last
// sent to a host; losing it costs a repeated message.

// outbox makes the commands of a step, and has what was sent to each host and received from it.
type outbox struct {
	*step
	hosts  hostTalks
	places map[string]int // of this step's commands in Ready, by host; commandFor writes it, Step clears it
	sent   uint64         // commands of this process
	// complete: all hosts have reported their attempts. It stays so, see awaitsHosts.
	complete bool
}

// usualCommands is more than most steps give.
const usualCommands = 64

// commandFor returns this step's command for a host, and makes it on the first call.
func (o *outbox) commandFor(host string) *report.Command {
	at, made := o.places[host]
	if !made {
		at = len(o.ready.Commands)
		o.places[host] = at
		o.sent++
		o.ready.Commands = append(o.ready.Commands,
			Command{Host: host, Number: o.sent, Command: report.Command{Epoch: o.epoch}})
	}
	return &o.ready.Commands[at].Command
}

// deliverTask sends a task to its master host.
func (o *outbox) deliverTask(t *grid.JATask) {
	j := o.state.Job(t.Job)
	g := t.Grants[0]
	q := o.state.CQueue(g.Queue)
	if j == nil || q == nil {
		return
	}
	d := o.addDelivery(j, t, q, g)
	d.Ckpt, d.CkptSeconds = o.cell.Checkpointing(j, q, g.Host)
	o.addDelivered(g.Host, t, d.Attempt)
}

// addDelivered records that a host is sent an attempt to start, and adds a signal to the
// command if the attempt is to be suspended or terminated.
func (o *outbox) addDelivered(host string, t *grid.JATask, a report.Attempt) {
	o.hosts.of(host).noteSent(cell.KeyOf(a), o.sent, o.cell.Now)
	if cell.IsDying(t) || t.State&grid.StateSuspendedAny != 0 {
		o.signalHost(host, t, a)
	}
}

// addDelivery adds an attempt of a task, by one of its grants, to the command for
// its host.
func (out *outbox) addDelivery(j *grid.Job, t *grid.JATask, q *grid.CQueue, g grid.Grant) *report.Deliver {
	cmd := out.commandFor(g.Host)
	if !slices.ContainsFunc(cmd.Jobs, func(o *grid.Job) bool { return o.ID == j.ID }) {
		cmd.Jobs = append(cmd.Jobs, j)
	}
	maps := grid.MapsOn(t.Maps, g.Host)
	d := report.Deliver{
		Attempt: cell.AttemptOf(t), Queue: queueIn(cmd, out.cell.QueueOf(t, j, q, g.Host)), Grants: t.Grants,
		PE:        out.state.PE(t.PE),
		Restarted: t.Restarted, Start: t.Start, Maps: maps, Devices: out.cluster.Devices(g.Host, maps),
		Cores: grid.CoresOn(t.Cores, g.Host),
		Taken: out.cluster.Taken(j, t.Grants, g.Host),
	}
	if t.Limits != nil {
		d.Limits = t.Limits.Version
	}
	cmd.Deliver = append(cmd.Deliver, d)
	return &cmd.Deliver[len(cmd.Deliver)-1]
}

// queueIn returns where a command has a queue, which it gets if it does not have it.
func queueIn(cmd *report.Command, queue report.QueueInstance) int {
	i := slices.Index(cmd.Queues, queue)
	if i < 0 {
		i = len(cmd.Queues)
		cmd.Queues = append(cmd.Queues, queue)
	}
	return i
}

// signalTask sends all hosts of a task the signal that the task's state requires.
func (o *outbox) signalTask(t *grid.JATask) {
	o.signalHost(t.Grants[0].Host, t, cell.AttemptOf(t))
	for _, p := range o.cell.LivingPETasks(t) {
		o.signalHost(p.Host, t, cell.PEAttemptOf(p))
	}
}

// signalHost sends one host of a task the signal that the task's state requires.
func (o *outbox) signalHost(host string, t *grid.JATask, a report.Attempt) {
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
	cmd := o.commandFor(host)
	cmd.Signals = append(cmd.Signals, report.Signal{Attempt: a, Kind: kind})
	o.hosts.of(host).unconfirmed[cell.KeyOf(a)] = o.cell.Now
}

// compareSuspension compares the suspension of a task on a host, as the host reports it, with the
// task's state. If they differ the host is sent the signal again: at once after a new
// connection, else after resendSeconds, because the last signal may be on its way.
func (o *outbox) compareSuspension(t *grid.JATask, host string, r report.Task, anew bool) {
	unconfirmed := o.hosts.of(host).unconfirmed
	_, sent := unconfirmed[cell.KeyOf(r.Attempt)]
	switch same := r.Suspended == (t.State&grid.StateSuspendedAny != 0); {
	case same && !cell.IsDying(t):
		delete(unconfirmed, cell.KeyOf(r.Attempt))
	case anew || !sent && !same:
		o.signalHost(host, t, r.Attempt)
	}
}

// dropAttempt commands a host to remove an attempt that no longer matters.
func (o *outbox) dropAttempt(host string, a report.Attempt) {
	cmd := o.commandFor(host)
	cmd.Signals = append(cmd.Signals, report.Signal{Attempt: a, Kind: report.Terminate})
	cmd.Forget = append(cmd.Forget, a)
}

// announceEpoch sends this qmaster's epoch to a host with tasks that has not listed its attempts
// since it began: what the qmaster before it sent, and the host did not confirm, may be lost.
// The host answers a new epoch with all it has; a report of its load alone says nothing of them.
func (o *outbox) announceEpoch(l *grid.Load) {
	t := o.hosts.of(l.Host)
	if l.Unheard || t.listed || o.cell.Now.Sub(max(o.began, t.announced)) < resendSeconds ||
		len(o.state.OnHost(l.Host)) == 0 {
		return
	}
	t.announced = o.cell.Now
	o.commandFor(l.Host)
}

// resendTask sends the master host of a task again what it has not
// confirmed; nil: there is nothing.
func (o *outbox) resendTask(host string, key grid.Key) (again func()) {
	t := o.state.Task(key.ID, key.Sub)
	if t == nil || !t.Started() || t.Grants[0].Host != host {
		return nil
	}
	if t.State&grid.StateExiting != 0 && !cell.IsEnding(t) && len(o.cell.LivingPETasks(t)) > 0 {
		return nil // its end waits for its PE tasks
	}
	if t.Status == grid.Transfering {
		return func() { o.deliverTask(t) }
	}
	return func() { o.signalHost(host, t, cell.AttemptOf(t)) }
}

// markUnconfirmed marks, after a restart, the tasks whose command may have to be sent again.
// Running tasks are compared with the list in their host's first report.
func (out *outbox) markUnconfirmed() {
	out.state.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if !t.Started() {
			return true
		}
		if t.Status == grid.Transfering || cell.IsDying(t) {
			out.hosts.of(t.Grants[0].Host).unconfirmed[t.Key()] = 0
		}
		changing := t.Limits != nil && t.Limits.Changing
		if changing {
			out.hosts.of(t.Grants[0].Host).limited[t.Key()] = 0
		}
		for _, p := range out.cell.LivingPETasks(t) {
			if p.Status == grid.Transfering || cell.IsDying(t) {
				out.hosts.of(p.Host).unconfirmed[p.Key()] = 0
			}
			if changing {
				out.hosts.of(p.Host).limited[p.Key()] = 0
			}
		}
		return true
	})
}

// deliverPETask sends a PE task to its host.
func (o *outbox) deliverPETask(t *grid.JATask, p *grid.PETask) {
	g, _ := cell.GrantOn(t, p.Host)
	q := o.state.CQueue(g.Queue)
	if q == nil {
		return
	}
	d := o.addDelivery(o.state.Job(p.Job), t, q, g)
	d.Attempt, d.Start, d.Launch = cell.PEAttemptOf(p), p.Start, p.Launch
	o.addDelivered(p.Host, t, d.Attempt)
}

// resendPETask sends a host again what it has not confirmed of a PE
// task; nil: there is nothing.
func (o *outbox) resendPETask(host string, key grid.Key) (again func()) {
	p := o.state.PETask(key)
	if p == nil || p.Host != host {
		return nil
	}
	t := o.state.Task(p.Job, p.Task)
	if p.Status == grid.Transfering {
		return func() { o.deliverPETask(t, p) }
	}
	return func() { o.signalHost(host, t, cell.PEAttemptOf(p)) }
}

// sendLimits sends the limits of a task to all its hosts that have not confirmed them.
func (o *outbox) sendLimits(t *grid.JATask) {
	if t.Limits.Applied != t.Limits.Version {
		o.sendLimitsTo(t.Grants[0].Host, t, cell.AttemptOf(t))
	}
	for _, p := range o.cell.LivingPETasks(t) {
		if p.Limits != t.Limits.Version {
			o.sendLimitsTo(p.Host, t, cell.PEAttemptOf(p))
		}
	}
}

// sendLimitsTo sends a host the limits of an attempt.
func (o *outbox) sendLimitsTo(host string, t *grid.JATask, a report.Attempt) {
	g, slots := cell.GrantOn(t, host)
	q, l := o.state.CQueue(g.Queue), t.Limits
	if q == nil {
		return
	}
	cmd := o.commandFor(host)
	change := report.LimitsChange{
		Attempt: a, Version: l.Version, Queue: queueIn(cmd, o.cell.QueueOf(t, o.state.Job(t.Job), q, g.Host)), Slots: slots,
		Anyway: l.Refused != "",
	}
	for _, r := range l.Requests {
		if old, had := l.Before.Get(r.Name); !had || old != r {
			change.Changed = append(change.Changed, r.Name)
		}
	}
	cmd.Limits = append(cmd.Limits, change)
	o.hosts.of(host).limited[cell.KeyOf(a)] = o.cell.Now
}

// sendConfig sends a host its configuration.
func (o *outbox) sendConfig(host string) {
	o.hosts.of(host).instructed = o.cell.Now
	o.commandFor(host).Conf = o.cell.ConfFor(host)
}

// conformConfig sends a host its configuration if the host reports another one, unless the
// configuration sent last may still be on its way.
func (o *outbox) conformConfig(r report.Report) {
	if r.Host == grid.GlobalHost || r.Conf == o.cell.HostSettings(r.Host).Conf {
		return
	}
	if r.Hello || o.cell.Now.Sub(o.hosts.of(r.Host).instructed) >= resendSeconds {
		o.sendConfig(r.Host)
	}
}

// expectStop keeps new tasks off a host whose execution daemon is about to stop,
// until one says hello.
func (o *outbox) expectStop(host string) {
	t := o.hosts.of(host)
	t.leaving, t.load = o.cell.Now.Add(leaveSeconds), nil
	o.markUnheard(host)
}

// expectReturn notes that the execution daemon of a host ends. It may be another version that begins in a moment:
// markEnded waits for that, and what is sent meanwhile comes back.
func (o *outbox) expectReturn(host string) {
	t := o.hosts.of(host)
	t.leaving, t.load, t.ended = o.cell.Now.Add(leaveSeconds), nil, o.cell.Now
}

// markEnded keeps new tasks off a host whose execution daemon has ended and did not come back.
func (o *outbox) markEnded(host string) {
	if t := o.hosts[host]; t != nil && t.ended > 0 && o.cell.Now.Sub(t.ended) >= resendSeconds {
		t.ended = 0
		o.markUnheard(host)
	}
}

// markUnheard keeps new tasks off a host until it reports.
func (o *outbox) markUnheard(host string) {
	if l := o.state.Load(host); l != nil && !l.Unheard {
		n := *l
		n.Unheard = true
		o.emit(events.Mod(&n))
	}
}

// lastContactOf is when a host last gave a sign of life. What was before this
// qmaster began does not count as silence.
func (o *outbox) lastContactOf(l *grid.Load) grid.Time {
	last := max(l.Reported, o.began)
	if t := o.hosts[l.Host]; t != nil {
		last = max(last, t.contact)
	}
	return last
}

// recordContact records that a host is alive, and its load. The load of a host that is
// known and was not silent waits for the next tick: one list then contains all loads.
func (o *outbox) recordContact(r report.Report) {
	old := o.state.Load(r.Host)
	if t := o.hosts[r.Host]; t != nil && t.leaving > o.cell.Now {
		if !r.Hello {
			return
		}
		t.leaving, t.ended = 0, 0
	}
	switch {
	case r.Load != nil:
		l := grid.Load{Host: r.Host, Values: r.Load.Values, Reported: o.cell.Now, Processors: r.Load.Processors}
		switch {
		case old == nil:
			o.emit(events.Add(&l))
			o.setSlotsOfHost(l.Host, l.Processors)
		case old.Unheard:
			o.emit(events.Mod(&l))
		default:
			t := o.hosts.of(r.Host)
			t.contact, t.load = o.cell.Now, &l
			return
		}
		o.hosts.of(r.Host).load = nil
	case old != nil && old.Unheard:
		l := *old
		l.Unheard, l.Reported = false, o.cell.Now
		o.emit(events.Mod(&l))
	default:
		// Every report is a sign of life; it changes no state by itself.
		o.hosts.of(r.Host).contact = o.cell.Now
	}
}

// processorsMost is more than any host has. A report of more is wrong and is ignored.
const processorsMost = 1 << 20

// setSlotsOfHost sets a host's slots in all.q to its number of processors when its first load
// report contains that number.
func (s *step) setSlotsOfHost(host string, processors uint32) {
	q := s.state.CQueue("all.q")
	if q == nil || processors < 2 || processors > processorsMost || q.Slots.Value != 1 ||
		s.state.QInstance(q.Name, host) == nil {
		return
	}
	for _, a := range q.Slots.At {
		if a.Target == host {
			return
		}
	}
	n := *q
	n.Slots.At = append(slices.Clone(q.Slots.At), grid.At[int32]{Target: host, Value: int32(processors)})
	n.Version++
	s.emit(events.Mod(&n))
}
