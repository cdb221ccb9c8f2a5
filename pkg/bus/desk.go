package bus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// desk is where requests arrive, over lines and over NATS, for the one in this process
// who serves them. They are handled one at a time, their senders in turns: a user who
// sends many requests, over however many connections, does not delay the others.
//
// A request that finds the desk idle is handled by the goroutine that brings it;
// only those that have to wait pass through the queue.
type desk struct {
	mu      sync.Mutex
	handle  func(*Request) // nil: not served
	busy    bool           // a request is being handled
	closing bool           // no more requests are taken
	idle    chan struct{}  // closed when what waited has been handled
	waiting fair.Queue[*Request]
	most    share // of bytes that wait; always at least one request of each sender
}

// requestsMax is how many requests of one sender may wait at a desk. Those of a line are bounded by the line: it is not read while one
// of its requests waits.
const requestsMax = 1000

// open has handle called with every request, one after the other.
func (d *desk) open(handle func(*Request)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle, d.closing = handle, false
}

// close takes no more requests; it returns when handle has had all that were taken.
func (d *desk) close() {
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

// taking is what became of a request.
type taking int

const (
	taken    taking = iota
	unserved        // the request is not taken
	tooMany         // nor here: too much of its sender waits
)

// deliver passes a request to the handler. One from a line has been handled when deliver
// returns;
// another may be handled later.
func (d *desk) deliver(r *Request) taking {
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
		d.leave()
		return taken
	}
	from := r.Turn()
	if n, size := d.waiting.Of(from); n >= requestsMax || n > 0 && (size+len(r.Data) > d.most.user || d.waiting.Size() > d.most.all) {
		d.mu.Unlock()
		return tooMany
	}
	d.waiting.Put(from, r, len(r.Data))
	d.mu.Unlock()
	if r.line != nil {
		<-r.line.turn
	}
	return taken
}

// Turn is whose turn a request takes. Guests have one for each network address.
func (r *Request) Turn() fair.User {
	if r.From.Role == Guest && r.conn != nil && r.conn.server != nil {
		if who, ok := r.conn.server.gate.guests.turn(r.From.Name); ok {
			return who
		}
	}
	return r.From.Turn()
}

// Gone reports whether the client of a request is known to have closed the connection: no answer reaches it.
func (r *Request) Gone() bool {
	if r.line == nil {
		return false
	}
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	return r.line.closed
}

// Turn is whose turn a request takes: a user has one, whatever program and role sends
// it.
func (id Identity) Turn() fair.User {
	if id.Role == User || id.Role == Admin {
		return fair.User{Name: id.Name}
	}
	if id.Role == Guest { // all of them: any client is one
		return fair.User{Name: "guests"}
	}
	return fair.User{Name: id.Word(), Daemon: true}
}

// leave gives the desk to the requests that wait. A goroutine of its own handles them:
// the one that brought a request has a connection to read.
func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting.Len() > 0 {
		go d.work()
		return
	}
	d.rest()
}

// rest leaves the desk to the next request. It is called with mu held.
func (d *desk) rest() {
	d.busy = false
	if d.idle != nil {
		close(d.idle)
		d.idle = nil
	}
}

// work handles what waits, in turns, until nothing does.
func (d *desk) work() {
	for {
		d.mu.Lock()
		_, r, ok := d.waiting.Next()
		if !ok {
			d.rest()
			d.mu.Unlock()
			return
		}
		handle := d.handle
		d.mu.Unlock()
		handle(r)
		if r.line != nil {
			r.line.turn <- struct{}{}
		}
	}
}

// line is the server's end of a Line.
type line struct {
	conn *net.UnixConn
	raw  syscall.RawConn
	from Identity
	turn chan struct{} // its request that had to wait was handled

	room chan struct{} // less waits on it, or it is closed

	mu      sync.Mutex
	out     []byte // answers to be sent
	slow    bool   // the client does not read: a goroutine of its own sends them
	writing int    // bytes that this goroutine is sending
	open    int    // requests without an answer
	closed  bool
}

// Limits of what waits on a line. It is not read while more waits.
const (
	unsentMax = 64 << 10 // bytes of answers that the client does not read
	openMax   = 4096     // requests without an answer
	// slowMax bounds the answers that come while the line is not read: those of
	// requests that were taken before. The line is closed when they are more.
	slowMax = 2*PayloadMax + unsentMax
)

// slowWait is how long a slow client may take for what is sent, lineIdle how long a
// line may be open without a request; tests shorten them.
var (
	slowWait = 10 * time.Second
	lineIdle = 10 * time.Minute
)

