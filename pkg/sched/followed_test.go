package sched_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// compare returns how the followed Cluster differs from others that must give the same answers; "" when it does not.
func (c *cell) compare() string {
	full := state.New()
	full.Apply(c.State.FullList())
	anew := sched.NewCluster(full)
	anew.Apply(c.State.FullList())
	jobs := jobsIn(c.State)
	followed := c.Cluster.Copy(c.State.Copy())
	want := answers(followed, c.State, c.Now, jobs)
	for _, other := range []struct {
		name string
		c    *sched.Cluster
		st   *state.State
	}{{"built from the full state", anew, full}, {"a second copy", c.Cluster.Copy(c.State.Copy()), c.State},
		{"lent", c.Cluster.Lend(), c.State}} {
		if got := answers(other.c, other.st, c.Now, jobsIn(other.st)); got != want {
			return differ("followed", want, other.name, got)
		}
	}
	if tried := c.tried; tried != nil {
		c.tried = nil
		want := usual(want)
		if got := usual(answers(tried, c.State, c.Now, jobs)); got != want {
			return differ("followed", want, "decided before the event", got)
		}
	}
	if why := c.keptNeeds(jobs); why != "" {
		return why
	}
	return c.laws(jobs)
}

// laws returns which of two answers to one question contradict each other.
func (c *cell) laws(jobs []*grid.Job) string {
	run := c.Cluster.Copy(c.State.Copy())
	run.Begin(c.Now)
	names := map[string]int{}
	run.EachInstance(func(i sched.Instance) bool {
		names[i.Queue.Name+"@"+i.Host] = i.Number
		return true
	})
	for _, j := range jobs {
		n := run.Need(j)
		p, why := run.FindPlacement(n, &sched.Cursor{})
		if again := run.Why(n); again.Fits() != why.Fits() {
			return fmt.Sprintf("job %d: placed %v %v, but why is %v\n", j.ID, p, why, again)
		}
		if why.Fits() {
			if r := run.Fits(j, p.Grants, p.PE); !r.Fits() {
				return fmt.Sprintf("job %d: placed %v, but %v\n", j.ID, p, r)
			}
			maps, r := run.Instances(j, p.Grants)
			if !r.Fits() {
				return fmt.Sprintf("job %d: placed %v, but %v\n", j.ID, p, r)
			}
			if _, r := run.Cores(j, p.Grants, maps); !r.Fits() {
				return fmt.Sprintf("job %d: placed %v, but %v\n", j.ID, p, r)
			}
		} else if len(run.Unplaceable(j, c.Now)) == 0 {
			return fmt.Sprintf("job %d: no placement, but no reason\n", j.ID)
		}
		if j.PE != "" || j.AR != 0 {
			continue
		}
		for _, near := range run.Closest(n, 1000) {
			at, ok := run.FindPlacementAt(n, names[near.Instance])
			if ok != (len(near.Lacks) == 0) {
				return fmt.Sprintf("job %d: placed at %s %v, but it lacks %v\n", j.ID, near.Instance, ok, near.Lacks)
			}
			if ok && len(j.Soft) == 0 && !why.Fits() {
				return fmt.Sprintf("job %d: placed at %v, but a search has %v\n", j.ID, at, why)
			}
			if ok {
				if r := run.Fits(j, at.Grants, at.PE); !r.Fits() {
					return fmt.Sprintf("job %d: placed at %v, but %v\n", j.ID, at, r)
				}
			}
		}
	}
	return c.promises(jobs)
}

// closes reports whether queues or slots may become free of which Earliest does not know when: those of subordinate
// queues and of advance reservations that are over, and of tasks that may run for ever.
func (c *cell) closes() bool {
	return slices.ContainsFunc(c.State.ARs(), (*grid.AR).Over) ||
		slices.ContainsFunc(c.State.CQueues(), func(q *grid.CQueue) bool {
			return len(q.SubordinateList.Value) > 0
		}) || c.runsForEver()
}

// runsForEver reports whether a task has started that is not thought to end.
func (c *cell) runsForEver() (found bool) {
	c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() && c.State.Job(t.Job) != nil {
			held := &grid.Job{JobRequest: &grid.JobRequest{Hard: t.Held(c.State.Job(t.Job))}}
			found = found || c.Cluster.Duration(held) >= grid.Infinity
		}
		return !found
	})
	return found
}

