package bus

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// backlogs are the bytes that wait for clients who do not read, by who they are. A
// program may connect often, subscribe to one subject many times and read nothing.
type backlogs struct {
	mu sync.Mutex
	of map[fair.User]int
}

// Bounds of backlogs.
const (
	unreadConnMax = 32 << 20 // bytes of one connection
	unreadUserMax = 64 << 20 // of one user or daemon; then the connections are closed that have more than a little
	unreadLittle  = 2 << 20  // what may be unread of a client that reads: some chunks of a listing
)

// unreadWait is how long a client may read nothing.
const unreadWait = 10 * time.Second

// unread is the backlog of one connection.
type unread struct {
	all *backlogs
	who fair.User

	mu      sync.Mutex
	more    sync.Cond
	blocks  net.Buffers // what waits, in blocks of at most bridgeBytesMax: a long backlog is not copied when it grows
	waiting int         // bytes of it
	writing int         // bytes that are on their way
	closed  bool
}

// connection is the backlog of a new connection.
func (b *backlogs) connection(who fair.User) *unread {
	u := &unread{all: b, who: who}
	u.more.L = &u.mu
	return u
}

// count changes the sum of a user, and returns it.
func (b *backlogs) count(who fair.User, n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = make(map[fair.User]int)
	}
	b.of[who] += n
	sum := b.of[who]
	if sum == 0 {
		delete(b.of, who)
	}
	return sum
}

// relay carries what from sends to a client, until one of them is closed, the client reads
// nothing for unreadWait, or too much waits for it.
func (u *unread) relay(client net.Conn, from io.Reader) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		u.write(client)
	}()
	for buf := make([]byte, bridgeBytes); ; {
		n, err := from.Read(buf)
		if n > 0 && !u.put(buf[:n]) {
			client.Close() // what waits is not written
			break
		}
		if err != nil {
			break
		}
		buf = grown(buf, n)
	}
	u.mu.Lock()
	u.closed = true
	u.more.Signal()
	u.mu.Unlock()
	<-written
}

// put queues b; false: too much waits, or the client is gone.
func (u *unread) put(b []byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	sum := u.all.count(u.who, len(b))
	u.waiting += len(b)
	u.enqueue(b)
	u.more.Signal()
	own := u.waiting + u.writing
	return own <= unreadConnMax && (own <= unreadLittle || sum <= unreadUserMax)
}

// enqueue copies b after what waits: into the last block while it has room, then into one of
// twice its size.
func (u *unread) enqueue(b []byte) {
	size := bridgeBytes
	if n := len(u.blocks); n > 0 {
		last := u.blocks[n-1]
		fits := min(len(b), cap(last)-len(last))
		u.blocks[n-1] = append(last, b[:fits]...)
		b, size = b[fits:], min(2*cap(last), bridgeBytesMax)
	}
	if len(b) > 0 {
		u.blocks = append(u.blocks, append(make([]byte, 0, max(size, len(b))), b...))
	}
}

// write sends what waits until all is closed.
func (u *unread) write(client net.Conn) {
	var spare net.Buffers // one empty block
	u.mu.Lock()
	defer u.mu.Unlock()
	for {
		for u.waiting == 0 && !u.closed {
			u.more.Wait()
		}
		if u.waiting == 0 {
			return
		}
		out, n := u.blocks, u.waiting
		u.blocks, u.waiting, u.writing = spare, 0, n
		u.mu.Unlock()
		spare = net.Buffers{out[len(out)-1][:0]}
		client.SetWriteDeadline(time.Now().Add(unreadWait))
		_, err := out.WriteTo(client)
		u.all.count(u.who, -n)
		u.mu.Lock()
		if u.writing = 0; err != nil {
			u.closed = true
			u.all.count(u.who, -u.waiting)
			u.blocks, u.waiting = nil, 0
			client.Close() // ends the pump that reads from it too
			return
		}
	}
}
