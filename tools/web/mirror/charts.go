package mirror

import (
	"sync"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Charts follows a mirror with what the charts of the console show: counts over time, and the load of hosts.
type Charts struct {
	mu    sync.Mutex
	trend Trend  // written by Follow and Prepend
	loads Loads  // likewise
	began uint64 // the list after which they begin; 0: before the first full state. Written once, by Restart
}

// Follow adds a list.
func (c *Charts) Follow(u *Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trend.Add(u.List, u.State)
	c.loads.Add(u.List)
}

// Restart notes where the charts begin. Lists that were missed leave a gap in them.
func (c *Charts) Restart(s *state.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began == 0 {
		c.began = s.Seq
	}
}

// Began returns the list after which the charts begin, 0 before the first full state.
func (c *Charts) Began() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began
}

// Prepend adds what was before the charts began.
func (c *Charts) Prepend(trend Trend, loads Loads) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trend.Prepend(trend)
	c.loads.Prepend(loads)
}

// Trend returns the counts of a span.
func (c *Charts) Trend(from, to grid.Time) Trend {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trend.Copy(from, to)
}

// Load returns what a host has reported in a span.
func (c *Charts) Load(host string, from, to grid.Time) []LoadPoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loads.Of(host, from, to)
}
