package bustest

import (
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// Way is a way to a server that a test can disturb.
type Way struct {
	URL    string // what leads there over this way
	open   chan net.Conn
	silent atomic.Bool
}

// NewWay opens a way to the NATS server at a URL.
func NewWay(t *testing.T, to string) *Way {
	t.Helper()
	where, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &Way{URL: "nats://" + l.Addr().String(), open: make(chan net.Conn, 100)}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", where.Host)
			if err != nil {
				in.Close()
				continue
			}
			w.open <- in
			go w.pass(out, in)
			go w.pass(in, out)
		}
	}()
	return w
}

func (w *Way) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !w.silent.Load() {
			to.Write(buf[:n])
		}
	}
}

// Cut closes the connection that came first; the next one is let in.
func (w *Way) Cut() { (<-w.open).Close() }

// Mute passes nothing on any more and closes nothing.
func (w *Way) Mute() { w.silent.Store(true) }
