package attacker

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Listener is a socket at which a process of the cell waits for connections, as the
// director finds it in proc(5).
type Listener struct {
	Owner   string // the daemon, or "honest" for a command of the honest user
	Network string // tcp or unix
	Address string
}

func (l Listener) name() string {
	if l.Owner == HonestOwner {
		return l.Owner + " " + l.Network // its port is another each time
	}
	return l.Owner + " " + l.Network + " " + l.Address
}

const HonestOwner = "honest"

// listeners are those that there are now.
func (f *Field) listeners() (all []Listener) {
	text, _ := os.ReadFile(f.Listeners)
	for line := range strings.Lines(string(text)) {
		if w := strings.Split(strings.TrimSpace(line), "\t"); len(w) == 3 {
			if l := (Listener{w[0], w[1], w[2]}); f.selected(l.name()) {
				all = append(all, l)
			}
		}
	}
	return all
}

func (l Listener) dial() (net.Conn, error) { return net.DialTimeout(l.Network, l.Address, rawWait) }

// eachListener calls attack with each listener at the same time, and with those that appear later, and waits for all of
// them.
func (f *Field) eachListener(ctx context.Context, attack func(ctx context.Context, l Listener)) error {
	var all sync.WaitGroup
	known := map[Listener]bool{}
	for ctx.Err() == nil {
		for _, l := range f.listeners() {
			if !known[l] {
				known[l] = true
				all.Go(func() {
					attack(ctx, l)
					f.cover(l.name())
				})
			}
		}
		f.pause(ctx, 50*time.Millisecond)
	}
	all.Wait()
	return nil
}

// greetings are what a program says first at a listener, in full or the beginning of it.
func (f *Field) greetings() [][]byte {
	long := binary.BigEndian.AppendUint16(nil, 40)
	return [][]byte{
		nil, {0}, append(long, "ask user "...), []byte("CONNECT {"), []byte("GET / HTTP/1.1\r\nHost: x\r\nX-"),
		[]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), hello("ask user "), hello("user "),
	}
}

// Connections that are held to each listener.
const (
	idleConns  = 4300 // more than a daemon may have
	idleHonest = 60   // to a command of the honest user
	idleTime   = 8 * time.Second
)

// listenersMany takes as many connections as there are to some listeners at a time, and keeps them for some seconds.
func listenersMany(ctx context.Context, f *Field) error {
	turns := make(chan struct{}, max(1, filesMax()/idleConns))
	return f.eachListener(ctx, func(ctx context.Context, l Listener) {
		if l.Owner == HonestOwner { // its turn is now
			f.holdIdle(ctx, l, idleHonest)
			return
		}
		for ctx.Err() == nil {
			select {
			case turns <- struct{}{}:
				f.holdIdle(ctx, l, min(idleConns, filesMax()))
				<-turns
				f.pause(ctx, time.Second)
			case <-ctx.Done():
			}
		}
	})
}

// holdIdle holds so many connections to a listener.
func (f *Field) holdIdle(ctx context.Context, l Listener, most int) {
	ctx, cancel := context.WithTimeout(ctx, idleTime)
	defer cancel()
	var h held
	defer h.close()
	greetings := f.greetings()
	for i := 0; ctx.Err() == nil; i++ {
		if h.size() >= most { // some anew, for those that were closed at the other end
			h.drop(most / 20)
			f.pause(ctx, time.Second)
		}
		c, err := l.dial()
		f.count(err)
		if err != nil {
			if l.Owner == HonestOwner {
				return // the command has ended
			}
			f.pause(ctx, 5*time.Millisecond)
			continue
		}
		h.add(c)
		if l.Owner != HonestOwner { // there those who say nothing take the places
			c.Write(greetings[i%len(greetings)])
		}
	}
}

// listenersRepeated connects and closes the connection, as fast as it goes.
func listenersRepeated(ctx context.Context, f *Field) error {
	greetings := f.greetings()
	noise := append(greetings, []byte{0xff, 0xff}, hello(strings.Repeat("x", 60000)), hello("admin root"),
		hello("qmaster qmaster"), []byte("PUB ge.feed 5\r\nhello\r\n"))
	return f.eachListener(ctx, func(ctx context.Context, l Listener) {
		for i := 0; ctx.Err() == nil; i++ {
			c, err := l.dial()
			f.count(err)
			if err != nil {
				if l.Owner == HonestOwner {
					return
				}
				f.pause(ctx, 5*time.Millisecond)
				continue
			}
			c.SetDeadline(time.Now().Add(50 * time.Millisecond))
			c.Write(noise[i%len(noise)])
			if i%4 == 0 {
				answer, _ := io.ReadAll(io.LimitReader(c, 1<<16))
				f.search("answer to noise", answer)
			}
			c.Close()
		}
	})
}

