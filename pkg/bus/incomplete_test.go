package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/quill-grid/quill/pkg/fair"
)

// TestHalfSentRequests: large requests that are never sent to their end take bounded
// memory, whatever number of connections has one, local ones and of those that speak
// NATS. They are closed, and a large request that is complete is answered afterwards.
func TestHalfSentRequests(t *testing.T) {
	usual := partialWait
	t.Cleanup(func() { partialWait = usual }) // after the server has ended
	partialWait = 500 * time.Millisecond
	dir := t.TempDir()
	socket, keys := filepath.Join(dir, "sock"), filepath.Join(dir, "keys")
	s := startServer(t, ServerOptions{Socket: socket, Listen: "127.0.0.1:0", Keys: keys})
	if _, err := inside(t, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer(r.Data) }); err != nil {
		t.Fatal(err)
	}
	local, network := ConnOptions{Socket: socket}, ConnOptions{URL: s.URL(), Seed: issue(t, keys, alice), Identity: alice}
	data := bytes.Repeat([]byte("0123456789abcdef"), PayloadMax/2/16)
	for _, c := range []struct {
		over string
		half func() (net.Conn, []byte) // a connection, and half a request
		ask  func() ([]byte, error)
	}{
		{"a line", func() (net.Conn, []byte) {
			c, _, err := shakeHands(&ConnOptions{Socket: socket, Identity: Identity{}}, askPrefix)
			if err != nil {
				t.Fatal(err)
			}
			half := binary.BigEndian.AppendUint32(nil, 8+1+3+PayloadMax)
			half = append(append(half, make([]byte, 8)...), "\x03add"...)
			return c, append(half, make([]byte, PayloadMax/2)...)
		}, func() ([]byte, error) { return openLine(t, socket).Ask(context.Background(), "add", data) }},
		{"NATS at the socket", func() (net.Conn, []byte) { c, half := natsHalf(t, local); return c, half },
			func() ([]byte, error) { return askOnce(local, data) }},
		{"NATS over the network", func() (net.Conn, []byte) { c, half := natsHalf(t, network); return c, half },
			func() ([]byte, error) { return askOnce(network, data) }},
	} {
		const connections = 8 // twice what a user may have
		var closed atomic.Int32
		for range connections {
			conn, half := c.half()
			t.Cleanup(func() { conn.Close() })
			go conn.Write(half)
			go func() {
				io.Copy(io.Discard, conn)
				closed.Add(1)
			}()
		}
		held := func() int {
			s.bounds.incomplete.mu.Lock()
			defer s.bounds.incomplete.mu.Unlock()
			return s.bounds.incomplete.all
		}
		most := 0
		for tick := time.Tick(time.Millisecond); closed.Load() < connections; <-tick {
			most = max(most, held())
		}
		if most == 0 || most > partialUserMax {
			t.Errorf("%s: %d bytes of half requests were held, at most %d are allowed", c.over, most, partialUserMax)
		}
		released := func() { // a moment after the connection is closed, or the answer sent
			for begun, tick := time.Now(), time.Tick(time.Millisecond); held() > 0; <-tick {
				if time.Since(begun) > 20*partialWait {
					t.Fatalf("%s: %d bytes are held when no request is under way", c.over, held())
				}
			}
		}
		released()
		for range 2 {
			if answer, err := c.ask(); err != nil || !bytes.Equal(answer, data) {
				t.Errorf("%s: a request of %d bytes is answered with %d: %v", c.over, len(data), len(answer), err)
			}
		}
		released()
	}
}

// TestPaceOfLargeRequests: a user who begins large requests again and again is slowed down to partialRate after a burst
// of partialUserMax; a daemon and other users are not.
func TestPaceOfLargeRequests(t *testing.T) {
	p := &newMemoryBounds(0).incomplete
	begun := func(who fair.User, until time.Duration) (bytes int) {
		for now := time.Duration(0); now < until; {
			less, pause := p.tryReserve(who, PayloadMax, now)
			if less != nil {
				t.Fatalf("%v waits for memory that nobody holds", who)
			}
			if now += pause; pause > 0 {
				continue
			}
			bytes += PayloadMax
			p.addUsage(who, -PayloadMax, now)
			if who.Daemon && bytes > 100*partialRate {
				break
			}
		}
		return bytes
	}
	mallory, alice, host := fair.User{Name: "mallory"}, fair.User{Name: "alice"},
		fair.User{Name: "host node1", Daemon: true}
	const seconds = 10
	for _, who := range []fair.User{mallory, alice} {
		if most, n := partialUserMax+seconds*partialRate, begun(who, seconds*time.Second); n > most || n < most-PayloadMax {
			t.Errorf("%s began %d bytes in %d s, want %d", who.Name, n, seconds, most)
		}
	}
	if n := begun(host, time.Nanosecond); n <= 100*partialRate {
		t.Errorf("a daemon began %d bytes only", n)
	}
}

