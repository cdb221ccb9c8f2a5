package shepherd

import "sync"

// sharedRun does something once for all who call at the same time: the run that a caller waits for begins after the
// call.
type sharedRun struct {
	running sync.Mutex

	mu   sync.Mutex
	next chan struct{} // closed when the run that has not begun yet is over; nil: no caller waits for one
}

// runAfterCall returns after a run of f that began after the call.
func (s *sharedRun) runAfterCall(f func()) {
	s.mu.Lock()
	if over := s.next; over != nil {
		s.mu.Unlock()
		<-over
		return
	}
	over := make(chan struct{})
	s.next = over
	s.mu.Unlock()
	s.running.Lock() // until the run before is over
	defer s.running.Unlock()
	defer close(over)
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	f()
}
