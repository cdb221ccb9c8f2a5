package fair

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Listener accepts connections within bounds for each user. One user with many connections does not keep others out:
// for a new connection of another user it closes one without a request, the oldest of the user who has most.
type Listener struct {
	net.Listener
	// Peer returns whose connection it is: PeerOf, but in tests.
	Peer func(net.Conn) User

	limits Limits
	mu     sync.Mutex
	all    int
	of     map[User]map[*Conn]struct{}
}

// Conn is a connection that a Listener has accepted.
type Conn struct {
	net.Conn
	User User

	from  *Listener
	idle  time.Time // since when it has no request; zero: it has one
	leave sync.Once
}

// NewListener bounds the connections of a listener. The name is that of their row in the table of the manual,
// security.md.
func NewListener(name string, l net.Listener, limits Limits) *Listener {
	_ = NewPlaces(name, limits)
	limits.User = cmp.Or(limits.User, limits.Total)
	return &Listener{Listener: l, Peer: PeerOf, limits: limits, of: make(map[User]map[*Conn]struct{})}
}

// ListenUnix makes a Unix socket to which every user may connect. A file of the path is replaced; closing the listener
// removes it.
func ListenUnix(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Accept returns the next connection that is within the bounds. Others are closed.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		one := &Conn{Conn: c, User: l.Peer(c), from: l, idle: time.Now()}
		victim, ok := l.admit(one)
		if victim != nil {
			victim.Close()
		}
		if ok {
			return one, nil
		}
		c.Close()
	}
}

// admit counts a connection, if need be in place of another one that is to be closed; false: there is no room.
func (l *Listener) admit(c *Conn) (victim *Conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.limits.Total
	if !c.User.Daemon {
		most -= l.limits.Reserve
	}
	own := len(l.of[c.User])
	switch {
	case !c.User.Daemon && own >= l.limits.User:
		victim = l.oldest(c.User)
	case l.all >= most:
		greedy, n := c.User, own
		for who, conns := range l.of {
			if len(conns) > n {
				greedy, n = who, len(conns)
			}
		}
		victim = l.oldest(greedy)
	default:
		l.add(c)
		return nil, true
	}
	if victim == nil {
		return nil, false
	}
	l.remove(victim)
	l.add(c)
	return victim, true
}

// oldest returns the connection of a user that has been without a request for the longest time; nil: there is none.
func (l *Listener) oldest(who User) (found *Conn) {
	for c := range l.of[who] {
		if !c.idle.IsZero() && (found == nil || c.idle.Before(found.idle)) {
			found = c
		}
	}
	return found
}

func (l *Listener) add(c *Conn) {
	if l.of[c.User] == nil {
		l.of[c.User] = make(map[*Conn]struct{})
	}
	l.of[c.User][c] = struct{}{}
	l.all++
}

func (l *Listener) remove(c *Conn) {
	c.leave.Do(func() {
		l.all--
		if delete(l.of[c.User], c); len(l.of[c.User]) == 0 {
			delete(l.of, c.User)
		}
	})
}

// Count returns how many connections are open.
func (l *Listener) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.from.mu.Lock()
	c.from.remove(c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// SetIdle notes whether the connection has no request at present.
func (c *Conn) SetIdle(idle bool) {
	c.from.mu.Lock()
	defer c.from.mu.Unlock()
	c.idle = time.Time{}
	if idle {
		c.idle = time.Now()
	}
}

// connOf returns the connection of a Listener below others, as of TLS; nil: it is of none.
func connOf(c net.Conn) *Conn {
	for {
		switch one := c.(type) {
		case *Conn:
			return one
		case interface{ NetConn() net.Conn }:
			c = one.NetConn()
		default:
			return nil
		}
	}
}

// Serve has a server of HTTP report to its Listeners which connections have no request. UserOf returns the users of its
// requests.
func Serve(s *http.Server) {
	s.ConnState = func(c net.Conn, now http.ConnState) {
		if one := connOf(c); one != nil && (now == http.StateActive || now == http.StateIdle) {
			one.SetIdle(now == http.StateIdle)
		}
	}
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if one := connOf(c); one != nil {
			return context.WithValue(ctx, userKey{}, one.User)
		}
		return ctx
	}
}

type userKey struct{}

// UserOf returns the user of the connection of a request, as it came to a Listener; false: it came to none.
func UserOf(ctx context.Context) (User, bool) {
	who, ok := ctx.Value(userKey{}).(User)
	return who, ok
}
