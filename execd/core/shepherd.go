package core

import (
	"slices"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// handleAnswers applies the answers to a batch of starts.
func (c *Core) handleAnswers(now grid.Time, answers []plan.Answer, r *Ready) {
	for i := range answers {
		w := &answers[i]
		a := c.attempts[w.Attempt]
		if a == nil || a.state != plan.Wanted {
			continue
		}
		switch {
		case w.Failed != report.NoFailure:
			c.endAttempt(now, a, &report.Result{End: now, Failed: w.Failed, Text: w.Text}, r)
		case w.State == plan.Wanted: // until the shepherd is back
		case w.State == plan.Ended: // its end comes with the changes
			c.applyStatus(now, plan.Status{Attempt: w.Attempt, State: plan.Starting}, r)
		default:
			c.applyStatus(now, plan.Status{Attempt: w.Attempt, State: w.State}, r)
		}
	}
}

// handleSeen applies changes at the shepherd.
func (c *Core) handleSeen(now grid.Time, statuses []plan.Status, r *Ready) {
	for i := range statuses {
		c.applyStatus(now, statuses[i], r)
	}
}

// handleListed compares the attempts with the shepherd's, then starts and signals those that
// waited for it.
func (c *Core) handleListed(now grid.Time, statuses []plan.Status, r *Ready) {
	c.shepherd = true
	if !c.listed {
		c.listed, c.hello = true, true
	}
	known := make(map[report.Attempt]bool, len(statuses))
	for i := range statuses {
		known[statuses[i].Attempt] = true
		c.applyStatus(now, statuses[i], r)
	}
	for _, k := range c.sortedKeys() {
		a := c.attempts[k]
		switch {
		case a.state == plan.Wanted && !known[k]:
			c.startAttempt(now, a, r)
		case a.state < plan.Ended && !known[k]:
			c.endAttempt(now, a, &report.Result{Start: a.began, End: now, Failed: report.FailedNoStatus,
				Text: "the shepherd of the job's processes does not know it any more"}, r)
		case a.unsent && a.state < plan.Ended:
			r.addSignal(a.asked, a)
		}
		c.sendLimitChange(a, r)
	}
	c.removeStale(r)
}

// removeStale removes what an earlier execd stored for attempts that no longer exist.
func (c *Core) removeStale(r *Ready) {
	for i := range c.notes {
		if k := c.notes[i].Attempt; c.attempts[k] == nil {
			r.Drop = append(r.Drop, k)
		}
	}
	for _, job := range c.spooled {
		if c.scripts[job] == 0 {
			r.Unspool = append(r.Unspool, job)
		}
	}
	c.notes, c.spooled = nil, nil
}

// handleShepherdGone marks every signal that may not have arrived to be sent again; what was
// to be started is compared with the shepherd's next list.
func (c *Core) handleShepherdGone() {
	c.shepherd = false
	for _, a := range c.attempts {
		a.next = nil
		if a.change != nil {
			a.change.sent, a.change.queued = false, false
		}
		a.unsent = a.asked != 0 && a.state < plan.Ended
	}
}

// applyStatus applies the status of one attempt at the shepherd. States only rise.
func (c *Core) applyStatus(now grid.Time, s plan.Status, r *Ready) {
	a := c.attempts[s.Attempt]
	if a == nil {
		if c.gone.has(s.Attempt) { // the request to forget it was lost
			if s.State == plan.Ended {
				r.Forget = append(r.Forget, s.Attempt)
			}
			return
		}
		a = &attempt{key: s.Attempt}
		if s.Suspended {
			a.asked = report.Suspend
		}
		c.attempts[s.Attempt] = a
		for i := range c.notes {
			if c.notes[i].Attempt == a.key {
				a.note = &c.notes[i]
			}
		}
		if a.key.PETask == "" && slices.Contains(c.spooled, a.key.Job) {
			c.scripts[a.key.Job]++
			a.script = true
		}
	}
	a.contained = a.contained || s.Contained
	a.limits = max(a.limits, s.Limits)
	if s.State <= a.state {
		return
	}
	if s.Start != 0 {
		a.began = s.Start
	}
	if s.Binding != "" && s.State != plan.Ended {
		c.rebindCores(a.key, s.Binding)
	}
	a.start = nil
	if s.State == plan.Ended {
		result := &report.Result{Start: a.began, End: now, Failed: report.FailedNoStatus,
			Text: "the shepherd of the job's processes reported no result"}
		if s.End != nil {
			result, a.usage = &s.End.Result, s.End.Usage
		}
		c.endAttempt(now, a, result, r)
		return
	}
	a.state = s.State
	if a.unsent && c.shepherd {
		r.addSignal(a.asked, a)
	}
	c.sendLimitChange(a, r)
	if a.state == plan.Running {
		c.fresh = append(c.fresh, recentStart{a.key, now.Add(settleSeconds)})
		if a.note != nil {
			r.Mails = append(r.Mails, a.note.startMails(mailHost{c.host, c.zone}, a)...)
		}
	}
}

// endAttempt records the end of an attempt, which is reported until qmaster has it. The
// attempt that waited for it starts.
func (c *Core) endAttempt(now grid.Time, a *attempt, result *report.Result, r *Ready) {
	a.state, a.result, a.start = plan.Ended, result, nil
	c.releaseCores(a.key)
	if a.next != nil && a.next.state == plan.Wanted {
		c.startAttempt(now, a.next, r)
	}
	if a.note != nil {
		r.Mails = append(r.Mails, a.note.endMails(mailHost{c.host, c.zone}, c.conf.mailedResult(a.result), a.usage)...)
	}
	if a.doomed {
		c.forgetAttempt(a, r)
		return
	}
	c.markDue(a)
}
