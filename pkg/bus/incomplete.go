package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// incompleteMessages bounds the memory of large messages that have begun to arrive and are not
// complete (over a local connection: not handled), and how many bytes of them a user may begin in a
// second. Without it one user could hold a message of PayloadMax on each connection, and
// have all processors busy with the memory of messages that are begun again and again.
type incompleteMessages struct {
	most memoryShare

	mu   sync.Mutex
	of   map[fair.User]incompleteUsage
	all  int           // bytes of users
	less chan struct{} // closed when something was released; nil: no goroutine waits
}

// incompleteUsage is what there is of a user or daemon.
type incompleteUsage struct {
	held int           // bytes
	paid time.Duration // until then, after partialEpoch, partialRate allows what the user has begun
}

// partialRate is how many bytes a second one user may begin, beyond the user's share at once. A user or daemon may
// always have one message under way; daemons do not wait for users.
const partialRate = 32 << 20

// partialEpoch is where the times of incompleteMessages begin.
var partialEpoch = time.Now()

// partialWait is how long a large message waits for memory, and how long its connection
// may bring nothing of it; tests shorten it.
var partialWait = 10 * time.Second

// newReservation returns the accounting of the large messages of one connection, until quit is closed.
func (p *incompleteMessages) newReservation(who fair.User, quit <-chan struct{}) memoryReservation {
	return memoryReservation{
		reserve: func(n int) error { return p.reserve(who, n, quit) },
		release: func(n int) { p.release(who, n) },
	}
}

// reserve counts n bytes. It waits while there are too many, or the user was too fast, and fails after partialWait or
// when quit is closed.
func (p *incompleteMessages) reserve(who fair.User, n int, quit <-chan struct{}) error {
	timeout := time.NewTimer(partialWait)
	defer timeout.Stop()
	for {
		less, pause := p.tryReserve(who, n, time.Since(partialEpoch))
		if less == nil && pause == 0 {
			return nil
		}
		var paced <-chan time.Time
		if pause > 0 {
			paced = time.After(pause)
		}
		select {
		case <-less:
		case <-paced:
		case <-quit:
			return ErrBusy
		case <-timeout.C:
			return fmt.Errorf("%w: too many large requests of %s", ErrBusy, who.Name)
		}
	}
}

// tryReserve counts n bytes if that is possible at now. Otherwise it returns what to wait for: that something is
// released, or a time. A daemon has no rate.
func (p *incompleteMessages) tryReserve(
	who fair.User, n int, now time.Duration,
) (less <-chan struct{}, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := p.of[who]
	if had.held > 0 && (had.held+n > p.most.user || !who.Daemon && p.all+n > p.most.all) {
		if p.less == nil {
			p.less = make(chan struct{})
		}
		return p.less, 0
	}
	if !who.Daemon {
		cost := time.Duration(n) * time.Second / partialRate
		burst := time.Duration(p.most.user) * time.Second / partialRate
		had.paid = max(had.paid, now) + cost
		if ahead := had.paid - now; ahead > max(burst, cost) {
			return nil, ahead - max(burst, cost)
		}
	}
	if p.of == nil {
		p.of = make(map[fair.User]incompleteUsage)
	}
	p.of[who] = had
	p.addUsage(who, n, now)
	return nil, 0
}

// release undoes reserve.
func (p *incompleteMessages) release(who fair.User, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addUsage(who, -n, time.Since(partialEpoch))
	if p.less != nil {
		close(p.less)
		p.less = nil
	}
}

// addUsage is called with mu held.
func (p *incompleteMessages) addUsage(who fair.User, n int, now time.Duration) {
	if !who.Daemon {
		p.all += n
	}
	is := p.of[who]
	if is.held += n; is.held <= 0 && is.paid <= now {
		delete(p.of, who)
		return
	}
	p.of[who] = is
}
