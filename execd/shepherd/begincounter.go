package shepherd

import "sync"

// beginCounter knows what has begun and is not over. To wait for that holds up nothing that begins meanwhile: a fork
// lasts until its program has begun, which on a busy host may take long, and orphans are looked for all the time.
type beginCounter struct {
	settling sync.Mutex // one waits at a time

	mu    sync.Mutex
	now   int    // which of open counts what begins
	open  [2]int // of the other one only those are left that are waited for
	quiet chan struct{}
}

// begin counts one more, until end is called.
func (u *beginCounter) begin() (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	of := u.now
	u.open[of]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.open[of]--; u.open[of] == 0 && of != u.now && u.quiet != nil {
			close(u.quiet)
			u.quiet = nil
		}
	}
}

// awaitBegun waits until all is over that had begun before.
func (u *beginCounter) awaitBegun() {
	u.settling.Lock()
	defer u.settling.Unlock()
	u.mu.Lock()
	old := u.now
	u.now = 1 - old
	if u.open[old] == 0 {
		u.mu.Unlock()
		return
	}
	quiet := make(chan struct{})
	u.quiet = quiet
	u.mu.Unlock()
	<-quiet
}
