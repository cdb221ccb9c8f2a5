package bus

import (
	"errors"
	"net"
	"sync"
	"time"
)

// listener serves each connection that comes in a goroutine of its own.
type listener struct {
	net.Listener
	quit chan struct{} // closed by close

	mu   sync.Mutex
	open map[net.Conn]struct{} // nil once closed
	done sync.WaitGroup
}

// acceptConns calls handle with every connection, each in a goroutine, until close is called.
// A connection is closed when handle returns.
func (l *listener) acceptConns(from net.Listener, handle func(net.Conn)) {
	l.Listener, l.quit, l.open = from, make(chan struct{}), make(map[net.Conn]struct{})
	l.done.Go(func() {
		for {
			c, err := l.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // out of file descriptors: let some go first
				time.Sleep(10 * time.Millisecond)
			default:
				l.serveConn(c, handle)
			}
		}
	})
}

func (l *listener) serveConn(c net.Conn, handle func(net.Conn)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		c.Close()
		return
	}
	l.open[c] = struct{}{}
	l.done.Go(func() {
		handle(c)
		c.Close()
		l.mu.Lock()
		delete(l.open, c)
		l.mu.Unlock()
	})
}

// closeConns closes all connections, and returns when no handle runs any more.
func (l *listener) closeConns() {
	l.Close()
	l.mu.Lock()
	if l.open != nil {
		close(l.quit)
	}
	for c := range l.open {
		c.Close()
	}
	l.open = nil
	l.mu.Unlock()
	l.done.Wait()
}
