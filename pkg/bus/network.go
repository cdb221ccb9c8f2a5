package bus

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// networkListener accepts clients of other hosts over TCP. They speak NATS as to any server:
//
//	server: INFO, with a nonce
//	both:   TLS, if the cell has certificates
//	client: CONNECT, with a token, or a public nkey and the signed nonce, or nothing if its certificate contains an identity,
//	        or the name of a guest
//
// After authentication the server receives the CONNECT with a ticket instead of
// the credentials (see authenticator), and bridgeConns carries the rest.
type networkListener struct {
	listener
	host   string      // to listen on, as it was given: a certificate may name it
	tls    *tls.Config // nil: plain text
	nats   Engine
	auth   *authenticator
	bounds *memoryBounds
	// arriving bounds the connections of each address that are not authenticated yet.
	arriving *fair.Places
}

func listenNetwork(
	address string, files TLSFiles, nats Engine, g *authenticator, b *memoryBounds,
) (*networkListener, error) {
	n := &networkListener{nats: nats, auth: g, bounds: b, arriving: newHandshakeQuota(g.connQuota.Total)}
	var err error
	if n.host, n.tls, err = listenOptions(address, files); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("address to listen on: %w", err)
	}
	n.acceptConns(l, n.handleConn)
	return n, nil
}

// listenOptions returns the host part of an address to listen on, and what TLS needs there; nil for plain text.
func listenOptions(address string, files TLSFiles) (host string, config *tls.Config, err error) {
	host, _, err = net.SplitHostPort(address)
	switch ip := net.ParseIP(host); {
	case err != nil:
		return "", nil, fmt.Errorf("address to listen on: %w", err)
	case files != (TLSFiles{}):
		config, err = files.serverConfig()
	case host != "localhost" && (ip == nil || !ip.IsLoopback()):
		err = fmt.Errorf("listening on %s needs TLS: other hosts could read and change what is sent", address)
	}
	return cmp.Or(host, "0.0.0.0"), config, err
}

// url is where clients connect.
func (n *networkListener) url() string {
	scheme := "nats://"
	if n.tls != nil {
		scheme = "tls://"
	}
	_, port, _ := net.SplitHostPort(n.Addr().String())
	return scheme + net.JoinHostPort(n.host, port)
}

// handleConn serves one connection.
func (n *networkListener) handleConn(c net.Conn) {
	from := fair.PeerOf(c)
	if n.arriving.Enter(from, 1) != nil {
		return
	}
	arrived := sync.OnceFunc(func() { n.arriving.Leave(from, 1) })
	defer arrived()
	inside, err := n.nats.InProcessConn()
	if err != nil {
		return // going down
	}
	defer inside.Close()

	deadline := time.Now().Add(daemonWait)
	c.SetDeadline(deadline)
	inside.SetDeadline(deadline)
	id, key, rest, err := n.authenticateConn(&c, inside)
	if err != nil {
		n.auth.delayRefusal(from.Name, err, n.quit)
		n.refuseConn(c, Identity{}, err)
		return
	}
	who, until := id.FairUser(), time.Time{}
	if id.Role == Guest {
		who, until = fair.User{Name: "guests at " + from.Name}, time.Now().Add(guestLife)
	}
	if err := n.auth.admitNATS(who); err != nil {
		n.refuseConn(c, id, err)
		return
	}
	defer n.auth.releaseNATS(who)
	arrived()
	c.SetDeadline(until)
	inside.SetDeadline(time.Time{})
	defer n.auth.conns.removeConn(n.auth.conns.addConn(c, id, key, who))
	bridgeConns(c, io.MultiReader(bytes.NewReader(rest), c), inside, n.bounds.incomplete.newReservation(who, n.quit),
		n.bounds.unread.newWriteBuffer(who))
}

// refuseConn answers a client that is not authenticated or has too many connections, in the
// words of the NATS protocol.
func (n *networkListener) refuseConn(c net.Conn, id Identity, why error) {
	if n.auth.log != nil {
		n.auth.log.Warn("connection refused", "address", c.RemoteAddr(), "user", id, "reason", why)
	}
	text := "Authorization Violation"
	if errors.Is(why, ErrBusy) {
		text = "maximum connections exceeded"
	}
	fmt.Fprintf(c, "-ERR '%s'\r\n", text)
}

// authenticateConn finds the identity of a client, and connects inside under it. c becomes the
// connection within TLS, key is the nkey that was used ("": none), and rest what came after CONNECT.
func (n *networkListener) authenticateConn(
	c *net.Conn, inside net.Conn,
) (id Identity, key string, rest []byte, err error) {
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
	token := text(connect, "auth_token")
	if guest, is, why := n.auth.identifyGuest(token); is {
		id, err = guest, why
	} else if token != "" {
		id, err = n.auth.identifyToken(token)
	} else {
		key = text(connect, "nkey")
		id, err = n.auth.identifyCredentials(key, text(connect, "sig"), text(info, "nonce"), certs)
	}
	if err != nil {
		return fail(err)
	}
	for _, credential := range []string{"nkey", "sig", "jwt", "user", "pass"} {
		delete(connect, credential)
	}
	ticket := n.auth.issueTicket(id)
	connect["auth_token"] = ticket
	if err := writeControl(inside, "CONNECT", connect); err != nil {
		n.auth.revokeTicket(ticket)
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
