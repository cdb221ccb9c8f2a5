package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// WhenNow returns why a request to change running jobs is refused, whatever the jobs are.
func WhenNow(b *gdi.Alter) *gdi.Answer {
	switch {
	case !b.Now:
		return nil
	case slices.Contains(b.Set, "soft_l"):
		return gdi.Invalid("when", "denied: -when now changes no soft requests")
	case !slices.Contains(b.Set, "l") || len(b.Job.Hard) == 0:
		return gdi.Invalid("when", "denied: -when now needs the limits to change, -l h_rss=2G")
	}
	return nil
}

// requestLimits replaces those limits among the requests of a job that are named, and leaves its other requests alone.
func requestLimits(c *cell.Cell, j *grid.Job, limits grid.Requests) string {
	hard, err := c.Cluster.Complex().Normalise(limits)
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

// KeepLimits has the tasks of a job that have started keep their limits in a version of the job that asks for others,
// without an event for each. Those that have limits of their own, or get them, do not need it.
func KeepLimits(c *cell.Cell, b *gdi.Alter, old, j *grid.Job) {
	before := grid.LimitsIn(old.Hard)
	if slices.Equal(before, grid.LimitsIn(j.Hard)) {
		return
	}
	j.Former = append(slices.Clip(j.Former), grid.FormerLimits{Until: j.Version, Limits: before})
	used := make([]bool, len(j.Former))
	for _, t := range c.State.Tasks(j.ID) {
		if !t.Started() || t.Limits != nil || b.Now && !cell.IsDying(t) {
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

// LimitTasks returns the started tasks of a job with the limits that they have after a change of running jobs. The text
// says why they cannot have them: then none is changed.
func LimitTasks(c *cell.Cell, b *gdi.Alter, old, j *grid.Job) (tasks []*grid.JATask, text string) {
	if !b.Now {
		return nil, ""
	}
	asked, _ := c.Cluster.Complex().Normalise(b.Job.Hard)
	trial := c.Cluster
	for _, t := range c.State.Tasks(j.ID) {
		if !t.Started() || cell.IsDying(t) {
			continue
		}
		n, l := *t, grid.Limits{Requests: grid.LimitsIn(t.Wanted(old))}
		if t.Limits != nil {
			l = *t.Limits
		}
		n.Limits = &l
		if l.Changing {
			return nil, fmt.Sprintf("denied: the limits of %s are being changed: not all of its hosts have confirmed",
				cell.DescribeTask(j, t.ID))
		}
		l.Version, l.Before, l.Requests, l.Changing, l.Refused = l.Version+1, l.Requests, l.Requests.With(asked), true, ""
		if text := unfitLimits(c, j, &n, asked); text != "" {
			return nil, text
		}
		if trial == c.Cluster {
			trial = c.Cluster.Copy(c.State)
		}
		if why := trial.Alter(&n); !why.Fits() {
			return nil, fmt.Sprintf("denied: no room for other limits of %s: %s", cell.DescribeTask(j, t.ID), why)
		}
		tasks = append(tasks, &n)
	}
	return tasks, ""
}

// unfitLimits returns why a task cannot have the limits that were asked for: its queues have smaller ones, or it uses
// more now.
func unfitLimits(c *cell.Cell, j *grid.Job, t *grid.JATask, asked grid.Requests) string {
	for i, g := range t.Grants {
		q := c.State.CQueue(g.Queue)
		if q == nil {
			continue
		}
		own := c.QueueFor(q, g.Host, nil)
		for _, r := range asked {
			if limit := *cell.LimitOf(&own, r.Name); r.Num > limit {
				return fmt.Sprintf("denied: %s=%s is more than the limit %s of queue instance %q", r.Name, r.Value,
					worthOf(c, r.Name, limit), g.Instance())
			}
			if slices.ContainsFunc(t.Grants[:i], func(o grid.Grant) bool { return o.Host == g.Host }) {
				continue
			}
			_, slots := cell.GrantOn(t, g.Host)
			if used, text := usesNow(c, t, g.Host, r.Name, slots); used > r.Num {
				return fmt.Sprintf("denied: %s uses %s on host %q, %s=%s is less", cell.DescribeTask(j, t.ID), text,
					g.Host, r.Name, r.Value)
			}
		}
	}
	return ""
}

// worthOf prints a value of a limit.
func worthOf(c *cell.Cell, name string, value float64) string {
	x := c.Cluster.Complex()
	if i := x.Find(name); i >= 0 {
		return x.List[i].Format(value)
	}
	return fmt.Sprint(value)
}

// usesNow returns what a task uses on a host of what a limit bounds, for each of its slots there where the limit counts
// for a slot, and as a text in all: by the newest reports of the host.
func usesNow(c *cell.Cell, t *grid.JATask, host, limit string, slots uint32) (used float64, text string) {
	var memory, space, cpu, processes float64
	add := func(u grid.Usage) {
		memory, processes = memory+u.RSS, processes+float64(u.Processes)
		space, cpu = max(space, u.VMem), max(cpu, u.CPU) // these hold for each attempt
	}
	if t.Grants[0].Host == host {
		add(t.Usage)
	}
	for _, p := range c.LivingPETasks(t) {
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
		used = c.Now.Sub(t.Start)
		return used, fmt.Sprintf("%.0f s of run time", used)
	case "s_cpu", "h_cpu":
		return cpu / n, fmt.Sprintf("%.0f s of processor time", cpu)
	case "s_vmem", "h_vmem":
		if conf := (&grid.Conf{Entries: c.ConfFor(host)}); strings.EqualFold(execdParam(conf, "H_VMEM"), "rlimit") {
			memory = space
		}
	}
	return memory / n, worthOf(c, limit, memory) + " of memory"
}

func execdParam(conf *grid.Conf, name string) string {
	text, _ := conf.Param("execd_params", name)
	return text
}
