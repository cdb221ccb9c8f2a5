package grid

import "slices"

// RunningLimits are the requests that can be changed while a task runs: qalter -when now.
var RunningLimits = Names{"s_rt", "h_rt", "s_cpu", "h_cpu", "s_rss", "h_rss", "s_vmem", "h_vmem", "h_pids"}

// FormerLimits are the RunningLimits that a job asked for before it had a version.
type FormerLimits struct {
	Until  uint32 // this Version of the job
	Limits Requests
}

// Limits are what holds for the current attempt of a task since qalter -when now has changed its limits. A task without
// them has the limits that its job asked for when it started.
//
//	qalter -when now ──▶ Version+1, Before = what held, Changing ──▶ hosts
//	    all have confirmed    ──▶ Before = nil
//	    a host has refused    ──▶ Version+1, Requests = Before, of a parallel job the larger of both, Refused ──▶ hosts
//
// While the hosts have not confirmed, the task holds the larger of both of what is consumable: nothing is given to two.
type Limits struct {
	Version  uint32   // rises with each change, in the attempt
	Requests Requests // all of RunningLimits that are asked for
	Before   Requests // while Changing: those that held before
	Changing bool     // a host has yet to confirm Version
	Applied  uint32   // the Version that the host of the job's script has; PETask.Limits is that of a PE task
	Refused  string   `see:"text"` // why the last change does not hold; "": it does
}

// LimitsIn returns the requests of a list that are RunningLimits.
func LimitsIn(hard Requests) (limits Requests) {
	for _, r := range hard {
		if RunningLimits.Has(r.Name) {
			limits = append(limits, r)
		}
	}
	return limits
}

// WithLimits returns a list of requests with these RunningLimits in place of its own.
func WithLimits(hard, limits Requests) Requests {
	others := func(r Request) bool { return !RunningLimits.Has(r.Name) }
	out := make(Requests, 0, len(hard)+len(limits))
	for _, r := range hard {
		if others(r) {
			out = append(out, r)
		}
	}
	return append(out, limits...)
}

// With returns a list of requests with those of another in place of those of the same names, or after.
func (r Requests) With(others Requests) Requests {
	if len(others) == 0 {
		return r
	}
	out := slices.Clone(r)
	for _, o := range others {
		if i := slices.IndexFunc(out, func(r Request) bool { return r.Name == o.Name }); i >= 0 {
			out[i] = o
		} else {
			out = append(out, o)
		}
	}
	return out
}

// Wanted are the hard requests of the job as they hold for the task, or will when its hosts have confirmed.
func (t *JATask) Wanted(j *Job) Requests {
	hard := j.Hard.With(t.Takes)
	if t.Limits != nil {
		return WithLimits(hard, t.Limits.Requests)
	}
	if t.Started() {
		for i := range j.Former {
			if f := &j.Former[i]; t.JobVersion < f.Until {
				return WithLimits(j.Hard, f.Limits).With(t.Takes)
			}
		}
	}
	return hard
}

// Held are the hard requests of the job that a started task is counted with.
func (t *JATask) Held(j *Job) Requests {
	if t.Limits == nil || !t.Limits.Changing {
		return t.Wanted(j)
	}
	return WithLimits(j.Hard.With(t.Takes), t.Limits.larger(false))
}

// Larger are the limits before and after the change, of each the larger: what holds when a host does not apply the
// change.
func (l *Limits) Larger() Requests { return l.larger(true) }

// larger merges Before and Requests. A limit that one of them does not have is the larger one as a limit, and the
// smaller one as what the task takes.
func (l *Limits) larger(limit bool) (out Requests) {
	for _, r := range l.Requests {
		old, had := l.Before.Get(r.Name)
		switch {
		case !had && limit:
		case had && old.Num > r.Num:
			out = append(out, old)
		default:
			out = append(out, r)
		}
	}
	for _, old := range l.Before { // qalter -when now removes none
		if _, has := l.Requests.Get(old.Name); !has {
			out = append(out, old)
		}
	}
	return out
}

// Text is the limits in one line: h_rss=2G,h_pids=10, what is under way, and what was refused.
func (l *Limits) Text() string {
	text := l.Requests.Text()
	if text == "" {
		text = "NONE"
	}
	switch {
	case l.Changing && l.Refused == "":
		text += " (not confirmed yet"
		if len(l.Before) > 0 {
			text += ", before: " + l.Before.Text()
		}
		text += ")"
	case l.Refused != "":
		text += " (" + l.Refused + ")"
	}
	return text
}
