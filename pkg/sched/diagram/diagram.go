// Package diagram is the resource utilization diagram of Grid Engine: how much of a resource is taken at which time.
//
// It must not know which resource that is, nor why something is taken. To add a question about the future: a method
// of Diagram, and its answer by a list of bookings in diagram_test.go.
package diagram

import (
	"slices"
	"sort"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// Diagram is how much of one resource is taken at which time, the resource utilization
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
// alone; others first clone it (see Share) and the steps that they change.
type Diagram struct {
	Token    *byte
	Ends     []step // what running tasks still hold from a time on
	Plans    []step // what is planned from a time on; before the first: nothing
	ownEnds  bool
	ownPlans bool
}

// Share returns a diagram with the same steps, which its first write clones.
func (d *Diagram) Share() *Diagram { return &Diagram{Ends: d.Ends, Plans: d.Plans} }

// Become makes d a copy of another one in the memory that d has.
func (d *Diagram) Become(old *Diagram) {
	*d = Diagram{
		Ends: append(d.Ends[:0], old.Ends...), Plans: append(d.Plans[:0], old.Plans...), ownEnds: true, ownPlans: true,
	}
}

// ownSteps makes steps the diagram's own, with room for what is coming.
func ownSteps(steps *[]step, owned *bool) {
	if !*owned {
		*steps, *owned = append(make([]step, 0, len(*steps)+4), *steps...), true
	}
}

// step is an amount that holds from a time until the next step.
type step struct {
	At     grid.Time
	Amount float64
}

// Clock is the moment of a decision, and until when tasks that should have
// ended by now are assumed to run for one schedule_interval more.
type Clock struct{ Now, Late grid.Time }

// following is the place of the first step after a time.
func following(steps []step, t grid.Time) int {
	return sort.Search(len(steps), func(i int) bool { return steps[i].At > t })
}

// ValueAt is the amount at a time.
func ValueAt(steps []step, t grid.Time, first float64) float64 {
	if i := following(steps, t); i > 0 {
		return steps[i-1].Amount
	}
	return first
}

// raise adds an amount to a window, and drops the steps that are none any
// more. The steps begin with the amount `first`.
func raise(steps []step, first float64, w grid.Window, amount float64) []step {
	if w.Start >= w.End {
		return steps
	}
	steps, i := cut(steps, first, w.Start)
	k := len(steps)
	if w.End < grid.Never {
		steps, k = cut(steps, first, w.End)
	}
	for n := i; n < k; n++ {
		steps[n].Amount += amount
	}
	if w.End < grid.Never {
		steps = join(steps, first, k)
	}
	return join(steps, first, i)
}

// cut makes sure that a step begins at a time and returns its place.
func cut(steps []step, first float64, t grid.Time) ([]step, int) {
	i := following(steps, t)
	if i > 0 && steps[i-1].At == t {
		return steps, i - 1
	}
	if i > 0 {
		first = steps[i-1].Amount
	}
	return slices.Insert(steps, i, step{t, first}), i
}

// join drops a step in which nothing changes.
func join(steps []step, first float64, i int) []step {
	if i > 0 {
		first = steps[i-1].Amount
	}
	if d := steps[i].Amount - first; d > -1e-6 && d < 1e-6 {
		return slices.Delete(steps, i, i+1)
	}
	return steps
}

// Hold counts a running task that ends at a time; used is what was in use
// without it.
func (d *Diagram) Hold(used float64, end grid.Time, amount float64) {
	ownSteps(&d.Ends, &d.ownEnds)
	k := len(d.Ends)
	if end < grid.Never {
		d.Ends, k = cut(d.Ends, used, end)
	}
	for i := range d.Ends[:k] {
		d.Ends[i].Amount += amount
	}
}

// Release takes a hold back; used is what is in use without it.
func (d *Diagram) Release(used float64, end grid.Time, amount float64) {
	ownSteps(&d.Ends, &d.ownEnds)
	k := len(d.Ends)
	if end < grid.Never {
		d.Ends, k = cut(d.Ends, used+amount, end)
	}
	for i := range d.Ends[:k] {
		d.Ends[i].Amount -= amount
	}
	if end < grid.Never {
		d.Ends = join(d.Ends, used, k)
	}
}

// Plan adds an amount to what is planned for a window.
func (d *Diagram) Plan(w grid.Window, amount float64) {
	ownSteps(&d.Plans, &d.ownPlans)
	d.Plans = raise(d.Plans, 0, w, amount)
}

// Running is what running tasks hold at a time.
func (d *Diagram) Running(used float64, t grid.Time, c Clock) float64 {
	amount := ValueAt(d.Ends, t, used)
	if t < c.Late {
		amount += used - ValueAt(d.Ends, c.Now, used)
	}
	return amount
}

// Peak is the most that is taken at any time of a window.
func (d *Diagram) Peak(used float64, w grid.Window, c Clock) float64 {
	i := following(d.Plans, w.Start)
	planned := 0.0
	if i > 0 {
		planned = d.Plans[i-1].Amount
	}
	most := d.Running(used, w.Start, c) + planned
	for ; i < len(d.Plans) && d.Plans[i].At < w.End; i++ {
		if p := d.Plans[i].Amount; p > planned {
			most = max(most, d.Running(used, d.Plans[i].At, c)+p)
		}
		planned = d.Plans[i].Amount
	}
	return most
}

// falls is the earliest time from which running tasks hold no more than a
// limit.
func (d *Diagram) falls(used, limit float64, c Clock) grid.Time {
	if used <= limit+complex.Tiny {
		return c.Now
	}
	late := used - ValueAt(d.Ends, c.Now, used)
	i := sort.Search(len(d.Ends), func(i int) bool { return d.Ends[i].Amount+late <= limit+complex.Tiny })
	if i < len(d.Ends) && (late == 0 || d.Ends[i].At < c.Late) {
		return d.Ends[i].At
	}
	if late == 0 {
		return grid.Never
	}
	i = sort.Search(len(d.Ends), func(i int) bool { return d.Ends[i].Amount <= limit+complex.Tiny })
	if i == len(d.Ends) {
		return grid.Never
	}
	return max(d.Ends[i].At, c.Late)
}

// Earliest is the first time, from a time on, at which no more than a limit is
// taken for so many seconds; never when there is none. Holes between plans
// will do if they are long enough.
func (d *Diagram) Earliest(used float64, from grid.Time, seconds, limit float64, c Clock) grid.Time {
	i := following(d.Plans, from)
	planned, begin := 0.0, from
	if i > 0 {
		planned = d.Plans[i-1].Amount
	}
	for t := from; ; i++ {
		end := grid.Never
		if i < len(d.Plans) {
			end = d.Plans[i].At
		}
		until := t.Add(seconds)
		if begin >= until {
			return t
		}
		if d.Running(used, max(t, begin), c)+planned > limit+complex.Tiny {
			t = max(max(t, begin), d.falls(used, limit-planned, c))
			if t >= end {
				t = end
			}
			until = t.Add(seconds)
		}
		if end == grid.Never && t == grid.Never {
			return grid.Never
		}
		if end >= until {
			return t
		}
		planned, begin = d.Plans[i].Amount, end
	}
}

// Stays is until when the peak of a window that begins at t, and of all that
// begin between, is surely the same.
func (d *Diagram) Stays(t grid.Time, seconds float64, c Clock) grid.Time {
	until := grid.Never
	if i := following(d.Ends, max(t, c.Now)); i < len(d.Ends) {
		until = d.Ends[i].At
	}
	if t < c.Late && len(d.Ends) > 0 && d.Ends[0].At <= c.Now {
		until = min(until, c.Late)
	}
	if i := following(d.Plans, t); i < len(d.Plans) {
		until = min(until, d.Plans[i].At)
		if end := t.Add(seconds); end < grid.Never {
			if i = following(d.Plans, end-1); i < len(d.Plans) {
				until = min(until, d.Plans[i].At-(end-t)+1)
			}
		}
	}
	return until
}
