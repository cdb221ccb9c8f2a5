package bus

import (
	"sync"

	"github.com/quill-grid/quill/pkg/fair"
)

// requestQueue is where requests arrive, over local connections and over NATS, for the one in this process
// who serves them. They are handled one at a time, their senders in turns: a user who
// sends many requests, over however many connections, does not delay the others.
//
// A request that finds the queue idle is handled by the goroutine that brings it;
// only those that have to wait pass through the queue.
type requestQueue struct {
	mu      sync.Mutex
	handle  func(*Request) // nil: not served
	busy    bool           // a request is being handled
	closing bool           // no more requests are taken
	idle    chan struct{}  // closed when what waited has been handled
	waiting fair.Queue[*Request]
	most    memoryShare // of bytes that wait; always at least one request of each sender
}

// requestsMax is how many requests of one sender may wait in a queue. Those of a local session are bounded by it: it is
// not read while one of its requests waits.
const requestsMax = 1000

// setHandler has handle called with every request, one after the other.
func (d *requestQueue) setHandler(handle func(*Request)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle, d.closing = handle, false
}

// drainAndClose takes no more requests; it returns when handle has had all that were taken.
func (d *requestQueue) drainAndClose() {
	d.mu.Lock()
	d.closing = true
	var idle chan struct{}
	if d.busy {
		if d.idle == nil {
			d.idle = make(chan struct{})
		}
		idle = d.idle
	}
	d.mu.Unlock()
	if idle != nil {
		<-idle
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		d.handle = nil
	}
}

// delivery is what became of a request.
type delivery int

const (
	delivered delivery = iota
	unserved           // the request is not taken
	tooMany            // nor here: too much of its sender waits
)

// handleOrQueue passes a request to the handler. One from a local session has been handled when handleOrQueue returns;
// another may be handled later.
func (d *requestQueue) handleOrQueue(r *Request) delivery {
	d.mu.Lock()
	if d.handle == nil || d.closing {
		d.mu.Unlock()
		return unserved
	}
	if !d.busy {
		d.busy = true
		handle := d.handle
		d.mu.Unlock()
		handle(r)
		d.handOver()
		return delivered
	}
	from := r.FairUser()
	if n, size := d.waiting.Of(from); n >= requestsMax || n > 0 &&
		(size+len(r.Data) > d.most.user || d.waiting.Size() > d.most.all) {
		d.mu.Unlock()
		return tooMany
	}
	d.waiting.Put(from, r, len(r.Data))
	d.mu.Unlock()
	if r.local != nil {
		<-r.local.handled
	}
	return delivered
}

// FairUser is whose turn a request takes. Guests have one for each network address.
func (r *Request) FairUser() fair.User {
	if r.From.Role == Guest && r.conn != nil && r.conn.server != nil {
		if who, ok := r.conn.server.auth.conns.fairUserOf(r.From.Name); ok {
			return who
		}
	}
	return r.From.FairUser()
}

// ClientGone reports whether the client of a request is known to have closed the connection: no answer reaches it.
func (r *Request) ClientGone() bool {
	if r.local == nil {
		return false
	}
	r.local.mu.Lock()
	defer r.local.mu.Unlock()
	return r.local.closed
}

// FairUser is whose turn a request takes: a user has one, whatever program and role sends
// it.
func (id Identity) FairUser() fair.User {
	if id.Role == User || id.Role == Admin {
		return fair.User{Name: id.Name}
	}
	if id.Role == Guest { // all of them: any client is one
		return fair.User{Name: "guests"}
	}
	return fair.User{Name: id.Word(), Daemon: true}
}

// handOver gives the queue to the requests that wait. A goroutine of its own handles them:
// the one that brought a request has a connection to read.
func (d *requestQueue) handOver() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting.Len() > 0 {
		go d.handleQueued()
		return
	}
	d.markIdle()
}

// markIdle leaves the queue to the next request. It is called with mu held.
func (d *requestQueue) markIdle() {
	d.busy = false
	if d.idle != nil {
		close(d.idle)
		d.idle = nil
	}
}

// handleQueued handles what waits, in turns, until nothing does.
func (d *requestQueue) handleQueued() {
	for {
		d.mu.Lock()
		_, r, ok := d.waiting.Next()
		if !ok {
			d.markIdle()
			d.mu.Unlock()
			return
		}
		handle := d.handle
		d.mu.Unlock()
		handle(r)
		if r.local != nil {
			r.local.handled <- struct{}{}
		}
	}
}