// natsHalf connects and returns the connection below, and half a request.
func natsHalf(t *testing.T, o ConnOptions) (*muted, []byte) {
	t.Helper()
	dialer, err := o.newDialer()
	if err != nil {
		t.Fatal(err)
	}
	if dialer.handshake != nil {
		if err := dialer.handshake(); err != nil {
			t.Fatal(err)
		}
	}
	var below *muted
	keep := func(opts *nats.Options) error {
		if in := opts.InProcessServer; in != nil {
			opts.InProcessServer = inProcessConnFunc(func() (c net.Conn, err error) {
				c, err = in.InProcessConn()
				below = &muted{Conn: c, closed: make(chan bool)}
				return below, err
			})
		}
		opts.CustomDialer = dialFunc(func(network, address string) (c net.Conn, err error) {
			c, err = net.Dial(network, address)
			below = &muted{Conn: c, closed: make(chan bool)}
			return below, err
		})
		return nil
	}
	if _, err := nats.Connect(o.URL, append(dialer.opts, keep, nats.NoReconnect())...); err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("PUB %s %d\r\n", CmdSubject(dialer.id, "add"), PayloadMax-100)
	return below, append([]byte(head), make([]byte, PayloadMax/2)...)
}

// muted is a connection from which its NATS client reads no more once mute is set.
type muted struct {
	net.Conn
	mute   atomic.Bool
	once   sync.Once
	closed chan bool
}

func (m *muted) Read(b []byte) (int, error) {
	if m.mute.Load() {
		<-m.closed
	}
	return m.Conn.Read(b)
}

func (m *muted) Close() error {
	m.once.Do(func() { close(m.closed) })
	return m.Conn.Close()
}

type dialFunc func(network, address string) (net.Conn, error)

func (f dialFunc) Dial(network, address string) (net.Conn, error) { return f(network, address) }

func askOnce(o ConnOptions, data []byte) ([]byte, error) {
	c, err := Connect(o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Ask(context.Background(), "add", data)
}

// TestPublished: the large messages in a stream of the NATS protocol are found,
// however it is cut into pieces and whatever their contents look like.
func TestPublished(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var stream strings.Builder
		var want, got []int
		for range 1 + dice.IntN(20) {
			size := []int{0, 1, 3, 1000, largeMessage, largeMessage + 1, 3 * largeMessage}[dice.IntN(7)]
			form := []string{"PUB a %d\r\n", "pub a b  %d\n", "PUB\ta b %d \r\n", "HPUB a b 0 %d\r\n", "PING\r\n",
				"SUB PUB 99999\r\n", "CONNECT {\"a\": 1}\r\n"}[dice.IntN(7)]
			if !strings.Contains(form, "%d") {
				stream.WriteString(form)
				continue
			}
			fmt.Fprintf(&stream, form, size)
			stream.WriteString(strings.Repeat("PUB a 70000\r\n", size/13+1)[:size] + "\r\n")
			if size > largeMessage {
				want = append(want, size)
			}
		}
		held := 0
		p := publishParser{memoryReservation: memoryReservation{
			reserve: func(n int) error { got, held = append(got, n), held+n; return nil },
			release: func(n int) { held -= n },
		}}
		for rest := []byte(stream.String()); len(rest) > 0; {
			n := min(len(rest), []int{1, 7, 4096, 32 << 10}[dice.IntN(4)])
			if err := p.parse(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if !slices.Equal(got, want) || held != 0 {
			t.Fatalf("large messages of %v bytes, not %v; %d bytes held\n%.300q", got, want, held, stream.String())
		}
	}
	p := publishParser{}
	if err := p.parse(bytes.Repeat([]byte("x"), controlMax+1)); !errors.Is(err, errControlLine) {
		t.Errorf("a line without an end: %v", err)
	}
}
