package bus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// LocalConn is the fast connection to the owner of the log for programs on its host, over the
// cell's socket: requests and answers, without NATS. In the server the goroutine that
// reads a request passes it to the handler of AllCmd, and the goroutine that answers
// writes the answer (see requestqueue.go). In the client one of the goroutines that wait for
// answers reads them for all. A request passes through a fifth of the goroutines that it
// passes through on a Conn.
//
// It begins as every connection over the socket (see socket.go), with "ask "
// before the role; the first requests follow at once, and are read if the server welcomes
// the client. Then follow
//
//	client: length, number, length of WHAT in one byte, WHAT, data
//	server: length, number, 1, data          in place of 1: 0 not served, 2 too many requests
//
// with the length of the rest in four bytes and the client's number of the request in
// eight, answered in any order. The client does not name its user: the server takes it
// from the connection.
//
// All methods may be used by several goroutines.
type LocalConn struct {
	conn    *net.UnixConn
	options ConnOptions

	reading          chan struct{} // full while one of the askers reads for all
	id               Identity      // not known: the greeting has not been read
	greeting         greeting      // what has been
	greetingDeadline time.Time     // until when the greeting is waited for; zero: it was not waited for yet
	in               messageReader // what it reads

	mu      sync.Mutex
	out     []byte // requests to be sent
	spare   []byte // buffer for the next ones
	sending bool   // a goroutine sends what is in out
	last    uint64
	unsent  uint64                      // requests from this number on were not sent; 0: all were
	waiting map[uint64]chan localAnswer // nil: the connection is broken
	refused *RefusedError               // nil: the server has not refused the connection
}

// RefusedError is the error of a connection that the server did not open: ErrRefused, ErrToken,
// ErrBusy or ErrNoServer. No request was carried out.
type RefusedError struct{ error }

func (e *RefusedError) Unwrap() error { return e.error }

