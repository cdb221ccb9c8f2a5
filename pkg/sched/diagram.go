package sched

import (
	"slices"
	"sort"

	"github.com/quill-grid/quill/pkg/grid"
)

// diagram is how much of one resource is taken at which time, the resource utilization
// diagram of Grid Engine. Use at the present time is in the utilization; the diagram has
// the future:
//
//	use │▓▓▓▓▓▓▓▓▓
//	    │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓   ░░░░░░   plans: reservations, advance
//	    │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░  reservations, closed windows
//	   now      ends of tasks
//
// Running tasks only end, so their part never rises; where there are no plans, a
// placement that fits now always fits. A diagram is written by the owner of its token
// alone; others first clone it (see Cluster.diagram) and the steps that they change.
type diagram struct {
	token    *byte
	ends     []step // what running tasks still hold from a time on
	plans    []step // what is planned from a time on; before the first: nothing
	ownEnds  bool
	ownPlans bool
}

// ownSteps makes steps the diagram's own, with room for what is coming.
func ownSteps(steps *[]step, owned *bool) {
	if !*owned {
		*steps, *owned = append(make([]step, 0, len(*steps)+4), *steps...), true
	}
}

// step is an amount that holds from a time until the next step.
type step struct {
	at     grid.Time
	amount float64
}

const never = grid.Never

// window is the time from start until before end.
type window struct{ start, end grid.Time }

// clock is the moment of a decision, and until when tasks that should have
// ended by now are assumed to run for one schedule_interval more.
type clock struct{ now, late grid.Time }

// following is the place of the first step after a time.
func following(steps []step, t grid.Time) int {
	return sort.Search(len(steps), func(i int) bool { return steps[i].at > t })
}

// valueAt is the amount at a time.
func valueAt(steps []step, t grid.Time, first float64) float64 {
	if i := following(steps, t); i > 0 {
		return steps[i-1].amount
	}
	return first
}

// raise adds an amount to a window, and drops the steps that are none any
// more. The steps begin with the amount `first`.
func raise(steps []step, first float64, w window, amount float64) []step {
	if w.start >= w.end {
		return steps
	}
	steps, i := cut(steps, first, w.start)
	k := len(steps)
	if w.end < never {
		steps, k = cut(steps, first, w.end)
	}
	for n := i; n < k; n++ {
		steps[n].amount += amount
	}
	if w.end < never {
		steps = join(steps, first, k)
	}
	return join(steps, first, i)
}

// cut makes sure that a step begins at a time and returns its place.
func cut(steps []step, first float64, t grid.Time) ([]step, int) {
	i := following(steps, t)
	if i > 0 && steps[i-1].at == t {
		return steps, i - 1
	}
	if i > 0 {
		first = steps[i-1].amount
	}
	return slices.Insert(steps, i, step{t, first}), i
}

// join drops a step in which nothing changes.
func join(steps []step, first float64, i int) []step {
	if i > 0 {
		first = steps[i-1].amount
	}
	if d := steps[i].amount - first; d > -1e-6 && d < 1e-6 {
		return slices.Delete(steps, i, i+1)
	}
	return steps
}

// hold counts a running task that ends at a time; used is what was in use
// without it.
func (d *diagram) hold(used float64, end grid.Time, amount float64) {
	ownSteps(&d.ends, &d.ownEnds)
	k := len(d.ends)
	if end < never {
		d.ends, k = cut(d.ends, used, end)
	}
	for i := range d.ends[:k] {
		d.ends[i].amount += amount
	}
}

// release takes a hold back; used is what is in use without it.
func (d *diagram) release(used float64, end grid.Time, amount float64) {
	ownSteps(&d.ends, &d.ownEnds)
	k := len(d.ends)
	if end < never {
		d.ends, k = cut(d.ends, used+amount, end)
	}
	for i := range d.ends[:k] {
		d.ends[i].amount -= amount
	}
	if end < never {
		d.ends = join(d.ends, used, k)
	}
}

// plan adds an amount to what is planned for a window.
func (d *diagram) plan(w window, amount float64) {
	ownSteps(&d.plans, &d.ownPlans)
	d.plans = raise(d.plans, 0, w, amount)
}

// running is what running tasks hold at a time.
func (d *diagram) running(used float64, t grid.Time, c clock) float64 {
	amount := valueAt(d.ends, t, used)
	if t < c.late {
		amount += used - valueAt(d.ends, c.now, used)
	}
	return amount
}

// peak is the most that is taken at any time of a window.
func (d *diagram) peak(used float64, w window, c clock) float64 {
	i := following(d.plans, w.start)
	planned := 0.0
	if i > 0 {
		planned = d.plans[i-1].amount
	}
	most := d.running(used, w.start, c) + planned
	for ; i < len(d.plans) && d.plans[i].at < w.end; i++ {
		if p := d.plans[i].amount; p > planned {
			most = max(most, d.running(used, d.plans[i].at, c)+p)
		}
		planned = d.plans[i].amount
	}
	return most
}

// falls is the earliest time from which running tasks hold no more than a
// limit.
func (d *diagram) falls(used, limit float64, c clock) grid.Time {
	if used <= limit+tiny {
		return c.now
	}
	late := used - valueAt(d.ends, c.now, used)
	i := sort.Search(len(d.ends), func(i int) bool { return d.ends[i].amount+late <= limit+tiny })
	if i < len(d.ends) && (late == 0 || d.ends[i].at < c.late) {
		return d.ends[i].at
	}
	if late == 0 {
		return never
	}
	i = sort.Search(len(d.ends), func(i int) bool { return d.ends[i].amount <= limit+tiny })
	if i == len(d.ends) {
		return never
	}
	return max(d.ends[i].at, c.late)
}

// earliest is the first time, from a time on, at which no more than a limit is
// taken for so many seconds; never when there is none. Holes between plans
// will do if they are long enough.
func (d *diagram) earliest(used float64, from grid.Time, seconds, limit float64, c clock) grid.Time {
	i := following(d.plans, from)
	planned, begin := 0.0, from
	if i > 0 {
		planned = d.plans[i-1].amount
	}
	for t := from; ; i++ {
		end := never
		if i < len(d.plans) {
			end = d.plans[i].at
		}
		until := t.Add(seconds)
		if begin >= until {
			return t
		}
		if d.running(used, max(t, begin), c)+planned > limit+tiny {
			t = max(max(t, begin), d.falls(used, limit-planned, c))
			if t >= end {
				t = end
			}
			until = t.Add(seconds)
		}
		if end == never && t == never {
			return never
		}
		if end >= until {
			return t
		}
		planned, begin = d.plans[i].amount, end
	}
}

// stays is until when the peak of a window that begins at t, and of all that
// begin between, is surely the same.
func (d *diagram) stays(t grid.Time, seconds float64, c clock) grid.Time {
	until := never
	if i := following(d.ends, max(t, c.now)); i < len(d.ends) {
		until = d.ends[i].at
	}
	if t < c.late && len(d.ends) > 0 && d.ends[0].at <= c.now {
		until = min(until, c.late)
	}
	if i := following(d.plans, t); i < len(d.plans) {
		until = min(until, d.plans[i].at)
		if end := t.Add(seconds); end < never {
			if i = following(d.plans, end-1); i < len(d.plans) {
				until = min(until, d.plans[i].at-(end-t)+1)
			}
		}
	}
	return until
}
