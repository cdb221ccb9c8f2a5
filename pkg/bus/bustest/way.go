package bustest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Way is a way to a server that a test can disturb, and mend.
type Way struct {
	URL    string // what leads there over this way
	to     string
	change func([]byte)

	mu      sync.Mutex
	changed *sync.Cond
	open    map[net.Conn]bool // both ends of all that go over it
	cut     bool
	silent  bool
}

// NewWay opens a way to the NATS server at a URL.
func NewWay(t *testing.T, to string) *Way { return NewWayWith(t, to, nil) }

// NewWayWith is NewWay, and change changes what comes from the server, in place.
func NewWayWith(t *testing.T, to string, change func([]byte)) *Way {
	t.Helper()
	where, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Way{URL: "nats://" + l.Addr().String(), to: where.Host, change: change, open: map[net.Conn]bool{}}
	w.changed = sync.NewCond(&w.mu)
	t.Cleanup(func() {
		l.Close()
		w.Cut()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			w.let(in)
		}
	}()
	return w
}

// let admits a connection if the way is there and leads somewhere.
func (w *Way) let(in net.Conn) {
	out, err := net.Dial("tcp", w.to)
	if err != nil {
		in.Close()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		in.Close()
		out.Close()
		return
	}
	w.open[in], w.open[out] = true, true
	go w.pass(out, in, nil)
	go w.pass(in, out, w.change)
}

func (w *Way) pass(to, from net.Conn, change func([]byte)) {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, to)
		to.Close()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.awaitSound()
		if err != nil {
			return
		}
		if change != nil {
			change(buf[:n])
		}
		to.Write(buf[:n])
	}
}

// awaitSound returns when the way is not silent.
func (w *Way) awaitSound() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.silent {
		w.changed.Wait()
	}
}

// Connections is how many connections go over the way.
func (w *Way) Connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open) / 2
}

// Cut closes all that goes over the way and admits no connection.
func (w *Way) Cut() { w.become(true, false) }

// Mute passes nothing on any more, not even that a side has closed, and closes
// nothing.
func (w *Way) Mute() { w.become(false, true) }

// Heal ends all faults of the way. Bytes that were sent on a mute way arrive now, as
// after a retransmission of lost packets.
func (w *Way) Heal() { w.become(false, false) }

func (w *Way) become(cut, silent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.silent = cut, silent
	if cut {
		for c := range w.open {
			c.Close()
		}
	}
	w.changed.Broadcast()
}
