package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// partials bounds the memory of large messages that have begun to arrive and are not
// complete. Without it one user could hold a message of PayloadMax on each
// connection.
type partials struct {
	mu   sync.Mutex
	of   map[fair.User]int // bytes
	all  int               // bytes of users
	less chan struct{}     // closed when something was released; nil: no goroutine waits
}

// Bounds of partials. A user or daemon may always have one message under way; daemons
// do not wait for users.
const (
	partialUserMax = 4 * PayloadMax
	partialMax     = 16 * PayloadMax
)

// partialWait is how long a large message waits for memory, and how long its connection
// may bring nothing of it; tests shorten it.
var partialWait = 10 * time.Second

// fill returns the accounting of the large messages of one connection, until quit is closed.
func (p *partials) fill(who fair.User, quit <-chan struct{}) fill {
	return fill{
		reserve: func(n int) error { return p.reserve(who, n, quit) },
		release: func(n int) { p.release(who, n) },
	}
}

// reserve counts n bytes. It waits while there are too many, and fails after partialWait or
// when quit is closed.
func (p *partials) reserve(who fair.User, n int, quit <-chan struct{}) error {
	timeout := time.NewTimer(partialWait)
	defer timeout.Stop()
	for {
		p.mu.Lock()
		had := p.of[who]
		if had == 0 || had+n <= partialUserMax && (who.Daemon || p.all+n <= partialMax) {
			if p.of == nil {
				p.of = make(map[fair.User]int)
			}
			p.count(who, n)
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
			return fmt.Errorf("%w: too many large requests of %s", ErrBusy, who.Name)
		}
	}
}

// release undoes reserve.
func (p *partials) release(who fair.User, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(who, -n)
	if p.less != nil {
		close(p.less)
		p.less = nil
	}
}

// count is called with mu held.
func (p *partials) count(who fair.User, n int) {
	if !who.Daemon {
		p.all += n
	}
	if p.of[who] += n; p.of[who] <= 0 {
		delete(p.of, who)
	}
}