// Connections that send much, and how much.
const (
	longConns = 150
	longSize  = 4 << 20
)

// listenersLong sends large requests to each listener, before it is known who sends them, and leaves each without its
// end.
func listenersLong(ctx context.Context, f *Field) error {
	chunk := make([]byte, 64<<10)
	return f.eachListener(ctx, func(ctx context.Context, l Listener) {
		for ctx.Err() == nil && l.Owner != HonestOwner {
			var h held
			Workers(longConns, func(i int) error {
				c, err := l.dial()
				f.count(err)
				if err != nil {
					return nil
				}
				h.add(c)
				c.SetDeadline(time.Now().Add(5 * time.Second))
				head := []string{
					fmt.Sprintf(
						"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", longSize+1),
					fmt.Sprintf(
						"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", longSize+1),
				}[i%2]
				if l.Network == "unix" && i%2 == 0 {
					head = string(append(hello("ask user "), 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6, 's', 'u',
						'b', 'm', 'i', 't'))
				}
				_, err = io.WriteString(c, head)
				for sent := 0; err == nil && sent < longSize && ctx.Err() == nil; sent += len(chunk) {
					_, err = c.Write(chunk)
				}
				return nil
			})
			f.pause(ctx, time.Second)
			h.close()
		}
	})
}

// listenersAbandoned leaves requests without their end as the attacker, and asks for much and reads nothing of it.
func listenersAbandoned(ctx context.Context, f *Field) error {
	if !f.selected("qmaster") {
		return nil
	}
	var all sync.WaitGroup
	all.Go(func() { f.sendHalf(ctx) })
	all.Go(func() { f.readNothing(ctx) })
	all.Wait()
	f.cover("qmaster: half a request")
	f.cover("qmaster: unread answers")
	return nil
}

// halfMax is how many connections hold half a request.
const halfMax = 300

// sendHalf begins requests of the largest size and does not end them.
func (f *Field) sendHalf(ctx context.Context) {
	var h held
	defer h.close()
	const size, part = 8<<20 - 1000, 64 << 10
	chunk := make([]byte, part)
	Workers(halfMax, func(i int) error {
		network := !f.Socket || i%2 == 0
		var c net.Conn
		var err error
		if network {
			if c, err = f.speak(true); err == nil {
				_, err = fmt.Fprintf(c, "PUB ge.cmd.%s.submit %d\r\n", f.me().Word(), size)
			}
		} else if c, err = f.dial(false); err == nil {
			if _, err = greet(c, "ask user "); err == nil {
				_, err = c.Write([]byte{0, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6, 's', 'u', 'b', 'm', 'i', 't'})
			}
		}
		if c != nil {
			h.add(c)
		}
		for sent := 0; err == nil && sent < size-2*part && ctx.Err() == nil; sent += part {
			c.SetDeadline(time.Now().Add(5 * time.Second))
			_, err = c.Write(chunk)
			f.pause(ctx, time.Millisecond)
		}
		f.count(err)
		return nil
	})
	<-ctx.Done()
}

// readNothing opens connections that subscribe to everything they may and ask for listings, and never read.
func (f *Field) readNothing(ctx context.Context) {
	var h held
	defer h.close()
	get, err := f.request("get")
	if err != nil {
		return
	}
	const most = 500
	Workers(8, func(int) error {
		for h.size() < most && ctx.Err() == nil {
			c, err := f.speak(!f.Socket)
			f.count(err)
			if err != nil {
				f.pause(ctx, 20*time.Millisecond)
				continue
			}
			h.add(c)
			c.SetWriteDeadline(time.Now().Add(time.Second))
			token := f.me().Word()
			for i, subject := range []string{"ge.events", "ge.feed", "_INBOX_" + token + ".>"} {
				fmt.Fprintf(c, "SUB %s %d\r\n", subject, i+1)
			}
			for i := range 200 { // subscriptions cost the server memory
				fmt.Fprintf(c, "SUB _INBOX_%s.%d %d\r\n", token, i, i+10)
			}
			for i := range 4 {
				fmt.Fprintf(c, "PUB ge.reg.%s _INBOX_%s.r%d 0\r\n\r\n", token, token, i)
				fmt.Fprintf(c, "PUB ge.cmd.%s.get _INBOX_%s.g%d %d\r\n%s\r\n", token, token, i, len(get), get)
			}
		}
		return nil
	})
	<-ctx.Done()
}
