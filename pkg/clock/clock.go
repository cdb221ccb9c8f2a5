// Package clock is a clock for daemons that never goes back. Rules that wait for a time
// (a load report, a silent host, the next scheduling run) need one, and the machine's
// clock can be set back: by an administrator, by NTP after a start with a wrong hardware
// clock, or between two runs of a daemon.
//
// The package must not know what is waited for. There is nothing to add.
package clock

import (
	"sync"
	"time"
)

// Clock returns the time of the machine. While that is before a time already returned,
// the clock runs at half speed until the machine's has caught up; a clock that is set
// forward is followed at once. The zero value is ready. All methods may be used by
// several goroutines.
type Clock struct {
	mu   sync.Mutex
	last time.Time
	at   time.Time // when it was returned, with the monotonic reading
}

// From returns a clock that returns no time before last.
func From(last time.Time) *Clock { return &Clock{last: last.Round(0), at: time.Now()} }

// Now returns the time, without a monotonic reading.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	passed := now.Sub(c.at) // for the zero value: very long, because at is the zero time
	c.last, c.at = next(c.last, now.Round(0), passed), now
	return c.last
}

// next returns the time to return when the machine's clock shows wall and passed has gone
// by since the last call.
func next(last, wall time.Time, passed time.Duration) time.Time {
	if on := last.Add(passed / 2); on.After(wall) {
		return on
	}
	return wall
}
