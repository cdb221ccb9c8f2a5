package shepherd

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
)

// The socket carries packed messages: requests up, replies down. A reply carries the ID of its request; ID 0 is
// unsolicited and has attempts that changed. Both ends are the same program or two versions of it: see fields.go.

type verb uint8

const (
	verbStart verb = iota + 1
	verbSignal
	verbList
	verbUsage
	verbForget
	verbShutdown
	verbChange
	verbAdopt
)

type request struct {
	ID       uint64
	Verb     verb
	Durable  bool
	Force    bool
	Signal   report.SignalKind
	Plans    []plan.Plan
	Attempts []report.Attempt
	Changes  []plan.LimitsChange
	UID      uint32 // of a verbAdopt: the owner of the job, and the process that is to join it
	Pid      int
}

type reply struct {
	ID       uint64
	Error    string
	Answers  []plan.Answer
	Statuses []plan.Status
	Gone     []report.Attempt // of a verbSignal: those that have ended or are unknown
	Used     []plan.Used
	Changed  []plan.Changed
	Joined   report.Attempt
}

// messageWriter sends messages of type M in order from a goroutine of its own, so that no sender ever waits for the
// peer. Messages that pile up while a write is under way leave in one write.
type messageWriter[M any] struct {
	fields func(*wire.Coder, *M)

	mu     sync.Mutex
	queue  []M
	closed bool
	wake   chan struct{} // capacity 1
	done   chan struct{} // closed: all is sent or lost
}

func newMessageWriter[M any](c net.Conn, fields func(*wire.Coder, *M)) *messageWriter[M] {
	o := &messageWriter[M]{fields: fields, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.writeQueued(c)
	return o
}

// send queues m; false when the connection is gone.
func (o *messageWriter[M]) send(m M) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.queue = append(o.queue, m)
	o.wakeWriter()
	return true
}

// sendSoon queues m, to leave with the next message, or alone if none follows within lull.
func (o *messageWriter[M]) sendSoon(m M) {
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
				o.wakeWriter()
			}
		})
	}
}

// lull is how long a status is held back that no caller waits for, and an end while other jobs run.
const lull = time.Millisecond

// wakeWriter wakes the writer. Called with mu held.
func (o *messageWriter[M]) wakeWriter() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close lets what is queued leave, then closes the connection.
func (o *messageWriter[M]) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		close(o.wake)
	}
}

// bufferKept is the size up to which a buffer is kept for the next messages.
const bufferKept = 1 << 20

func (o *messageWriter[M]) writeQueued(c net.Conn) {
	defer close(o.done)
	defer c.Close()
	var b []byte
	for open := true; open; {
		_, open = <-o.wake
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		b = b[:0]
		for i := range queue {
			b = packSized(b, &queue[i], o.fields)
		}
		if _, err := c.Write(b); err != nil {
			o.close()
			return
		}
		if cap(b) > bufferKept {
			b = nil
		}
	}
}

// messageReader reads messages of type M.
type messageReader[M any] struct {
	r      *bufio.Reader
	fields func(*wire.Coder, *M)
}

func newMessageReader[M any](c net.Conn, fields func(*wire.Coder, *M)) *messageReader[M] {
	return &messageReader[M]{bufio.NewReaderSize(c, 64<<10), fields}
}

// readNext waits for a message.
func (in *messageReader[M]) readNext() (m M, err error) {
	head, err := in.r.Peek(lengthBytes)
	if err != nil {
		return m, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head))
	in.r.Discard(lengthBytes)
	if _, err = io.ReadFull(in.r, b); err == nil {
		err = unpack(b, &m, in.fields)
	}
	return m, err
}