// empty places a job long after all tasks and advance reservations have ended.
func (c *cell) empty(j *grid.Job) (sched.Placement, reason.Reason) {
	then := c.branch()
	then.Now = c.Now.Add(1e6)
	c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		then.Apply(events.Del(grid.KindJATask, o.Key()))
		return true
	})
	c.State.Each(grid.KindAR, func(o grid.Object) bool {
		then.Apply(events.Del(grid.KindAR, o.Key()))
		return true
	})
	then.Cluster.Begin(then.Now)
	return then.Cluster.FindPlacement(then.Cluster.Need(j), &sched.Cursor{})
}

// promises holds the earliest time of each job against what is found then, when all tasks have ended that should have.
func (c *cell) promises(jobs []*grid.Job) string {
	run := c.Cluster.Copy(c.State.Copy())
	run.Begin(c.Now)
	if run.MaxReservation() == 0 || len(c.State.SchedConf().JobLoadAdjustments) > 0 {
		return "" // what load will be is not known
	}
	for _, j := range jobs {
		if j.AR != 0 || j.PE != "" && c.State.Len(grid.KindRQS) > 0 {
			// the cells have reservations over running tasks, and a search in a parallel environment may miss a place under
			// quotas
			continue
		}
		n := run.Need(j)
		_, why := run.FindPlacement(n, &sched.Cursor{})
		p, at, never := run.Earliest(n, c.Now)
		if !never.Fits() {
			if !c.closes() {
				if p, when := c.empty(j); when.Fits() {
					return fmt.Sprintf("promise: job %d (now %v): no earliest time: %v, but when all tasks have ended: %v\n",
						j.ID, why, never, p)
				}
			}
			continue
		}
		then := c.branch()
		then.Now = at
		c.State.Each(grid.KindJATask, func(o grid.Object) bool {
			if t := o.(*grid.JATask); t.Started() && c.State.Job(t.Job) != nil {
				if t.Start.Add(run.Duration(&grid.Job{JobRequest: &grid.JobRequest{Hard: t.Held(c.State.Job(t.Job))}})) <= at {
					then.End(t.Job, t.ID)
				}
			}
			return true
		})
		if then.State.Job(j.ID) == nil {
			continue
		}
		look := then.Cluster.Copy(then.State.Copy())
		look.Begin(at)
		if slices.ContainsFunc(look.Closed(1000), func(r reason.Reason) bool {
			return r.Code == reason.QueueAlarm || r.Code == reason.QueueSuspendAlarm
		}) {
			continue // what load will be is not known
		}
		if q, later := look.FindPlacement(look.Need(j), &sched.Cursor{}); !later.Fits() {
			return fmt.Sprintf("promise: job %d (now %v): earliest %v at %v, but then %v %v\n", j.ID, why, p, at, q, later)
		}
	}
	return ""
}

