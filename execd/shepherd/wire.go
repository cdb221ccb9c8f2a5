package shepherd

import (
	"bufio"
	"encoding/gob"
	"net"
	"sync"
	"time"
)

// The socket carries one gob stream each way: requests up, replies down. A reply carries the ID of its request; ID 0
// is unsolicited and brings attempts that changed. Both ends are the same program or two versions of it, and gob
// ignores fields it does not know.

type verb uint8

const (
	verbStart verb = iota + 1
	verbSignal
	verbList
	verbUsage
	verbForget
	verbShutdown
)

type request struct {
	ID      uint64
	Verb    verb
	Durable bool
	Force   bool
	Signal  Signal
	Plans   []Plan
	Keys    []Key
}

type reply struct {
	ID       uint64
	Error    string
	Answers  []Answer
	Attempts []Attempt
	Keys     []Key
	Usage    []Usage // one for each of Keys
}

// outbox sends messages of type M in order from a goroutine of its own, so that no sender ever waits for the peer.
// Messages that pile up while a write is under way leave in one write.
type outbox[M any] struct {
	mu     sync.Mutex
	queue  []M
	closed bool
	wake   chan struct{} // capacity 1
	done   chan struct{} // closed: all is sent or lost
}

func newOutbox[M any](c net.Conn) *outbox[M] {
	o := &outbox[M]{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run(c)
	return o
}

// send queues m; false when the connection is gone.
func (o *outbox[M]) send(m M) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.queue = append(o.queue, m)
	o.rouse()
	return true
}

// sendSoon queues m, to leave with the next message, or alone if none follows within lull.
func (o *outbox[M]) sendSoon(m M) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, m)
	if len(o.queue) == 1 {
		time.AfterFunc(lull, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.queue) > 0 && !o.closed {
				o.rouse()
			}
		})
	}
}

// lull is how long news that nobody waits for is held back.
const lull = 2 * time.Millisecond

// rouse wakes the writer. Called with mu held.
func (o *outbox[M]) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close lets what is queued leave, then closes the connection.
func (o *outbox[M]) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		close(o.wake)
	}
}

func (o *outbox[M]) run(c net.Conn) {
	defer close(o.done)
	defer c.Close()
	w := bufio.NewWriterSize(c, 64<<10)
	enc := gob.NewEncoder(w)
	for open := true; open; {
		_, open = <-o.wake
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		for i := range queue {
			if enc.Encode(&queue[i]) != nil {
				o.close()
				return
			}
		}
		if w.Flush() != nil {
			o.close()
			return
		}
	}
}
