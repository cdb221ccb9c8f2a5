package bus

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// desk is where requests come in, over lines and over NATS, to the one in this
// process who serves AllCmd.
type desk struct {
	mu     sync.Mutex
	handle func(*Request) // nil: nobody serves
}

// open has handle called with every request, one after the other.
func (d *desk) open(handle func(*Request)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle = handle
}

// take hands a request over; false: nobody serves.
func (d *desk) take(r *Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle == nil {
		return false
	}
	d.handle(r)
	return true
}

// line is the server's end of a Line.
type line struct {
	conn *net.UnixConn
	raw  syscall.RawConn
	from Identity

	mu     sync.Mutex
	out    []byte // answers to be sent
	behind bool   // the asker does not read: a goroutine of its own sends them
}

// What a slow asker may have waiting for him, in bytes.
const behindMax = 64 << 20

// behindWait is how long a slow asker may take for what is sent; tests shorten it.
var behindWait = 10 * time.Second

// serveLine hands the requests of c to the desk until c is closed.
func serveLine(c *net.UnixConn, from Identity, d *desk) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	l := &line{conn: c, raw: raw, from: from}
	subjects := make(map[string]string)
	take := func(m []byte) error {
		end := 9 + int(m[8])
		if len(m) < end {
			return io.ErrUnexpectedEOF
		}
		what, data := m[9:end], bytes.Clone(m[end:])
		subject, ok := subjects[string(what)]
		if !ok {
			subject = CmdSubject(from, string(what))
			if len(subjects) < 100 {
				subjects[string(what)] = subject
			}
		}
		r := &Request{Subject: subject, From: from, Data: data, line: l, number: binary.BigEndian.Uint64(m)}
		if !d.take(r) {
			l.put(r.number, 0, nil)
			l.send()
		}
		return nil
	}
	for in := (messages{}); in.read(c, take) == nil; {
	}
}

// put queues an answer; first says that send has to be called.
func (l *line) put(number uint64, how byte, data []byte) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.out) > behindMax {
		l.conn.Close()
		return false
	}
	first = len(l.out) == 0 && !l.behind
	l.out = binary.BigEndian.AppendUint32(l.out, uint32(8+1+len(data)))
	l.out = binary.BigEndian.AppendUint64(l.out, number)
	l.out = append(append(l.out, how), data...)
	return first
}

// send sends what is queued. It does not wait for an asker who does not read.
func (l *line) send() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.behind || len(l.out) == 0 {
		return
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
		l.conn.Close()
	case max(sent, 0) < len(l.out):
		l.out = append([]byte(nil), l.out[max(sent, 0):]...)
		l.behind = true
		go l.catchUp()
	case cap(l.out) > 1<<20:
		l.out = nil
	default:
		l.out = l.out[:0]
	}
}

// catchUp sends what is queued at the asker's pace.
func (l *line) catchUp() {
	for {
		l.mu.Lock()
		out := l.out
		l.out = nil
		if len(out) == 0 {
			l.behind = false
			l.conn.SetWriteDeadline(time.Time{}) // or send would fail later
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.conn.SetWriteDeadline(time.Now().Add(behindWait))
		if _, err := l.conn.Write(out); err != nil {
			l.conn.Close() // behind for ever; what is put goes nowhere
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
	if r.line.put(r.number, 1, data) {
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
