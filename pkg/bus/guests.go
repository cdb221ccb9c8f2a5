package bus

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// guest is an open connection whose credentials can be revoked: one over the network, or
// one with a token.
type guest struct {
	conn net.Conn
	id   Identity
	key  string // the nkey that was used; "": none
}

// guests are all that are open.
type guests struct {
	mu    sync.Mutex
	last  int
	open  map[int]guest
	turns map[string]fair.User // of those without credentials, by their random names
}

// turn returns whose turn a request of a client without credentials takes.
func (g *guests) turn(name string) (fair.User, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	who, ok := g.turns[name]
	return who, ok
}

// add counts an open connection; who is whose it is.
func (g *guests) add(c net.Conn, id Identity, key string, who fair.User) (number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open, g.turns = make(map[int]guest), make(map[string]fair.User)
	}
	if id.Role == Guest {
		g.turns[id.Name] = who
	}
	g.last++
	g.open[g.last] = guest{c, id, key}
	return g.last
}

func (g *guests) remove(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.turns, g.open[number].id.Name)
	delete(g.open, number)
}

// expel closes the connections for which why returns a reason.
func (g *guests) expel(why func(guest) string, log Logger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for number, one := range g.open {
		reason := why(one)
		if reason == "" {
			continue
		}
		one.conn.Close()
		delete(g.open, number)
		if log != nil {
			log.Warn("connection closed", "address", one.conn.RemoteAddr(), "user", one.id, "reason", reason)
		}
	}
}

// revokeWait is how long an open connection may still use a revoked key, and how long one
// may still be open whose token is not valid any more.
const revokeWait = time.Second

// expelRevoked closes the connections of keys that were revoked, or belong to another user
// now, and of tokens that are not valid any more, until quit is closed.
func (g *gate) expelRevoked(quit <-chan struct{}) {
	tick := time.NewTicker(revokeWait / 2)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		keys, err := g.registered()
		// While the file is being edited new connections are refused, and open ones stay.
		edited := g.keyFile != "" && err != nil && !errors.Is(err, os.ErrNotExist)
		g.guests.expel(func(one guest) string {
			switch {
			case g.revokedToken(one.id):
				return "its token has expired or was revoked"
			case one.key != "" && !edited && keys[one.key] != one.id:
				return "its key was revoked"
			}
			return ""
		}, g.log)
	}
}
