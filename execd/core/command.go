package core

import (
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// askAgainSeconds is how soon a repeated Terminate or Migrate is sent to the shepherd
// again: a terminate_method or a migr_command may have had no effect.
const askAgainSeconds = 90

// endsAttempt reports whether a signal ends the attempt.
func endsAttempt(kind report.SignalKind) bool {
	return kind == report.Terminate || kind == report.Migrate
}

// handleCommand applies a message of qmaster. An older epoch is refused; a newer one is a
// new qmaster, which receives the whole list.
func (c *Core) handleCommand(now grid.Time, m *report.Command, r *Ready) {
	if !c.followEpoch(m.Epoch) {
		r.Refused = m.Epoch
		return
	}
	c.retryAt = 0 // qmaster is there
	if m.Conf != nil {
		c.conf, c.follows = ParseConf(m.Conf), report.Fingerprint(m.Conf)
		r.Conf = &c.conf
		c.sampleAt = min(c.sampleAt, now.Add(c.conf.LoadReportTime))
	}
	jobs := make(map[uint32]*grid.Job, len(m.Jobs))
	for _, j := range m.Jobs {
		if j != nil {
			jobs[j.ID] = j
		}
	}
	for i := range m.Deliver {
		c.handleDeliver(now, &m.Deliver[i], jobs, m.Queues, r)
	}
	for _, s := range m.Signals {
		c.handleSignal(now, s, r)
	}
	for _, l := range m.Limits {
		c.requestLimits(now, m, l, r)
	}
	for _, k := range m.Forget {
		if a := c.attempts[k]; a != nil && a.state == plan.Ended {
			c.forgetAttempt(a, r)
		}
	}
	if m.Stop || m.Kill {
		c.handleStop(now, m.Kill, r)
	}
}

// followEpoch reports whether messages of this epoch are accepted.
func (c *Core) followEpoch(epoch uint64) bool {
	if epoch < c.epoch {
		return false
	}
	if epoch > c.epoch {
		c.hello = c.hello || c.epoch != 0
		c.epoch = epoch
	}
	return true
}

// handleDeliver accepts one attempt, or reports again the state of one that is known.
func (c *Core) handleDeliver(
	now grid.Time, d *report.Deliver, jobs map[uint32]*grid.Job, queues []report.QueueInstance, r *Ready,
) {
	k := d.Attempt
	if a := c.attempts[k]; a != nil {
		if a.state != plan.Wanted {
			c.markDue(a)
		}
		return
	}
	j := jobs[k.Job]
	if c.gone.has(k) || j == nil || d.Queue < 0 || d.Queue >= len(queues) {
		return
	}
	a := &attempt{key: k, start: &Start{Deliver: *d, Job: j, Queue: queues[d.Queue]}, limits: d.Limits}
	c.attempts[k] = a
	if !j.Binary && j.Spec != nil && d.Launch == nil {
		if c.scripts[k.Job] == 0 {
			r.Scripts = append(r.Scripts, j)
		}
		c.scripts[k.Job]++
		a.script = true
	}
	if n := noteOf(a.start); n != nil {
		a.note = n
		if n.mailsLater() {
			r.Notes = append(r.Notes, n.withoutStartMail())
		}
	}
	if c.shepherd {
		c.startAttempt(now, a, r)
	}
}

// startAttempt passes an attempt to the shepherd. An attempt that replaces an earlier
// one, which qmaster has abandoned, waits for its end: a job never runs twice on a
// host.
func (c *Core) startAttempt(now grid.Time, a *attempt, r *Ready) {
	if e := c.earlierAttempt(a.key); e != nil {
		e.next = a
		c.requestSignal(now, e, report.Terminate, r)
		return
	}
	c.bindCores(a.start)
	r.Start = append(r.Start, *a.start)
}

// earlierAttempt returns the last attempt before k of the same task that has not ended here.
func (c *Core) earlierAttempt(k report.Attempt) (last *attempt) {
	if k.N <= 1 {
		return nil
	}
	for was, a := range c.attempts { // order: attempts of a task have different numbers
		if was.Job == k.Job && was.Task == k.Task && was.PETask == k.PETask && was.N < k.N && a.state < plan.Ended &&
			(last == nil || was.N > last.key.N) {
			last = a
		}
	}
	return last
}

// handleSignal passes a request to the shepherd, once. An unknown attempt means that the two
// sides disagree: the whole list is reported.
func (c *Core) handleSignal(now grid.Time, s report.Signal, r *Ready) {
	a := c.attempts[s.Attempt]
	if a == nil {
		c.hello = c.hello || !c.gone.has(s.Attempt)
		return
	}
	switch s.Kind {
	case report.Suspend, report.Resume, report.Terminate, report.Migrate:
		c.requestSignal(now, a, s.Kind, r)
	case report.Reschedule:
		c.requestSignal(now, a, report.Terminate, r)
	}
}

func (c *Core) requestSignal(now grid.Time, a *attempt, kind report.SignalKind, r *Ready) {
	if a.state == plan.Ended || !endsAttempt(kind) { // qmaster waits for the confirmation
		c.markDue(a)
	}
	switch {
	case a.state == plan.Ended:
		return
	case a.asked == kind && (!endsAttempt(kind) || now < a.askAt.Add(askAgainSeconds)):
		return
	case endsAttempt(a.asked) && kind != report.Terminate && kind != a.asked:
		return // nothing comes after the end
	case a.asked == 0 && kind == report.Resume:
		return // it has never been suspended
	}
	a.asked, a.askAt = kind, now
	if a.note != nil {
		r.Mails = append(r.Mails, a.note.suspensionMails(kind)...)
	}
	if a.state == plan.Wanted || !c.shepherd {
		a.unsent = true
		return
	}
	r.addSignal(kind, a)
}

// addSignal adds a to the batch of its signal. Batches keep the order of the requests.
func (r *Ready) addSignal(kind report.SignalKind, a *attempt) {
	a.unsent = false
	if n := len(r.Signals); n == 0 || r.Signals[n-1].Kind != kind {
		r.Signals = append(r.Signals, Signal{Kind: kind})
	}
	s := &r.Signals[len(r.Signals)-1]
	s.Attempts = append(s.Attempts, a.key)
}

// handleStop ends execd: when jobs that continue on other hosts have left and are reported,
// or after all are killed and reported.
func (c *Core) handleStop(now grid.Time, kill bool, r *Ready) {
	if !kill {
		c.leaveAt = now.Add(askAgainSeconds)
		return
	}
	c.stopping = true
	for _, k := range c.sortedKeys() {
		c.requestSignal(now, c.attempts[k], report.Terminate, r)
	}
}