// usual are the answers that a run, which does not know the instances and cores of tasks yet, gives as well.
func usual(answers string) string {
	var out []string
	for line := range strings.SplitSeq(answers, "\n") {
		switch what, _, _ := strings.Cut(line, " "); what {
		case "instance", "quota", "usable", "place", "at", "earliest":
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// differ returns the lines in which two lists of answers differ.
func differ(a, want, b, got string) string {
	left, right := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	n := 0
	for i := range max(len(left), len(right)) {
		var x, y string
		if i < len(left) {
			x = left[i]
		}
		if i < len(right) {
			y = right[i]
		}
		if x != y && n < 6 {
			n++
			fmt.Fprintf(&out, "%s: %s\n%s: %s\n", a, x, b, y)
		}
	}
	return out.String()
}

// keptNeeds compares searches with needs that are kept from one list to the next, as a model keeps one for each
// category, with searches that keep nothing of earlier ones.
func (c *cell) keptNeeds(jobs []*grid.Job) string {
	run := c.Cluster.Lend()
	run.Begin(c.Now)
	for _, j := range jobs {
		name := run.Category(j)
		n := c.needs[name]
		if n == nil || !n.Current(run) {
			n = run.Need(j)
			c.needs[name] = n
		}
		surely := run.Infeasible(n)
		p, why := run.FindPlacement(n, &sched.Cursor{})
		fresh, reason := run.FindPlacement(run.Need(j), &sched.Cursor{})
		if fmt.Sprint(p, why.Fits()) != fmt.Sprint(fresh, reason.Fits()) || surely && reason.Fits() {
			return fmt.Sprintf("job %d, %s: with what is known of category %q: %v %v, infeasible %v\nwithout: %v %v\n", j.ID,
				j.Owner, name, p, why, surely, fresh, reason)
		}
	}
	return ""
}

func jobsIn(st *state.State) (jobs []*grid.Job) {
	st.Each(grid.KindJob, func(o grid.Object) bool {
		jobs = append(jobs, o.(*grid.Job))
		return true
	})
	return jobs
}

// answers are all that a Cluster says of a state, a line for each question. The Cluster is used up.
func answers(c *sched.Cluster, st *state.State, now grid.Time, jobs []*grid.Job) string {
	c.Begin(now)
	var b strings.Builder
	say := func(what string, args ...any) { fmt.Fprintf(&b, "%s %v\n", what, args) }
	hosts := []string{grid.GlobalHost}
	n := 0
	c.EachInstance(func(i sched.Instance) bool {
		n++
		say("instance "+i.Queue.Name+"@"+i.Host, i.Number, i.Slots, i.Used, i.State, i.PEs, i.Batch, i.Users,
			i.LoadAlarm != nil, i.SuspendAlarm != nil)
		say("there", resourcesText(c.Resources(i.Number, false)))
		if !slices.Contains(hosts, i.Host) {
			hosts = append(hosts, i.Host)
		}
		return true
	})
	for _, h := range hosts {
		say("host "+h, resourcesText(c.HostResources(h, false)), c.Subordinating(h), c.Subordinates(h), c.InstancesOn(h))
		say("map", usesText(c.InstanceUses("gpu", h, nil)))
		if t, suspend := c.Preempt(h); t != nil {
			say("slot-wise", t.Job, t.ID, suspend)
		}
	}
	for _, q := range c.Quotas() {
		say("quota", q.Set, q.Rule, q.By, q.Attribute.Name, q.Written, q.Limit, q.Used)
	}
	slots, free := c.Usable()
	say("usable", slots, free, c.Open(), c.OpenHosts(), c.Idle(), c.Closed(100), c.Overdrawn(), c.MaxUJobs(), c.Personal(),
		c.CategoryBasis(), c.UrgencyBasis())
	crossings := c.Crossings()
	slices.SortFunc(crossings, func(x, y sched.Crossing) int {
		return int(x.Job)*100 + int(x.Task) - int(y.Job)*100 - int(y.Task)
	})
	say("crossings", crossings)
	for _, t := range c.Preempted() {
		say("preempted", t.Job, t.ID, t.State, c.FitsAgain(t))
	}
	for _, j := range jobs {
		need := c.Need(j)
		p, why := c.FindPlacement(need, &sched.Cursor{})
		say("job", j.ID, c.Started(j.ID), c.StartedOf(j.Owner), c.TasksAtOnce(j), c.Category(j), c.Duration(j),
			c.ResourceUrgency(j), c.AssumedSlots(j))
		say("place", p, why, c.Why(need), !c.Infeasible(need) || !why.Fits())
		say("explain", c.Explain(need, why, 100))
		for _, near := range c.Closest(need, 100) {
			say("near "+near.Instance, near.Lacks)
		}
		if why.Fits() {
			maps, short := c.Instances(j, p.Grants)
			cores, few := c.Cores(j, p.Grants, maps)
			say("fits", c.Fits(j, p.Grants, p.PE), maps, short, cores, few, c.Allocations(j, p.Grants, p.PE))
		}
		later, at, why := c.Earliest(need, now)
		say("earliest", later, at, why)
		if j.PE == "" && j.AR == 0 {
			for i := range n {
				p, ok := c.FindPlacementAt(need, i)
				say("at", p, ok, c.Allows(need, i))
			}
		}
	}
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() && st.Job(t.Job) != nil {
			say("holds", t.Job, t.ID, c.Holds(st.Job(t.Job), t))
		}
		return true
	})
	for _, j := range jobs { // a run
		need := c.Need(j)
		if p, why := c.FindPlacement(need, &sched.Cursor{}); why.Fits() {
			c.Book(need, j, p)
			say("book", p)
		} else if p, at, why := c.Earliest(need, now); why.Fits() {
			c.Reserve(need, p, at)
			say("reserve", p, at)
		}
	}
	return b.String()
}

func resourcesText(list []sched.Resource) (out []string) {
	for _, r := range list {
		out = append(out, fmt.Sprintf("%c%c:%s=%g%s%v", r.Level, r.Source, r.Attribute.Name, r.Number, r.Text, r.Instances))
	}
	return out
}

func usesText(list []sched.InstanceUse) (out []string) {
	for _, u := range list {
		out = append(out, fmt.Sprint(u.ID, u.Free, u.Jobs, u.Health != nil))
	}
	return out
}
