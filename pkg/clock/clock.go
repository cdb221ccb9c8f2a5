// Package clock is the time of daemons, which never runs backwards. Rules that wait for a moment to come (a load
// report, a silent host, the next scheduling run) need a clock that goes on, and the
// machine's can be put back: by an administrator, by NTP after a start with a wrong
// hardware clock, or between two runs of a daemon.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time of the machine. While that is behind what has been told, the
// clock goes on at half its speed until the machine's has caught up; one that is put
// forward is followed at once. The zero value is ready. All methods may be used by
// several goroutines.
type Clock struct {
	mu   sync.Mutex
	told time.Time
	at   time.Time // when it was told, with the reading that nobody puts back
}

// From is a clock that tells nothing earlier than what was told before.
func From(told time.Time) *Clock { return &Clock{told: told.Round(0), at: time.Now()} }

// Now is the time, without the reading of time.Now that nobody puts back.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	passed := now.Sub(c.at) // of the zero value: for ever, and told is long ago
	c.told, c.at = next(c.told, now.Round(0), passed), now
	return c.told
}

// next is what is told when the machine's clock says wall, so long after the last time.
func next(told, wall time.Time, passed time.Duration) time.Time {
	if on := told.Add(passed / 2); on.After(wall) {
		return on
	}
	return wall
}
