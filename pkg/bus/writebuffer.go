package bus

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// writeBacklogs are the bytes that wait for clients who do not read, by who they are. A
// program may connect often, subscribe to one subject many times and read nothing.
type writeBacklogs struct {
	most memoryShare // when there is more, the connections are closed that have more than their part of it

	mu    sync.Mutex
	of    map[fair.User]int
	users int // of all users
}

// unreadWait is how long a client may read nothing.
const unreadWait = 10 * time.Second

// writeBuffer is the backlog of one connection.
type writeBuffer struct {
	all *writeBacklogs
	who fair.User

	mu      sync.Mutex
	arrived sync.Cond
	blocks  net.Buffers // what waits, in blocks of at most bridgeBytesMax: a long backlog is not copied when it grows
	waiting int         // bytes of it
	memory  int         // bytes of these blocks, and of those that are on their way or empty
	closed  bool
}

// newWriteBuffer returns the backlog of a new connection.
func (b *writeBacklogs) newWriteBuffer(who fair.User) *writeBuffer {
	u := &writeBuffer{all: b, who: who}
	u.arrived.L = &u.mu
	return u
}

// addBytes changes the sums of a user and of all, and reports whether they are within their bounds.
func (b *writeBacklogs) addBytes(who fair.User, n int) (within bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = make(map[fair.User]int)
	}
	if !who.Daemon {
		b.users += n
	}
	if b.of[who] += n; b.of[who] == 0 {
		delete(b.of, who)
	}
	return b.of[who] <= b.most.user && (who.Daemon || b.users <= b.most.all)
}

// minOfConn returns how many bytes may wait for a connection whatever there is for others: some chunks of a listing.
// All that a user may have take as much as the user's share.
func (b *writeBacklogs) minOfConn() int { return b.most.user / natsUserMax }

// maxOfConn returns how many bytes may wait for one connection.
func (b *writeBacklogs) maxOfConn() int { return b.most.user / 2 }

// relayTo carries what from sends to a client, until one of them is closed, the client reads
// nothing for unreadWait, or too much waits for it.
func (u *writeBuffer) relayTo(client net.Conn, from io.Reader) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		u.writeQueued(client)
	}()
	for buf := make([]byte, bridgeBytes); ; {
		n, err := from.Read(buf)
		if n > 0 && !u.enqueue(buf[:n]) {
			client.Close() // what waits is not written
			break
		}
		if err != nil {
			break
		}
		buf = growBuffer(buf, n)
	}
	u.mu.Lock()
	u.closed = true
	u.arrived.Signal()
	u.mu.Unlock()
	<-written
}

// enqueue queues b; false: too much waits, or the client is gone.
func (u *writeBuffer) enqueue(b []byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	more := u.copyIn(b)
	within := u.all.addBytes(u.who, more)
	u.waiting += len(b)
	u.memory += more
	u.arrived.Signal()
	return u.memory <= u.all.maxOfConn() && (u.memory <= u.all.minOfConn() || within)
}

// copyIn copies b after what waits: into the last block while it has room, then into one of
// twice its size. It returns how many bytes of memory that takes.
func (u *writeBuffer) copyIn(b []byte) (more int) {
	size := bridgeBytes
	if n := len(u.blocks); n > 0 {
		last := u.blocks[n-1]
		fits := min(len(b), cap(last)-len(last))
		u.blocks[n-1] = append(last, b[:fits]...)
		b, size = b[fits:], min(2*cap(last), bridgeBytesMax)
	}
	if len(b) > 0 {
		more = max(size, len(b))
		u.blocks = append(u.blocks, append(make([]byte, 0, more), b...))
	}
	return more
}

// writeQueued sends what waits until all is closed.
func (u *writeBuffer) writeQueued(client net.Conn) {
	var spare net.Buffers // one empty block
	u.mu.Lock()
	defer u.mu.Unlock()
	defer func() { u.all.addBytes(u.who, -u.memory) }()
	for {
		for u.waiting == 0 && !u.closed {
			u.arrived.Wait()
		}
		if u.waiting == 0 {
			return
		}
		out := u.blocks
		u.blocks, u.waiting = spare, 0
		u.mu.Unlock()
		last := len(out) - 1
		spare = net.Buffers{out[last][:0]}
		written := 0
		for _, block := range out[:last] {
			written += cap(block)
		}
		client.SetWriteDeadline(time.Now().Add(unreadWait))
		_, err := out.WriteTo(client)
		u.all.addBytes(u.who, -written)
		u.mu.Lock()
		if u.memory -= written; err != nil {
			u.closed = true
			client.Close() // ends copyBytes, which reads from it too
			return
		}
	}
}
