package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Changed answers a batch of Ready.Changes.
type Changed struct{ Answers []plan.Changed }

func (Changed) input() {}

// ofGroup are the requests that only a control group can enforce.
var ofGroup = grid.Names{"s_rss", "h_rss", "h_pids"}

// requestLimits gives an attempt other limits. One at a time is with the shepherd; a newer one takes the place of one
// that waits.
func (c *Core) requestLimits(now grid.Time, m *report.Command, l report.LimitsChange, r *Ready) {
	a := c.attempts[l.Attempt]
	switch {
	case a == nil:
		c.hello = c.hello || !c.gone.has(l.Attempt)
		return
	case a.state == plan.Ended:
		c.markDue(a)
		return
	case l.Queue < 0 || l.Queue >= len(m.Queues):
		return
	case l.Version <= a.limits, a.change != nil && l.Version <= a.change.version:
		c.markDue(a) // qmaster waits for the confirmation
		return
	}
	busy := a.change != nil && (a.change.sent || a.change.queued)
	a.change = &limitChange{version: l.Version, limits: l, queue: m.Queues[l.Queue], queued: busy}
	c.sendLimitChange(a, r)
}

// sendLimitChange passes the change of an attempt that runs to the shepherd.
func (c *Core) sendLimitChange(a *attempt, r *Ready) {
	if a.change == nil || a.change.sent || a.change.queued || a.state != plan.Running || !c.shepherd {
		return
	}
	if a.change.version <= a.limits {
		a.change = nil
		c.markDue(a)
		return
	}
	if text := c.cannotEnforce(a); text != "" {
		c.refuseLimits(a, text)
		return
	}
	a.change.sent = true
	r.Changes = append(r.Changes, c.conf.planChange(a.change, a.contained))
}

// cannotEnforce returns why this host cannot enforce a limit that was asked for.
func (c *Core) cannotEnforce(a *attempt) string {
	if a.contained || a.change.limits.Anyway {
		return ""
	}
	var lacking []string
	for _, name := range a.change.limits.Changed {
		if ofGroup.Has(name) {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	return fmt.Sprintf("the job has no control group, which %s needs", strings.Join(lacking, ","))
}

// refuseLimits reports that the last change is not carried out.
func (c *Core) refuseLimits(a *attempt, text string) {
	a.refused, a.refusedText, a.change = a.change.version, text, nil
	c.markDue(a)
}

// handleChanged applies the shepherd's answers.
func (c *Core) handleChanged(answers []plan.Changed, r *Ready) {
	for _, w := range answers {
		a := c.attempts[w.Attempt]
		if a == nil || a.state == plan.Ended {
			continue
		}
		if w.Refused == "" && w.Version > 0 {
			a.limits, a.refused, a.refusedText = max(a.limits, w.Version), 0, ""
		}
		switch {
		case a.change == nil:
		case w.Version == 0: // qmaster sends what is not confirmed again, and the shepherd is not asked without end
			a.change = nil
		case a.change.version > w.Version: // a newer one has come meanwhile
			a.change.sent, a.change.queued = false, false
			c.sendLimitChange(a, r)
		case w.Refused != "":
			c.refuseLimits(a, w.Refused)
		default:
			a.change = nil
			c.markDue(a)
		}
	}
}
