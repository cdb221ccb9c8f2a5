package bus

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// door is one way to a server.
type door struct {
	opts  []nats.Option
	greet func() error // finds id before NATS is spoken; nil: id is known
	id    Identity
	lacks string // file of a key that is not there
	dial  *dialer
}

// dialer stores the error of the last connection, which the library does not return.
type dialer struct {
	net.Dialer
	err error
}

func (d *dialer) Dial(network, address string) (c net.Conn, err error) {
	c, err = d.Dialer.Dial(network, address)
	d.err = err
	return c, err
}

func (o *ConnOptions) door() (*door, error) {
	switch {
	case o.Inside != nil:
		return insideDoor(o.Inside, o.Identity), nil
	case o.Socket != "":
		return socketDoor(o), nil
	}
	return networkDoor(o)
}

func insideDoor(s *Server, id Identity) *door {
	return &door{id: id, opts: []nats.Option{
		nats.InProcessServer(s.nats),
		nats.WriteBufferSize(1), // the goroutine that publishes hands it to the server
		nats.TokenHandler(func() string { return s.gate.ticket(id) }),
	}}
}

func networkDoor(o *ConnOptions) (*door, error) {
	d := &door{id: o.Identity, dial: &dialer{Dialer: net.Dialer{Timeout: connectWait}}}
	d.opts = append(d.opts, nats.SetCustomDialer(d.dial))
	if o.TLS != (TLSFiles{}) {
		cfg, err := o.TLS.client()
		if err != nil {
			return nil, err
		}
		d.opts = append(d.opts, nats.Secure(cfg))
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
	if o.Seed != "" {
		pair, owner, err := readSeed(o.Seed)
		if errors.Is(err, os.ErrNotExist) {
			d.lacks = o.Seed // a certificate may do, or the server authenticates no client
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		if d.id, err = actAs(o.Identity, owner); err != nil {
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

// socketDoor connects through the cell's Unix socket; see socket.go for what is
// said before NATS.
func socketDoor(o *ConnOptions) *door {
	d := &door{id: o.Identity}
	var ready net.Conn // from greet, for the first connection
	var ticket string
	enter := func() (net.Conn, error) {
		c, pass, err := greetSocket(o, "")
		if err != nil {
			return nil, err
		}
		word, secret, _ := strings.Cut(pass, " ")
		d.id, _ = ParseWord(word)
		ticket = secret
		return c, nil
	}
	d.greet = func() (err error) {
		ready, err = enter()
		return err
	}
	d.opts = []nats.Option{
		nats.InProcessServer(connFunc(func() (net.Conn, error) {
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

// greetSocket connects to the socket: with the token if there is one, as a user if the
// identity has no role. pass is the server's part of the exchange.
func greetSocket(o *ConnOptions, prefix string) (c net.Conn, pass string, err error) {
	hello := string(cmp.Or(o.Identity.Role, User)) + " " + o.Identity.Name
	if o.Token != "" {
		if _, _, ok := ParseToken(o.Token); !ok {
			return nil, "", ErrToken
		}
		hello = tokenHello + o.Token
	}
	if c, err = net.Dial("unix", o.Socket); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	c.SetDeadline(time.Now().Add(connectWait))
	if pass, err = greet(c, appendText(nil, prefix+hello)); err != nil {
		c.Close()
		if o.Token != "" && errors.Is(err, ErrRefused) {
			err = ErrToken
		}
		return nil, "", err
	}
	c.SetDeadline(time.Time{})
	return c, pass, nil
}

func greet(c net.Conn, hello []byte) (string, error) {
	_, failed := c.Write(hello) // a server that is busy answers without reading it
	var in [1]byte
	if _, err := c.Read(in[:]); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoServer, cmp.Or(failed, err))
	}
	text, err := readText(c)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	switch in[0] {
	case greetWelcome:
		return text, nil
	case greetBusy:
		return "", fmt.Errorf("%w: %s", ErrBusy, text)
	}
	return "", fmt.Errorf("%w: %s", ErrRefused, text)
}

type connFunc func() (net.Conn, error)

func (f connFunc) InProcessConn() (net.Conn, error) { return f() }
