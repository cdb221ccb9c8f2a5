package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// qalter -when now: the limits of tasks that run are changed. The change is in the state first (grid.Limits), and the
// hosts of the task are sent it until each has confirmed. A host refuses a limit below what the job uses, or one that
// it cannot enforce; then the old limits hold, and for a parallel job, of which other hosts have applied them, the
// larger of both: for these the hosts are sent another version.

// emitLimits emits the tasks of validate.LimitTasks and sends their hosts what has changed.
func (c *Core) emitLimits(tasks []*grid.JATask) {
	for _, t := range tasks {
		c.emit(events.Mod(t))
		c.touch(t.Grants)
		c.outbox.sendLimits(t)
	}
}

// unconfirmedLimits returns the task and the attempt of a key that a host has yet to confirm the limits of; nil: there
// is none.
func (s *step) unconfirmedLimits(host string, key grid.Key) (t *grid.JATask, a report.Attempt) {
	t = s.state.Task(key.ID, key.Sub)
	if t == nil || !t.Started() || cell.IsDying(t) || t.Limits == nil {
		return nil, a
	}
	if key.Name == "" {
		if t.Grants[0].Host != host || t.Limits.Applied == t.Limits.Version {
			return nil, a
		}
		return t, cell.AttemptOf(t)
	}
	p := s.state.PETask(key)
	if p == nil || p.Host != host || p.Limits == t.Limits.Version {
		return nil, a
	}
	return t, cell.PEAttemptOf(p)
}

// resendLimits repeats the limits that a host has not confirmed.
func (c *Core) resendLimits(host string, talk *hostTalk) {
	for _, key := range sortedTasks(talk.limited) {
		t, a := c.unconfirmedLimits(host, key)
		switch {
		case t == nil:
			delete(talk.limited, key)
			c.settleLimits(c.state.Task(key.ID, key.Sub)) // the last that had not confirmed may be gone
		case c.cell.Now.Sub(talk.limited[key]) >= resendSeconds:
			c.outbox.sendLimitsTo(host, t, a)
		}
	}
}

// limited takes in what a host reports of the limits of an attempt that runs. anew: the host has just connected.
func (c *Core) limited(host string, r report.Task, anew bool) {
	a := r.Attempt
	t, own := c.unconfirmedLimits(host, cell.KeyOf(a))
	if t == nil || own != a {
		return
	}
	l := t.Limits
	switch {
	case r.Limits == l.Version, r.Refused == l.Version && l.Refused != "": // or as far as the host can
		c.confirmLimits(t, a)
	case r.Refused == l.Version:
		c.limitsRefused(t, host, r.RefusedText)
	case anew:
		c.outbox.sendLimitsTo(host, t, a)
	}
}

// confirmLimits records that an attempt has the limits of its task.
func (c *Core) confirmLimits(t *grid.JATask, a report.Attempt) {
	if a.PETask != "" {
		p := *c.state.PETask(cell.KeyOf(a))
		p.Limits = t.Limits.Version
		c.emit(events.Mod(&p))
		c.settleLimits(t)
		return
	}
	n, l := *t, *t.Limits
	l.Applied = l.Version
	n.Limits = &l
	if c.allLimited(&n) {
		l.Before, l.Changing = nil, false
	}
	c.emit(events.Mod(&n))
	c.touch(n.Grants)
}

// settleLimits ends the change of a task's limits once all its attempts have them.
func (c *Core) settleLimits(t *grid.JATask) {
	if t == nil || t.Limits == nil || !t.Limits.Changing || !c.allLimited(t) {
		return
	}
	n, l := *t, *t.Limits
	l.Before, l.Changing = nil, false
	n.Limits = &l
	c.emit(events.Mod(&n))
	c.touch(n.Grants)
}

// allLimited reports whether all attempts of a task have its limits.
func (s *step) allLimited(t *grid.JATask) bool {
	return t.Limits.Applied == t.Limits.Version &&
		!slices.ContainsFunc(s.cell.LivingPETasks(t), func(p *grid.PETask) bool { return p.Limits != t.Limits.Version })
}

// limitsRefused has the larger limits hold after a host did not apply the new ones. A job with one task asks for them
// again, too.
func (c *Core) limitsRefused(t *grid.JATask, host, why string) {
	n, old := *t, t.Limits
	var asked []string
	for _, r := range old.Requests {
		if was, had := old.Before.Get(r.Name); !had || was != r {
			asked = append(asked, r.Name+"="+r.Value)
		}
	}
	holds := old.Larger()
	if t.PE == "" { // nothing else of it has them
		holds = old.Before
	}
	n.Limits = &grid.Limits{
		Version: old.Version + 1, Requests: holds, Changing: true, Applied: old.Applied,
		Refused: fmt.Sprintf("%s not applied on host %s: %s", strings.Join(asked, ","), host, why),
	}
	if j := c.state.Job(t.Job); !j.Array && slices.Equal(grid.LimitsIn(j.Hard), old.Requests) {
		again := *j
		again.Ask().Hard = grid.WithLimits(j.Hard, holds)
		if !slices.Equal(again.Hard, j.Hard) {
			again.Version++
			c.emit(events.Mod(&again))
		}
	}
	c.emitLimits([]*grid.JATask{&n})
}
