package sched

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/ledger"
)

// search is the question where a need fits in a window of time. It reads the Cluster, and writes what is its own.
type search struct {
	*Cluster
	// that an advance reservation is a part of, and what stands there counts; nil: nothing else counts
	of *Cluster
	// the moment, and the window that is looked at; the moment is written as events are followed
	span     ledger.Span
	walk     ordered.Cursor[rank] // see findFirst
	better   []int                // see stillFails
	gathered *gathering           // see scratch
}

// scratch returns the memory of the parallel search, which other searches do not need.
func (c *search) scratch() *gathering {
	if c.gathered == nil {
		c.gathered = &gathering{}
	}
	return c.gathered
}

// setWindow turns to the time from a start until a need's gross end.
func (c *search) setWindow(start grid.Time, n *Need) {
	c.span.Hit = false
	if c.site.Planning {
		c.span.Window = grid.Window{Start: start, End: c.end(start, n)}
	}
}

// end is when a need that starts at a time is thought to be over. With an
// advance reservation its jobs end as well, so one that asks for no run time
// is thought to use what is left of it.
func (c *search) end(start grid.Time, n *Need) grid.Time {
	end := start.Add(n.gross)
	if n.openEnd && c.ar != nil && start < c.ar.End {
		end = min(end, c.ar.End)
	}
	return end
}

// peFree is how many slots of a PE are free throughout the window.
func (c *search) peFree(i int) int {
	free := c.ledger.PEFree(i, &c.span)
	if c.of != nil && !c.span.Ahead() {
		free = min(free, c.of.ledger.PELeft(c.of.site.PENamed(c.site.PEs[i].Name)))
	}
	return max(free, 0)
}

// scan calls f with every instance that can take a job at the time that is
// looked at, best first, until f returns false.
func (c *search) scan(n *Need, f func(rank) bool) {
	if !c.span.Ahead() {
		c.orderFor(n).Scan(f)
		return
	}
	if c.full.Rows.Len() == 0 {
		c.order.Rows.Scan(f)
		return
	}
	for _, r := range c.lineUp() {
		if !f(r) {
			return
		}
	}
}

// lineUp merges those that can take a job now with those that are full.
func (c *search) lineUp() []rank {
	s := c.scratch()
	s.full, s.line = s.full[:0], s.line[:0]
	c.full.Rows.Scan(func(r rank) bool {
		s.full = append(s.full, r)
		return true
	})
	full := s.full
	c.order.Rows.Scan(func(r rank) bool {
		for len(full) > 0 && full[0].before(r) {
			s.line, full = append(s.line, full[0]), full[1:]
		}
		s.line = append(s.line, r)
		return true
	})
	s.line = append(s.line, full...)
	return s.line
}
