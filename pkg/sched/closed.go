package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// closedByCalendar reports whether an instance's calendar closes it within the window under
// consideration. Where no diagrams are kept, jobs start whatever follows.
func (c *search) closedByCalendar(in *site.Instance) bool {
	w := c.span.Window
	return c.site.Planning && slices.ContainsFunc(in.Closed, func(x grid.Window) bool {
		return x.Start < w.End && w.Start < x.End
	})
}
