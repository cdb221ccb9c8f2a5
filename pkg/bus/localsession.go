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
)

// localSession is the server's end of a LocalConn.
type localSession struct {
	conn    *net.UnixConn
	raw     syscall.RawConn
	from    Identity
	handled chan struct{} // its request that had to wait was handled

	room chan struct{} // less waits on it, or it is closed

	mu      sync.Mutex
	out     []byte // answers to be sent
	slow    bool   // the client does not read: a goroutine of its own sends them
	writing int    // bytes that this goroutine is sending
	open    int    // requests without an answer
	closed  bool
}

// Limits of what waits on a local session. It is not read while more waits.
const (
	unsentMax = 64 << 10 // bytes of answers that the client does not read
	openMax   = 4096     // requests without an answer
	// slowMax bounds the answers that come while the session is not read: those of
	// requests that were taken before. The session is closed when they are more.
	slowMax = 2*PayloadMax + unsentMax
)

// slowWait is how long a slow client may take for what is sent, localIdleMax how long a
// session may be open without a request; tests shorten them.
var (
	slowWait     = 10 * time.Second
	localIdleMax = 10 * time.Minute
)

// serveLocalSession hands the requests of c to the queue until c or quit is closed;
// memory bounds its large requests.
func serveLocalSession(
	c *net.UnixConn, from Identity, d *requestQueue, memory memoryReservation, quit <-chan struct{},
) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	l := &localSession{conn: c, raw: raw, from: from, handled: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.closeLocked()
	}()
	subjects := make(map[string]string)
	in := messageReader{memoryReservation: memory}
	defer in.releaseMemory()
	take := func(m []byte) error {
		end := 9 + int(m[8])
		if len(m) < end {
			return io.ErrUnexpectedEOF
		}
		if !l.admitRequest(quit) {
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
		r := &Request{Subject: subject, From: from, Data: data, local: l, number: binary.BigEndian.Uint64(m)}
		switch d.handleOrQueue(r) {
		case unserved:
			l.queueAnswer(r.number, localUnserved, nil)
			l.flushAnswers()
		case tooMany:
			r.AnswerBusy()
		}
		return nil
	}
	for {
		idle := localIdleMax
		if in.held > 0 {
			idle = partialWait
		}
		c.SetReadDeadline(time.Now().Add(idle))
		err := in.readMessages(c, take)
		if err != nil && !(errors.Is(err, os.ErrDeadlineExceeded) && in.held == 0 && l.hasOpenRequests()) {
			return
		}
	}
}

// admitRequest counts a request. It waits while the client has too much to read or to wait
// for; false: the session is closed.
func (l *localSession) admitRequest(quit <-chan struct{}) bool {
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

// signalRoom lets admitRequest look again.
func (l *localSession) signalRoom() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// hasOpenRequests reports whether the client waits for an answer.
func (l *localSession) hasOpenRequests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

// closeLocked closes the session. It is called with mu held.
func (l *localSession) closeLocked() {
	l.conn.Close()
	l.closed = true
	l.signalRoom()
}

// queueAnswer queues an answer; first: flushAnswers has to be called.
func (l *localSession) queueAnswer(number uint64, how byte, data []byte) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == openMax-1 {
		l.signalRoom()
	}
	if len(l.out) > slowMax {
		l.closeLocked()
		return false
	}
	first = len(l.out) == 0 && !l.slow
	l.out = binary.BigEndian.AppendUint32(l.out, uint32(8+1+len(data)))
	l.out = binary.BigEndian.AppendUint64(l.out, number)
	l.out = append(append(l.out, how), data...)
	return first
}

// flushAnswers sends what is queued. It does not wait for a client that does not read.
func (l *localSession) flushAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slow || len(l.out) == 0 {
		return
	}
	if len(l.out) > unsentMax { // admitRequest may wait for this, and there may be no later answer to wake it
		defer l.signalRoom()
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
		l.closeLocked()
	case max(sent, 0) < len(l.out):
		l.out = append([]byte(nil), l.out[max(sent, 0):]...)
		l.slow = true
		go l.flushSlowly()
	case cap(l.out) > 1<<20:
		l.out = nil
	default:
		l.out = l.out[:0]
	}
}

// flushSlowly sends what is queued at the client's pace.
func (l *localSession) flushSlowly() {
	for {
		l.mu.Lock()
		out := l.out
		l.out, l.writing = nil, len(out)
		l.signalRoom()
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
			l.closeLocked() // the client does not read any more; what is put goes nowhere
			l.mu.Unlock()
			return
		}
	}
}

// AnswerBatch sends many answers at once: those that go over the same local session leave in
// one write. It belongs to one goroutine.
type AnswerBatch struct{ sessions []*localSession }

// Add takes an answer. It leaves with the next Send at the latest.
func (p *AnswerBatch) Add(r *Request, data []byte) error {
	if r.local == nil {
		return r.Answer(data)
	}
	if r.local.queueAnswer(r.number, localAnswered, data) {
		p.sessions = append(p.sessions, r.local)
	}
	return nil
}

// Send sends what was put.
func (p *AnswerBatch) Send() {
	for _, l := range p.sessions {
		l.flushAnswers()
	}
	clear(p.sessions)
	p.sessions = p.sessions[:0]
}
