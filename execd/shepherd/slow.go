package shepherd

import (
	"sync"
	"time"
)

// Paths that a user chooses can block the process that opens them: a FIFO, a file server that does not answer, a file
// system that the user serves himself (FUSE). The shepherd looks at such paths for quickPatience at most; what is
// slower, or of a kind that may block, is left to the process that needs it: see careful.go. It must never be met
// between fork and exec, for meanwhile the child has the shepherd's memory, and the garbage collection of the shepherd
// waits for it.

// quickPatience is how long the shepherd lets a file system take.
const quickPatience = time.Second

// stuckMax bounds the threads of the shepherd that file systems hold.
const stuckMax = 256

// Slowness records whose file systems do not answer at present. Its zero value is ready for use.
type Slowness struct {
	mu    sync.Mutex
	stuck map[uint32]int // looks that are overdue, by uid
	all   int

	// A timer for each look would wake the processor twice: those with quickPatience share one, and have up to twice that.
	once      sync.Once
	now, next chan struct{} // closed by the next beat, and by the one after it
}

// timerOf returns a channel that is closed when patience has passed.
func (s *Slowness) timerOf(patience time.Duration) <-chan struct{} {
	if patience != quickPatience {
		late := make(chan struct{})
		time.AfterFunc(patience, func() { close(late) })
		return late
	}
	s.once.Do(func() {
		s.now, s.next = make(chan struct{}), make(chan struct{})
		go func() {
			for {
				time.Sleep(quickPatience)
				s.mu.Lock()
				close(s.now)
				s.now, s.next = s.next, make(chan struct{})
				s.mu.Unlock()
			}
		}()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

func (s *Slowness) isStuck(owner uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck[owner] > 0 || s.all >= stuckMax
}

func (s *Slowness) addStuck(owner uint32, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all += n
	if s.stuck == nil {
		s.stuck = map[uint32]int{}
	}
	if s.stuck[owner] += n; s.stuck[owner] == 0 {
		delete(s.stuck, owner)
	}
}

// Within runs f, and is true when it ends within patience. It is false when f takes longer, or when an earlier one of
// that owner has not ended yet: then f is not run. An f that ends late is followed by undo; neither may touch what the
// caller uses when the answer is false.
func (s *Slowness) Within(owner uint32, patience time.Duration, f, undo func()) bool {
	if s.isStuck(owner) {
		return false
	}
	ended := make(chan struct{})
	var mu sync.Mutex
	finished, late := false, false
	go func() {
		f()
		mu.Lock()
		finished = true
		mu.Unlock()
		close(ended)
		if late { // not written any more
			undo()
			s.addStuck(owner, -1)
		}
	}()
	select {
	case <-ended:
		return true
	case <-s.timerOf(patience):
	}
	mu.Lock()
	defer mu.Unlock()
	if !finished {
		late = true
		s.addStuck(owner, 1)
	}
	return finished
}

// sweepPatience is how long a killed process may take to go before its attempt is called ended without it.
const sweepPatience = 10 * time.Second
