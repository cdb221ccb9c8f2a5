package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// closedByCalendar reports whether an instance's calendar closes it within the window under
// consideration. Where no diagrams are kept, jobs start whatever follows.
func (c *Cluster) closedByCalendar(in *instance) bool {
	w := c.planned.window
	return c.planning && slices.ContainsFunc(in.closed, func(x grid.Window) bool { return x.Start < w.end && w.start < x.End })
}

// openFrom returns the earliest time, not before from, at which an instance's
// calendar leaves it open for so many seconds.
func (in *instance) openFrom(from grid.Time, seconds float64) grid.Time {
	for _, x := range in.closed {
		if x.Start < from.Add(seconds) && from < x.End {
			from = x.End
		}
	}
	return from
}
