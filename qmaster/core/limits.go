package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// qalter -when now: the limits of tasks that run are changed. The change is in the state first (grid.Limits), and the hosts of
// the task are sent it until each has confirmed. A host refuses a limit below what the job uses, or one that it cannot enforce;
// then the old limits hold, and for a parallel job, of which other hosts have applied them, the larger of both: for these the
// hosts are sent another version.

// whenNow returns why a request to change running jobs is refused, whatever the jobs are.
func whenNow(b *gdi.Alter) *gdi.Answer {
	switch {
	case !b.Now:
		return nil
	case slices.Contains(b.Set, "soft_l"):
		return wrong("when", "denied: -when now changes no soft requests")
	case !slices.Contains(b.Set, "l") || len(b.Job.Hard) == 0:
		return wrong("when", "denied: -when now needs the limits to change, -l h_rss=2G")
	}
	return nil
}

// requestLimits replaces those limits among the requests of a job that are named, and leaves its other requests alone.
func (c *Core) requestLimits(j *grid.Job, limits grid.Requests) string {
	hard, err := c.cluster.Complex().Normalise(limits)
	if err != nil {
		return err.Error()
	}
	for _, r := range hard {
		if !grid.RunningLimits.Has(r.Name) {
			return fmt.Sprintf("denied: request %q of job %d can't be changed while it runs: -when now changes %s",
				r.Name, j.ID, strings.Join(grid.RunningLimits, ", "))
		}
		if !(r.Num > 0) {
			return fmt.Sprintf("denied: %s=%s of job %d is no limit", r.Name, r.Value, j.ID)
		}
	}
	j.Hard = j.Hard.With(hard)
	return ""
}

// keepLimits has the tasks of a job that have started keep their limits in a version of the job that asks for others, without an
// event for each. Those that have limits of their own, or get them, do not need it.
func (c *Core) keepLimits(b *gdi.Alter, old, j *grid.Job) {
	before := grid.LimitsIn(old.Hard)
	if slices.Equal(before, grid.LimitsIn(j.Hard)) {
		return
	}
	j.Former = append(slices.Clip(j.Former), grid.FormerLimits{Until: j.Version, Limits: before})
	used := make([]bool, len(j.Former))
	for _, t := range c.state.Tasks(j.ID) {
		if !t.Started() || t.Limits != nil || b.Now && !dying(t) {
			continue
		}
		if i := slices.IndexFunc(j.Former, func(f grid.FormerLimits) bool { return t.JobVersion < f.Until }); i >= 0 {
			used[i] = true
		}
	}
	var kept []grid.FormerLimits
	for i, f := range j.Former {
		if used[i] {
			kept = append(kept, f)
		}
	}
	j.Former = kept
}

// limitTasks returns the started tasks of a job with the limits that they have after a change of running jobs. The text says why
// they cannot have them: then none is changed.
func (c *Core) limitTasks(b *gdi.Alter, old, j *grid.Job) (tasks []*grid.JATask, text string) {
	if !b.Now {
		return nil, ""
	}
	asked, _ := c.cluster.Complex().Normalise(b.Job.Hard)
	trial := c.cluster
	for _, t := range c.state.Tasks(j.ID) {
		if !t.Started() || dying(t) {
			continue
		}
		n, l := *t, grid.Limits{Requests: grid.LimitsIn(t.Wanted(old))}
		if t.Limits != nil {
			l = *t.Limits
		}
		n.Limits = &l
		if l.Changing {
			return nil, fmt.Sprintf("denied: the limits of %s are being changed: not all of its hosts have confirmed", describe(j, t.ID))
		}
		l.Version, l.Before, l.Requests, l.Changing, l.Refused = l.Version+1, l.Requests, l.Requests.With(asked), true, ""
		if text := c.unfitLimits(j, &n, asked); text != "" {
			return nil, text
		}
		if trial == c.cluster {
			trial = c.cluster.Copy(c.state)
		}
		if why := trial.Alter(&n); !why.Fits() {
			return nil, fmt.Sprintf("denied: no room for other limits of %s: %s", describe(j, t.ID), why)
		}
		tasks = append(tasks, &n)
	}
	return tasks, ""
}

// unfitLimits returns why a task cannot have the limits that were asked for: its queues have smaller ones, or it uses more now.
func (c *Core) unfitLimits(j *grid.Job, t *grid.JATask, asked grid.Requests) string {
	for i, g := range t.Grants {
		q := c.state.CQueue(g.Queue)
		if q == nil {
			continue
		}
		own := c.queueFor(q, g.Host, nil)
		for _, r := range asked {
			if limit := *limitOf(&own, r.Name); r.Num > limit {
				return fmt.Sprintf("denied: %s=%s is more than the limit %s of queue instance %q", r.Name, r.Value, c.worthOf(r.Name, limit), g.Instance())
			}
			if slices.ContainsFunc(t.Grants[:i], func(o grid.Grant) bool { return o.Host == g.Host }) {
				continue
			}
			_, slots := grantOn(t, g.Host)
			if used, text := c.usesNow(t, g.Host, r.Name, slots); used > r.Num {
				return fmt.Sprintf("denied: %s uses %s on host %q, %s=%s is less", describe(j, t.ID), text, g.Host, r.Name, r.Value)
			}
		}
	}
	return ""
}

// worthOf prints a value of a limit.
func (c *Core) worthOf(name string, value float64) string {
	x := c.cluster.Complex()
	if i := x.Find(name); i >= 0 {
		return x.List[i].Format(value)
	}
	return fmt.Sprint(value)
}