// DialLocal opens a local connection to the server at o.Socket, as o.Identity. Whether the server accepts
// the client is known with the first answer, so that a command waits once: see RefusedError. It
// waits for the server to accept a token.
func DialLocal(o ConnOptions) (*LocalConn, error) {
	conn, err := sendHello(&o, askPrefix)
	if err != nil {
		return nil, err
	}
	l := &LocalConn{conn: conn, options: o, reading: make(chan struct{}, 1), waiting: make(map[uint64]chan localAnswer)}
	if o.Token != "" {
		l.startGreetingDeadline()
		if err := l.readAvailable(); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return l, nil
}

// Close ends the connection; what is being asked is lost.
func (l *LocalConn) Close() { l.conn.Close() }

// Ask sends a request of kind what ("add", "del", ...) and waits for the answer. If it
// fails with ErrLost, and not ErrUnsent, it is unknown whether the request was carried out.
func (l *LocalConn) Ask(ctx context.Context, what string, data []byte) ([]byte, error) {
	if len(what) > 255 || len(data) > PayloadMax {
		return nil, fmt.Errorf("request of %d bytes is too big: at most %d are sent; put what is big into a file", len(data),
			PayloadMax)
	}
	answered := make(chan localAnswer, 1)
	number, err := l.sendRequest(what, data, answered)
	if err != nil {
		return nil, err
	}
	for {
		select {
		case a, ok := <-answered:
			switch {
			case !ok:
				l.mu.Lock()
				defer l.mu.Unlock()
				return nil, l.lostReason(number)
			case a.how == localBusy:
				return nil, ErrBusy
			case a.how != localAnswered:
				return nil, fmt.Errorf("%w for %s", ErrUnserved, what)
			}
			return a.data, nil
		case l.reading <- struct{}{}:
			l.readUntilAnswered(ctx, answered)
			<-l.reading
		case <-ctx.Done():
			l.mu.Lock()
			delete(l.waiting, number)
			l.mu.Unlock()
			return nil, context.Cause(ctx)
		}
	}
}

// sendRequest queues a request. If no other goroutine is writing, the caller writes all that is
// queued meanwhile: many callers share a write, and a single one does not wait.
func (l *LocalConn) sendRequest(what string, data []byte, answered chan localAnswer) (number uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	number = l.last
	if l.waiting == nil {
		l.unsent = cmp.Or(l.unsent, number)
		return 0, l.lostReason(number)
	}
	l.waiting[number] = answered
	l.out = binary.BigEndian.AppendUint32(l.out, uint32(8+1+len(what)+len(data)))
	l.out = binary.BigEndian.AppendUint64(l.out, number)
	l.out = append(l.out, byte(len(what)))
	l.out = append(append(l.out, what...), data...)
	if l.sending {
		return number, nil
	}
	l.sending = true
	for len(l.out) > 0 {
		out, first := l.out, binary.BigEndian.Uint64(l.out[4:])
		l.out = l.spare[:0]
		l.mu.Unlock()
		n, err := l.conn.Write(out)
		l.mu.Lock()
		l.spare = out
		if err != nil && n == 0 {
			l.unsent = cmp.Or(l.unsent, first)
		}
		// the server has gone or refuses: what it has sent is read before the end, which all waiting callers get
		if err != nil {
			l.out = l.out[:0]
			l.conn.CloseWrite()
		}
	}
	l.sending = false
	return number, nil
}

// readUntilAnswered hands out answers, until there is one for the asker who reads or the connection
// breaks.
func (l *LocalConn) readUntilAnswered(ctx context.Context, answered <-chan localAnswer) {
	if !l.id.Known() && l.greetingDeadline.IsZero() {
		l.startGreetingDeadline()
	}
	defer context.AfterFunc(ctx, func() { l.conn.SetReadDeadline(time.Unix(1, 0)) })()
	for len(answered) == 0 && ctx.Err() == nil {
		err := l.readAvailable()
		if errors.Is(err, os.ErrDeadlineExceeded) { // this caller stopped waiting, or one before it
			var until time.Time
			if !l.id.Known() {
				until = l.greetingDeadline
			}
			err = l.conn.SetReadDeadline(until)
		}
		if err != nil {
			l.failAll(err)
			return
		}
	}
}

// startGreetingDeadline begins to count how long the greeting takes: from the first request, since the connection may
// have been open for long.
func (l *LocalConn) startGreetingDeadline() {
	l.greetingDeadline = time.Now().Add(connectWait)
	l.conn.SetReadDeadline(l.greetingDeadline)
}

// readAvailable reads the greeting, then answers.
func (l *LocalConn) readAvailable() error {
	if l.id.Known() {
		return l.in.readMessages(l.conn, l.dispatchAnswer)
	}
	word, err := l.greeting.readFrom(l.conn, &l.options)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && time.Now().After(l.greetingDeadline):
		// the server may carry out the first requests yet
		return ErrLost
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case err != nil:
		return &RefusedError{err}
	}
	l.id, _ = ParseWord(word)
	return nil
}

// dispatchAnswer passes an answer to the goroutine that waits for it.
func (l *LocalConn) dispatchAnswer(m []byte) error {
	number := binary.BigEndian.Uint64(m)
	l.mu.Lock()
	answered := l.waiting[number]
	delete(l.waiting, number)
	l.mu.Unlock()
	if answered != nil {
		answered <- localAnswer{how: m[8], data: bytes.Clone(m[9:])}
	}
	return nil
}

// failAll ends the connection: all that wait get the reason from lostReason.
func (l *LocalConn) failAll(why error) {
	l.conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	errors.As(why, &l.refused)
	for _, answered := range l.waiting {
		close(answered)
	}
	l.waiting = nil
}

// lostReason returns why a request is not answered any more. It is called with mu held.
func (l *LocalConn) lostReason(number uint64) error {
	switch {
	case l.refused != nil:
		return l.refused
	case l.unsent > 0 && number >= l.unsent:
		return ErrUnsent
	}
	return ErrLost
}
