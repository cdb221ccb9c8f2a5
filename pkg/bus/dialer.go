package bus

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// dialer is one way to a server.
type dialer struct {
	opts        []nats.Option
	handshake   func() error // finds id before NATS is spoken; nil: id is known
	id          Identity
	missingSeed string      // file of a key that is not there
	cert        *clientCert // nil: there is none
	net         *netDialer
}

// clientCert is the certificate by which the server is to authenticate the client.
type clientCert struct {
	file  string
	until time.Time
}

// netDialer stores the error of the last connection, which the library does not return.
type netDialer struct {
	net.Dialer
	err error
}

func (d *netDialer) Dial(network, address string) (c net.Conn, err error) {
	c, err = d.Dialer.Dial(network, address)
	d.err = err
	return c, err
}

func (o *ConnOptions) newDialer() (*dialer, error) {
	switch {
	case o.Inside != nil:
		return newInProcessDialer(o.Inside, o.Identity), nil
	case o.Socket != "":
		return newSocketDialer(o), nil
	}
	return newNetworkDialer(o)
}

func newInProcessDialer(s *Server, id Identity) *dialer {
	return &dialer{id: id, opts: []nats.Option{
		nats.InProcessServer(s.nats),
		nats.WriteBufferSize(1), // the goroutine that publishes hands it to the server
		nats.TokenHandler(func() string { return s.auth.issueTicket(id) }),
	}}
}

func newNetworkDialer(o *ConnOptions) (*dialer, error) {
	d := &dialer{id: o.Identity, net: &netDialer{Dialer: net.Dialer{Timeout: connectWait}}}
	d.opts = append(d.opts, nats.SetCustomDialer(d.net))
	if o.TLS != (TLSFiles{}) {
		cfg, err := o.TLS.clientConfig()
		if err != nil {
			return nil, err
		}
		d.opts = append(d.opts, nats.Secure(cfg))
		if len(cfg.Certificates) > 0 {
			d.cert = &clientCert{o.TLS.Cert, cfg.Certificates[0].Leaf.NotAfter}
		}
	}
	if o.Token != "" {
		number, _, ok := ParseToken(o.Token)
		if !ok {
			return nil, ErrToken
		}
		d.id = Identity{Role: User, Token: number}
		d.opts = append(d.opts, nats.Token(o.Token))
		return d, nil
	}
	if o.Identity.Role == Guest {
		d.opts = append(d.opts, nats.Token(guestPrefix+o.Identity.Name))
		return d, nil
	}
	if o.Seed != "" {
		pair, owner, err := readSeed(o.Seed)
		if errors.Is(err, os.ErrNotExist) {
			d.missingSeed = o.Seed // a certificate may do, or the server authenticates no client
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		d.cert = nil // the key counts
		if d.id, err = resolveIdentity(o.Identity, owner); err != nil {
			return nil, fmt.Errorf("key in %s %w", o.Seed, err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("key in %s: %w", o.Seed, err)
		}
		d.opts = append(d.opts, nats.Nkey(public, pair.Sign))
	}
	return d, nil
}

// newSocketDialer connects through the cell's Unix socket; see socket.go for what is
// said before NATS.
func newSocketDialer(o *ConnOptions) *dialer {
	d := &dialer{id: o.Identity}
	var ready net.Conn // from handshake, for the first connection
	var ticket string
	enter := func() (net.Conn, error) {
		c, pass, err := shakeHands(o, "")
		if err != nil {
			return nil, err
		}
		word, secret, _ := strings.Cut(pass, " ")
		d.id, _ = ParseWord(word)
		ticket = secret
		return c, nil
	}
	d.handshake = func() (err error) {
		ready, err = enter()
		return err
	}
	d.opts = []nats.Option{
		nats.InProcessServer(inProcessConnFunc(func() (net.Conn, error) {
			if c := ready; c != nil {
				ready = nil
				return c, nil
			}
			return enter()
		})),
		nats.TokenHandler(func() string { return ticket }),
	}
	return d
}

// shakeHands connects to the socket; pass is the server's part of the exchange.
func shakeHands(o *ConnOptions, prefix string) (c net.Conn, pass string, err error) {
	c, err = sendHello(o, prefix)
	if err != nil {
		return nil, "", err
	}
	if pass, err = new(greeting).readFrom(c, o); err != nil {
		c.Close()
		return nil, "", err
	}
	return c, pass, nil
}

// sendHello connects to the socket and sends the client's part of the exchange: with the
// token if there is one, as a user if the identity has no role. greeting.readFrom is next.
func sendHello(o *ConnOptions, prefix string) (*net.UnixConn, error) {
	hello := string(cmp.Or(o.Identity.Role, User)) + " " + o.Identity.Name
	if o.Token != "" {
		if _, _, ok := ParseToken(o.Token); !ok {
			return nil, ErrToken
		}
		hello = tokenHello + o.Token
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: o.Socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	c.SetReadDeadline(time.Now().Add(o.answerWait()))
	_, _ = c.Write(appendText(nil, prefix+hello)) // a server that is busy answers without reading it
	return c, nil
}

// greeting is what has been read of the server's part of the exchange.
type greeting []byte

// missingBytes returns how many bytes are to be read next; 0: the greeting is whole.
func (g *greeting) missingBytes() int {
	const head = 3 // how, and the length of the text
	if len(*g) < head {
		return head - len(*g)
	}
	return head + int(binary.BigEndian.Uint16((*g)[1:])) - len(*g)
}

// readFrom returns the server's part of the exchange, or why it does not serve. After an error
// of a deadline it may be called again.
func (g *greeting) readFrom(c net.Conn, o *ConnOptions) (string, error) {
	for missing := g.missingBytes(); missing > 0; missing = g.missingBytes() {
		more := make([]byte, missing)
		n, err := c.Read(more)
		if *g = append(*g, more[:n]...); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoServer, err)
		}
	}
	how, text := (*g)[0], string((*g)[3:])
	switch {
	case how == greetWelcome:
		c.SetReadDeadline(time.Time{})
		return text, nil
	case how == greetBusy:
		return "", fmt.Errorf("%w: %s", ErrBusy, text)
	case o.Token != "":
		return "", ErrToken
	}
	return "", fmt.Errorf("%w: %s", ErrRefused, text)
}

type inProcessConnFunc func() (net.Conn, error)

func (f inProcessConnFunc) InProcessConn() (net.Conn, error) { return f() }
