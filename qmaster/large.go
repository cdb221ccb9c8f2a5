package qmaster

import (
	"sync"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/fair"
)

// Decoding a request of some megabytes, and appending what it makes to the log, takes as
// long as hundreds of small requests. So large requests are decoded beside the others,
// those of each user in turns, and the next one begins when all that the one before has
// made is durable: a small request waits for one large one at most.
const (
	largeRequest = 256 << 10 // bytes: what it makes takes more than one frame of the log
	largeWaiting = 16 << 20  // bytes of one user's that wait; always one request
)

// large are the requests that wait to be decoded.
type large struct {
	decode  func(*bus.Request, *codec.Decoder)
	durable func() // returns when all that was made is durable

	mu      sync.Mutex
	waiting fair.Queue[*bus.Request]
	busy    bool
	working sync.WaitGroup
}

// put queues a request; false: too many of its sender wait already.
func (l *large) put(r *bus.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := r.FairUser()
	if n, size := l.waiting.Of(from); n > 0 && size+len(r.Data) > largeWaiting {
		return false
	}
	l.waiting.Put(from, r, len(r.Data))
	if !l.busy {
		l.busy = true
		l.working.Go(l.work)
	}
	return true
}

// work decodes what waits, until nothing does.
func (l *large) work() {
	var dec codec.Decoder
	for {
		l.mu.Lock()
		_, r, ok := l.waiting.Next()
		l.busy = ok
		l.mu.Unlock()
		if !ok {
			return
		}
		l.decode(r, &dec)
		l.durable()
	}
}

// close waits until all have been decoded. No more are put.
func (l *large) close() { l.working.Wait() }