// serveLine hands the requests of c to the desk until c or quit is closed;
// fill bounds its large requests.
func serveLine(c *net.UnixConn, from Identity, d *desk, fill fill, quit <-chan struct{}) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	l := &line{conn: c, raw: raw, from: from, turn: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.close()
	}()
	subjects := make(map[string]string)
	in := messages{fill: fill}
	defer in.drop()
	take := func(m []byte) error {
		end := 9 + int(m[8])
		if len(m) < end {
			return io.ErrUnexpectedEOF
		}
		if !l.begin(quit) {
			return net.ErrClosed
		}
		what, data := m[9:end], m[end:]
		if in.held == 0 || len(m) <= largeMessage { // else the memory is ours, see messages
			data = bytes.Clone(data)
		}
		subject, ok := subjects[string(what)]
		if !ok {
			subject = CmdSubject(from, string(what))
			if len(subjects) < 100 {
				subjects[string(what)] = subject
			}
		}
		r := &Request{Subject: subject, From: from, Data: data, line: l, number: binary.BigEndian.Uint64(m)}
		switch d.deliver(r) {
		case unserved:
			l.put(r.number, lineUnserved, nil)
			l.send()
		case tooMany:
			r.Busy()
		}
		return nil
	}
	for {
		patience := lineIdle
		if in.held > 0 {
			patience = partialWait
		}
		c.SetReadDeadline(time.Now().Add(patience))
		err := in.read(c, take)
		if err != nil && !(errors.Is(err, os.ErrDeadlineExceeded) && in.held == 0 && l.awaited()) {
			return
		}
	}
}

// begin counts a request. It waits while the client has too much to read or to wait
// for; false: the line is closed.
func (l *line) begin(quit <-chan struct{}) bool {
	for {
		l.mu.Lock()
		closed, full := l.closed, len(l.out)+l.writing > unsentMax || l.open >= openMax
		if !closed && !full {
			l.open++
		}
		l.mu.Unlock()
		if closed || !full {
			return !closed
		}
		select {
		case <-l.room:
		case <-quit:
			return false
		}
	}
}

// less lets begin look again.
func (l *line) less() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// awaited reports whether the client waits for an answer.
func (l *line) awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

// close closes the line. It is called with mu held.
func (l *line) close() {
	l.conn.Close()
	l.closed = true
	l.less()
}

// put queues an answer; first says that send has to be called.
func (l *line) put(number uint64, how byte, data []byte) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == openMax-1 {
		l.less()
	}
	if len(l.out) > slowMax {
		l.close()
		return false
	}
	first = len(l.out) == 0 && !l.slow
	l.out = binary.BigEndian.AppendUint32(l.out, uint32(8+1+len(data)))
	l.out = binary.BigEndian.AppendUint64(l.out, number)
	l.out = append(append(l.out, how), data...)
	return first
}

// send sends what is queued. It does not wait for a client that does not read.
func (l *line) send() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slow || len(l.out) == 0 {
		return
	}
	if len(l.out) > unsentMax { // begin may wait for this, and there may be no later answer to wake it
		defer l.less()
	}
	sent := 0
	var failed error
	err := l.raw.Write(func(fd uintptr) bool {
		sent, failed = syscall.Write(int(fd), l.out)
		return true // as much as goes
	})
	switch {
	case err != nil, failed != nil && failed != syscall.EAGAIN && failed != syscall.EINTR:
		l.out = l.out[:0]
		l.close()
	case max(sent, 0) < len(l.out):
		l.out = append([]byte(nil), l.out[max(sent, 0):]...)
		l.slow = true
		go l.catchUp()
	case cap(l.out) > 1<<20:
		l.out = nil
	default:
		l.out = l.out[:0]
	}
}

// catchUp sends what is queued at the client's pace.
func (l *line) catchUp() {
	for {
		l.mu.Lock()
		out := l.out
		l.out, l.writing = nil, len(out)
		l.less()
		if len(out) == 0 {
			l.slow = false
			l.conn.SetWriteDeadline(time.Time{}) // or send would fail later
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.conn.SetWriteDeadline(time.Now().Add(slowWait))
		if _, err := l.conn.Write(out); err != nil {
			l.mu.Lock()
			l.close() // the client does not read any more; what is put goes nowhere
			l.mu.Unlock()
			return
		}
	}
}

// Post sends many answers at once: those that go over the same line leave in
// one write. It belongs to one goroutine.
type Post struct{ lines []*line }

// Put takes an answer. It leaves with the next Send at the latest.
func (p *Post) Put(r *Request, data []byte) error {
	if r.line == nil {
		return r.Answer(data)
	}
	if r.line.put(r.number, lineAnswered, data) {
		p.lines = append(p.lines, r.line)
	}
	return nil
}

// Send sends what was put.
func (p *Post) Send() {
	for _, l := range p.lines {
		l.send()
	}
	clear(p.lines)
	p.lines = p.lines[:0]
}
