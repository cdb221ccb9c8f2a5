package bus

import (
	"fmt"
	"sync"
	"time"
)

// partials bounds the memory of large requests that have begun to arrive over lines and
// are not complete. Without it one user could hold a request of PayloadMax on each of
// his lines.
type partials struct {
	mu   sync.Mutex
	of   map[string]int // bytes by user
	all  int
	less chan struct{} // closed when something was released; nil: nobody waits
}

// Bounds of partials. A user may always have one request under way.
const (
	partialUserMax = 4 * PayloadMax
	partialMax     = 32 * PayloadMax
)

// partialWait is how long a large request waits for memory, and how long its line may
// bring nothing of it; tests shorten it.
var partialWait = 10 * time.Second

// take counts n bytes for a user. It waits while there are too many, and fails after
// partialWait or when quit is closed.
func (p *partials) take(who string, n int, quit <-chan struct{}) error {
	timeout := time.NewTimer(partialWait)
	defer timeout.Stop()
	for {
		p.mu.Lock()
		had := p.of[who]
		if had == 0 || had+n <= partialUserMax && p.all+n <= partialMax {
			if p.of == nil {
				p.of = make(map[string]int)
			}
			p.of[who] += n
			p.all += n
			p.mu.Unlock()
			return nil
		}
		if p.less == nil {
			p.less = make(chan struct{})
		}
		less := p.less
		p.mu.Unlock()
		select {
		case <-less:
		case <-quit:
			return ErrBusy
		case <-timeout.C:
			return fmt.Errorf("%w: too many large requests of %s", ErrBusy, who)
		}
	}
}

// release undoes take.
func (p *partials) release(who string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all -= n
	if p.of[who] -= n; p.of[who] <= 0 {
		delete(p.of, who)
	}
	if p.less != nil {
		close(p.less)
		p.less = nil
	}
}
