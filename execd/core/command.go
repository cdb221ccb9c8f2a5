package core

import (
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// askAgainSeconds is how soon a repeated Terminate or Migrate is sent to the shepherd
// again: a terminate_method or a migr_command may have had no effect.
const askAgainSeconds = 90

// ends reports whether a signal ends the attempt.
func ends(kind report.SignalKind) bool { return kind == report.Terminate || kind == report.Migrate }

// command applies a message of qmaster. An older epoch is refused; a newer one is a
// new qmaster, which receives the whole list.
func (c *Core) command(now grid.Time, m *report.Command, r *Ready) {
	if !c.follow(m.Epoch) {
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
		c.deliver(now, &m.Deliver[i], jobs, m.Queues, r)
	}
	for _, s := range m.Signals {
		c.signal(now, s, r)
	}
	for _, l := range m.Limits {
		c.limit(now, m, l, r)
	}
	for _, k := range m.Forget {
		if a := c.attempts[k]; a != nil && a.state == plan.Ended {
			c.forget(a, r)
		}
	}
	if m.Stop || m.Kill {
		c.stop(now, m.Kill, r)
	}
}

// follow reports whether messages of this epoch are accepted.
func (c *Core) follow(epoch uint64) bool {
	if epoch < c.epoch {
		return false
	}
	if epoch > c.epoch {
		c.hello = c.hello || c.epoch != 0
		c.epoch = epoch
	}
	return true
}

// deliver accepts one attempt, or reports again the state of one that is known.
func (c *Core) deliver(now grid.Time, d *report.Deliver, jobs map[uint32]*grid.Job, queues []report.Queue, r *Ready) {
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
		if n.later() {
			r.Notes = append(r.Notes, n.kept())
		}
	}
	if c.shepherd {
		c.start(now, a, r)
	}
}

// start passes an attempt to the shepherd. An attempt that replaces an earlier
// one, which qmaster has abandoned, waits for its end: a job never runs twice on a
// host.
func (c *Core) start(now grid.Time, a *attempt, r *Ready) {
	if e := c.earlier(a.key); e != nil {
		e.next = a
		c.ask(now, e, report.Terminate, r)
		return
	}
	c.bind(a.start)
	r.Start = append(r.Start, *a.start)
}

// earlier returns the last attempt before k of the same task that has not ended here.
func (c *Core) earlier(k report.Attempt) (last *attempt) {
	if k.N <= 1 {
		return nil
	}
	for was, a := range c.attempts { // order: attempts of a task have different numbers
		if was.Job == k.Job && was.Task == k.Task && was.PETask == k.PETask && was.N < k.N && a.state < plan.Ended && (last == nil || was.N > last.key.N) {
			last = a
		}
	}
	return last
}

// signal passes a request to the shepherd, once. An unknown attempt means that the two
// sides disagree: the whole list is reported.
func (c *Core) signal(now grid.Time, s report.Signal, r *Ready) {
	a := c.attempts[s.Attempt]
	if a == nil {
		c.hello = c.hello || !c.gone.has(s.Attempt)
		return
	}
	switch s.Kind {
	case report.Suspend, report.Resume, report.Terminate, report.Migrate:
		c.ask(now, a, s.Kind, r)
	case report.Reschedule:
		c.ask(now, a, report.Terminate, r)
	}
}

func (c *Core) ask(now grid.Time, a *attempt, kind report.SignalKind, r *Ready) {
	if a.state == plan.Ended || !ends(kind) { // qmaster waits for the confirmation
		c.markDue(a)
	}
	switch {
	case a.state == plan.Ended:
		return
	case a.asked == kind && (!ends(kind) || now < a.askAt.Add(askAgainSeconds)):
		return
	case ends(a.asked) && kind != report.Terminate && kind != a.asked:
		return // nothing comes after the end
	case a.asked == 0 && kind == report.Resume:
		return // it has never been suspended
	}
	a.asked, a.askAt = kind, now
	if a.note != nil {
		r.Mails = append(r.Mails, a.note.suspended(kind)...)
	}
	if a.state == plan.Wanted || !c.shepherd {
		a.unsent = true
		return
	}
	r.send(kind, a)
}

// send adds a to the batch of its signal. Batches keep the order of the requests.
func (r *Ready) send(kind report.SignalKind, a *attempt) {
	a.unsent = false
	if n := len(r.Signals); n == 0 || r.Signals[n-1].Kind != kind {
		r.Signals = append(r.Signals, Signal{Kind: kind})
	}
	s := &r.Signals[len(r.Signals)-1]
	s.Attempts = append(s.Attempts, a.key)
}

// stop ends execd: when jobs that continue on other hosts have left and are reported,
// or after all are killed and reported.
func (c *Core) stop(now grid.Time, kill bool, r *Ready) {
	if !kill {
		c.leaveAt = now.Add(askAgainSeconds)
		return
	}
	c.stopping = true
	for _, k := range c.keys() {
		c.ask(now, c.attempts[k], report.Terminate, r)
	}
}
