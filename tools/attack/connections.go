package attack

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"
)

// connections takes as many connections as this process may have, and keeps them.
var connections = Attack{
	Name: "connections", Usage: "thousands of connections to the socket and the network: silent, half open, idle",
	Roles: asUser, Run: takeConnections,
}

// filesKept are descriptors that the process needs for itself.
const filesKept = 200

func filesMax() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 1000
	}
	return int(min(limit.Cur, 20_000)) - filesKept
}

func takeConnections(ctx context.Context, f *Field) error {
	var h held
	defer h.close()
	most := filesMax()
	ways := []func() (net.Conn, error){
		func() (net.Conn, error) { return f.dial(false) }, // silent
		func() (net.Conn, error) { return f.dial(true) },
		func() (net.Conn, error) { // stops in its first word
			c, err := f.dial(false)
			if err == nil {
				c.Write([]byte{0, 9, 'a'})
			}
			return c, err
		},
		func() (net.Conn, error) { // came in, and is idle
			c, err := f.dial(false)
			if err == nil && f.Socket {
				if _, err = greet(c, "ask user "); err != nil {
					c.Close()
				}
			}
			return c, err
		},
		func() (net.Conn, error) { return f.speak(false) },
		func() (net.Conn, error) { return f.speak(true) },
	}
	const at = 8
	return workers(at, func(w int) error {
		for i := w; ctx.Err() == nil; i++ {
			if h.size() >= most { // some anew, for those that were closed at the other end
				h.mu.Lock()
				for _, c := range h.conns[:most/20] {
					c.Close()
				}
				h.conns = h.conns[most/20:]
				h.mu.Unlock()
				f.pause(ctx, time.Second)
			}
			c, err := ways[i%len(ways)]()
			f.count(err)
			if err != nil {
				f.pause(ctx, 5*time.Millisecond)
				continue
			}
			h.add(c)
		}
		return nil
	})
}

// halfSent begins requests of the largest size and does not end them.
var halfSent = Attack{
	Name: "half-sent", Usage: "requests of 8 MB on hundreds of connections, none of them sent to its end",
	Roles: asUser, Run: sendHalf,
}

// halfMax is how many connections hold half a request.
const halfMax = 400

func sendHalf(ctx context.Context, f *Field) error {
	var h held
	defer h.close()
	const size, part = 8<<20 - 1000, 64 << 10
	chunk := make([]byte, part)
	err := workers(halfMax, func(i int) error {
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
	return err
}

// slowReaders ask for much and read nothing.
var slowReaders = Attack{
	Name: "slow-readers", Usage: "connections that subscribe to everything they may and ask for listings, and never read",
	Roles: asAnybody, Run: readNothing,
}

func readNothing(ctx context.Context, f *Field) error {
	var h held
	defer h.close()
	get, err := f.request("get")
	if err != nil {
		return err
	}
	const most = 500
	err = workers(8, func(int) error {
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
	return err
}
