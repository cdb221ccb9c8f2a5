package bus

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// revocableConn is an open connection whose credentials can be revoked: one over the network, or
// one with a token.
type revocableConn struct {
	conn net.Conn
	id   Identity
	key  string // the nkey that was used; "": none
}

// revocableConns are all of them that are open.
type revocableConns struct {
	mu        sync.Mutex
	last      int
	open      map[int]revocableConn
	fairUsers map[string]fair.User // of those without credentials, by their random names
}

// fairUserOf returns whose turn a request of a client without credentials takes.
func (g *revocableConns) fairUserOf(name string) (fair.User, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	who, ok := g.fairUsers[name]
	return who, ok
}

// addConn counts an open connection; who is whose it is.
func (g *revocableConns) addConn(c net.Conn, id Identity, key string, who fair.User) (number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open, g.fairUsers = make(map[int]revocableConn), make(map[string]fair.User)
	}
	if id.Role == Guest {
		g.fairUsers[id.Name] = who
	}
	g.last++
	g.open[g.last] = revocableConn{c, id, key}
	return g.last
}

func (g *revocableConns) removeConn(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.fairUsers, g.open[number].id.Name)
	delete(g.open, number)
}

// closeIf closes the connections for which why returns a reason.
func (g *revocableConns) closeIf(why func(revocableConn) string, log Logger) {
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

// closeRevokedConns closes the connections of keys that were revoked, or belong to another user
// now, and of tokens that are not valid any more, until quit is closed.
func (g *authenticator) closeRevokedConns(quit <-chan struct{}) {
	tick := time.NewTicker(revokeWait / 2)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		keys, err := g.registeredKeys()
		// While the file is being edited new connections are refused, and open ones stay.
		edited := g.keyFile != "" && err != nil && !errors.Is(err, os.ErrNotExist)
		g.conns.closeIf(func(one revocableConn) string {
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
