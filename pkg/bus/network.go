package bus

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// network accepts clients of other hosts over TCP. They speak NATS as to any server:
//
//	server: INFO, with a nonce
//	both:   TLS, if the cell has certificates
//	client: CONNECT, with a public nkey and the signed nonce, or nothing if its certificate contains an identity
//
// After authentication the server receives the CONNECT with a one-time token instead of
// the credentials (see gate), and a bridge carries the rest.
type network struct {
	listener
	host   string      // to listen on, as it was given: a certificate may name it
	tls    *tls.Config // nil: plain text
	nats   Engine
	gate   *gate
	bounds *bounds
	// arriving bounds the connections of each address that are not authenticated yet.
	arriving *quota

	guests guests
}

func listenNetwork(address string, files TLSFiles, nats Engine, g *gate, b *bounds) (*network, error) {
	n := &network{nats: nats, gate: g, bounds: b, arriving: &quota{total: g.quota.total, user: max(g.quota.total/2, 1), of: make(map[fair.User]int)}}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address to listen on: %w", err)
	}
	if n.host = host; host == "" {
		n.host = "0.0.0.0"
	}
	if files != (TLSFiles{}) {
		if n.tls, err = files.server(); err != nil {
			return nil, err
		}
	} else if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listening on %s needs TLS: other hosts could read and change what is sent", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("address to listen on: %w", err)
	}
	n.serve(l, n.handle)
	if g.keyFile != "" {
		go n.expelRevoked()
	}
	return n, nil
}

// url is where clients connect.
func (n *network) url() string {
	scheme := "nats://"
	if n.tls != nil {
		scheme = "tls://"
	}
	_, port, _ := net.SplitHostPort(n.Addr().String())
	return scheme + net.JoinHostPort(n.host, port)
}

// handle serves one connection.
func (n *network) handle(c net.Conn) {
	var from fair.User
	from.Name, _, _ = net.SplitHostPort(c.RemoteAddr().String())
	if n.arriving.enter(from, false) != nil {
		return
	}
	arrived := sync.OnceFunc(func() { n.arriving.leave(from) })
	defer arrived()
	inside, err := n.nats.InProcessConn()
	if err != nil {
		return // going down
	}
	defer inside.Close()

	deadline := time.Now().Add(connectWait)
	c.SetDeadline(deadline)
	inside.SetDeadline(deadline)
	id, key, rest, err := n.authenticate(&c, inside)
	if err != nil {
		n.refuse(c, Identity{}, err)
		return
	}
	who := id.Turn()
	if err := n.gate.enter(who); err != nil {
		n.refuse(c, id, err)
		return
	}
	defer n.gate.leave(who)
	arrived()
	c.SetDeadline(time.Time{})
	inside.SetDeadline(time.Time{})
	defer n.guests.remove(n.guests.add(c, id, key))
	bridge(c, io.MultiReader(bytes.NewReader(rest), c), inside, n.bounds.partial.fill(who, n.quit), n.bounds.backlog.connection(who))
}

// refuse answers a client that is not authenticated or has too many connections, in the
// words of the NATS protocol.
func (n *network) refuse(c net.Conn, id Identity, why error) {
	if n.gate.log != nil {
		n.gate.log.Warn("connection refused", "from", c.RemoteAddr(), "user", id, "reason", why)
	}
	text := "Authorization Violation"
	if errors.Is(why, ErrBusy) {
		text = "maximum connections exceeded"
	}
	fmt.Fprintf(c, "-ERR '%s'\r\n", text)
}

// authenticate finds the identity of a client, and connects inside under it. c becomes the
// connection within TLS, key is the nkey that was used ("": none), and rest what came after CONNECT.
func (n *network) authenticate(c *net.Conn, inside net.Conn) (id Identity, key string, rest []byte, err error) {
	fail := func(err error) (Identity, string, []byte, error) { return Identity{}, "", nil, err }
	fromServer := bufio.NewReaderSize(inside, controlMax)
	info, err := readControl(fromServer, "INFO")
	if err != nil {
		return fail(err)
	}
	if n.tls != nil {
		info["tls_required"] = true
	}
	if err := writeControl(*c, "INFO", info); err != nil {
		return fail(err)
	}
	var certs *tls.ConnectionState
	if n.tls != nil {
		secure := tls.Server(*c, n.tls)
		if err := secure.Handshake(); err != nil {
			return fail(err)
		}
		state := secure.ConnectionState()
		*c, certs = secure, &state
	}
	fromClient := bufio.NewReaderSize(*c, controlMax)
	connect, err := readControl(fromClient, "CONNECT")
	if err != nil {
		return fail(err)
	}
	text := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	key = text(connect, "nkey")
	if id, err = n.gate.identify(key, text(connect, "sig"), text(info, "nonce"), certs); err != nil {
		return fail(err)
	}
	for _, credential := range []string{"nkey", "sig", "jwt", "user", "pass"} {
		delete(connect, credential)
	}
	token := n.gate.token(id)
	connect["auth_token"] = token
	if err := writeControl(inside, "CONNECT", connect); err != nil {
		n.gate.revoke(token)
		return fail(err)
	}
	rest, err = fromClient.Peek(fromClient.Buffered())
	return id, key, rest, err
}

// readControl reads a control line of the NATS protocol with a JSON object.
func readControl(from *bufio.Reader, word string) (map[string]any, error) {
	line, err := from.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	name, text, _ := bytes.Cut(line, []byte(" "))
	if !bytes.EqualFold(name, []byte(word)) {
		return nil, fmt.Errorf("no %s: not the NATS protocol", word)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	return object, nil
}

func writeControl(to io.Writer, word string, object map[string]any) error {
	text, err := json.Marshal(object)
	if err == nil {
		_, err = fmt.Fprintf(to, "%s %s\r\n", word, text)
	}
	return err
}

// guest is an authenticated connection over the network.
type guest struct {
	conn net.Conn
	id   Identity
	key  string
}

// guests are all that are open.
type guests struct {
	mu   sync.Mutex
	last int
	open map[int]guest
}

func (g *guests) add(c net.Conn, id Identity, key string) (number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[int]guest)
	}
	g.last++
	g.open[g.last] = guest{c, id, key}
	return g.last
}

func (g *guests) remove(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, number)
}

// revokeWait is how long an open connection may still use a revoked key.
const revokeWait = time.Second

// expelRevoked closes the connections of keys that were revoked, or belong to another user
// now, until the listener is closed.
func (n *network) expelRevoked() {
	tick := time.NewTicker(revokeWait / 2)
	defer tick.Stop()
	for {
		select {
		case <-n.quit:
			return
		case <-tick.C:
		}
		keys, err := n.gate.registered()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue // being edited; new connections are refused meanwhile
		}
		n.guests.expel(func(g guest) bool { return g.key != "" && keys[g.key] != g.id }, n.gate.log)
	}
}

// expel closes the connections of some.
func (g *guests) expel(some func(guest) bool, log Logger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for number, one := range g.open {
		if some(one) {
			one.conn.Close()
			delete(g.open, number)
			if log != nil {
				log.Warn("connection closed", "from", one.conn.RemoteAddr(), "user", one.id, "reason", "its key was revoked")
			}
		}
	}
}