// usesNow returns what a task uses on a host of what a limit bounds, for each of its slots there where the limit counts for a slot,
// and as a text in all: by the newest reports of the host.
func (c *Core) usesNow(t *grid.JATask, host, limit string, slots uint32) (used float64, text string) {
	var memory, space, cpu, processes float64
	add := func(u grid.Usage) {
		memory, processes = memory+u.RSS, processes+float64(u.Processes)
		space, cpu = max(space, u.VMem), max(cpu, u.CPU) // these hold for each attempt
	}
	if t.Grants[0].Host == host {
		add(t.Usage)
	}
	for _, p := range c.living(t) {
		if p.Host == host {
			add(p.Usage)
		}
	}
	n := float64(max(slots, 1))
	switch limit {
	case "h_pids":
		return processes, fmt.Sprintf("%.0f processes and threads", processes)
	case "s_rt", "h_rt":
		if t.Status != grid.Running || t.Grants[0].Host != host {
			return 0, ""
		}
		used = c.now.Sub(t.Start)
		return used, fmt.Sprintf("%.0f s of run time", used)
	case "s_cpu", "h_cpu":
		return cpu / n, fmt.Sprintf("%.0f s of processor time", cpu)
	case "s_vmem", "h_vmem":
		if conf := (&grid.Conf{Entries: c.confFor(host)}); strings.EqualFold(execdParam(conf, "H_VMEM"), "rlimit") {
			memory = space
		}
	}
	return memory / n, c.worthOf(limit, memory) + " of memory"
}

func execdParam(conf *grid.Conf, name string) string {
	text, _ := conf.Param("execd_params", name)
	return text
}

// emitLimits emits the tasks of limitTasks and sends their hosts what has changed.
func (c *Core) emitLimits(tasks []*grid.JATask) {
	for _, t := range tasks {
		c.emit(events.Mod(t))
		c.touch(t.Grants)
		c.sendLimits(t)
	}
}

// sendLimits sends the limits of a task to all its hosts that have not confirmed them.
func (c *Core) sendLimits(t *grid.JATask) {
	if t.Limits.Applied != t.Limits.Version {
		c.limitHost(t.Grants[0].Host, t, attemptOf(t))
	}
	for _, p := range c.living(t) {
		if p.Limits != t.Limits.Version {
			c.limitHost(p.Host, t, peAttemptOf(p))
		}
	}
}

// limitHost sends a host the limits of an attempt.
func (c *Core) limitHost(host string, t *grid.JATask, a report.Attempt) {
	g, slots := grantOn(t, host)
	q, l := c.state.CQueue(g.Queue), t.Limits
	if q == nil {
		return
	}
	cmd := c.command(host)
	change := report.Limits{
		Attempt: a, Version: l.Version, Queue: queueIn(cmd, c.queueOf(t, c.state.Job(t.Job), q, g.Host)), Slots: slots, Anyway: l.Refused != "",
	}
	for _, r := range l.Requests {
		if old, had := l.Before.Get(r.Name); !had || old != r {
			change.Changed = append(change.Changed, r.Name)
		}
	}
	cmd.Limits = append(cmd.Limits, change)
	c.sent.hosts(host).limited[keyOf(a)] = c.now
}

// unlimited returns the task and the attempt of a key that a host has yet to confirm the limits of; nil: there is none.
func (c *Core) unlimited(host string, key grid.Key) (t *grid.JATask, a report.Attempt) {
	t = c.state.Task(key.ID, key.Sub)
	if t == nil || !t.Started() || dying(t) || t.Limits == nil {
		return nil, a
	}
	if key.Name == "" {
		if t.Grants[0].Host != host || t.Limits.Applied == t.Limits.Version {
			return nil, a
		}
		return t, attemptOf(t)
	}
	p := c.state.PETask(key)
	if p == nil || p.Host != host || p.Limits == t.Limits.Version {
		return nil, a
	}
	return t, peAttemptOf(p)
}

// resendLimits repeats the limits that a host has not confirmed.
func (c *Core) resendLimits(host string, talk *hostTalk) {
	for _, key := range sortedTasks(talk.limited) {
		t, a := c.unlimited(host, key)
		switch {
		case t == nil:
			delete(talk.limited, key)
			c.settleLimits(c.state.Task(key.ID, key.Sub)) // the last that had not confirmed may be gone
		case c.now.Sub(talk.limited[key]) >= resendSeconds:
			c.limitHost(host, t, a)
		}
	}
}

// limited takes in what a host reports of the limits of an attempt that runs. anew: the host has just connected.
func (c *Core) limited(host string, r report.Task, anew bool) {
	a := r.Attempt
	t, own := c.unlimited(host, keyOf(a))
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
		c.limitHost(host, t, a)
	}
}

// confirmLimits records that an attempt has the limits of its task.
func (c *Core) confirmLimits(t *grid.JATask, a report.Attempt) {
	if a.PETask != "" {
		p := *c.state.PETask(keyOf(a))
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
func (c *Core) allLimited(t *grid.JATask) bool {
	return t.Limits.Applied == t.Limits.Version &&
		!slices.ContainsFunc(c.living(t), func(p *grid.PETask) bool { return p.Limits != t.Limits.Version })
}

// limitsRefused has the larger limits hold after a host did not apply the new ones. A job with one task asks for them again, too.
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
