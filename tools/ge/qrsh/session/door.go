package session

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// patience is how long a connection may take to show that it is the right one.
const patience = 10 * time.Second

// Connect tries as often, after a pause that doubles: at the door others may come and go faster than one can show its
// token.
const (
	tries = 5
	pause = 100 * time.Millisecond
)

// alive finds out within a minute that the other host is gone.
var alive = net.KeepAliveConfig{Enable: true, Idle: 20 * time.Second, Interval: 10 * time.Second, Count: 4}

// Door is where qrsh waits for its command to call.
type Door struct {
	listener net.Listener
	config   *tls.Config
	name     string // how others reach the listener
	print    [sha256.Size]byte
	token    [32]byte
	guest    chan *Link
	closing  sync.Once
}

// Listen opens a door at a port that is free: of the loopback interface with
// an empty name, else of all interfaces, reached by the name of this host.
func Listen(name string) (*Door, error) {
	address := ":0"
	if name == "" {
		name, address = "127.0.0.1", "127.0.0.1:0"
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, public, private)
	if err != nil {
		return nil, err
	}
	d := &Door{name: name, print: sha256.Sum256(certificate), guest: make(chan *Link, 1)}
	rand.Read(d.token[:])
	d.config = &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		SessionTicketsDisabled: true,
	}
	listen := net.ListenConfig{KeepAliveConfig: alive}
	l, err := listen.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	d.listener = fair.NewListener("qrsh, qlogin: connections that have not shown their token", l,
		fair.Limits{Total: 64, User: 16, Reserve: 16})
	go d.watch()
	return d, nil
}

// Address is where the door is, HOST:PORT.
func (d *Door) Address() string {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	return net.JoinHostPort(d.name, port)
}

// Invitation is what Connect needs: HOST:PORT/FINGERPRINT/TOKEN.
func (d *Door) Invitation() string {
	word := base64.RawURLEncoding.EncodeToString
	return d.Address() + "/" + word(d.print[:]) + "/" + word(d.token[:])
}

// Admit waits for the one who has the invitation, and closes the door.
func (d *Door) Admit(ctx context.Context) (*Link, error) {
	defer d.Close()
	select {
	case l := <-d.guest:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close closes the door. Who was admitted stays.
func (d *Door) Close() {
	d.closing.Do(func() { d.listener.Close() })
}

// watch lets each that connects show its token. Those that show nothing make room for others.
func (d *Door) watch() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of files or memory, for now
			continue
		}
		go func() {
			if l := d.examine(conn); l == nil {
				conn.Close()
			} else {
				d.welcome(l)
			}
		}()
	}
}

// examine reads the token; nil when it is not the right one.
func (d *Door) examine(conn net.Conn) *Link {
	conn.SetDeadline(time.Now().Add(patience))
	l := newLink(tls.Server(conn, d.config))
	kind, token, err := l.next()
	if err != nil || kind != frameToken || subtle.ConstantTimeCompare(token, d.token[:]) != 1 {
		return nil
	}
	conn.(*fair.Conn).SetIdle(false) // it stays
	if l.send(frameAdmit, nil) != nil {
		return nil
	}
	conn.SetDeadline(time.Time{})
	return l
}

// welcome hands the first guest over; there is no second.
func (d *Door) welcome(l *Link) {
	select {
	case d.guest <- l:
		d.Close()
	default:
		l.Close()
	}
}

// Connect opens the link of an invitation. It fails when the other end has another fingerprint or rejects the token.
func Connect(ctx context.Context, invitation string) (l *Link, err error) {
	for i, rest := 1, pause; ; i, rest = i+1, 2*rest {
		if l, err = connectOnce(ctx, invitation); i == tries || !errors.Is(err, errClosed) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(rest):
		}
	}
}

// errClosed means that the other end has closed the connection: the token is wrong, or others have taken its place.
var errClosed = errors.New("the connection was closed before the token was accepted")

// connectOnce is Connect without another try.
func connectOnce(ctx context.Context, invitation string) (*Link, error) {
	address, rest, _ := strings.Cut(invitation, "/")
	print, token, _ := strings.Cut(rest, "/")
	want, err := base64.RawURLEncoding.DecodeString(print)
	secret, err2 := base64.RawURLEncoding.DecodeString(token)
	if err != nil || err2 != nil || len(want) != sha256.Size {
		return nil, errors.New("the invitation is not readable")
	}
	dialer := net.Dialer{Timeout: patience, KeepAliveConfig: alive}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(patience))
	l := newLink(tls.Client(conn, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // it is self-signed and checked by its fingerprint
		VerifyConnection: func(s tls.ConnectionState) error {
			got := sha256.Sum256(s.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare(got[:], want) != 1 {
				return fmt.Errorf("another program answers at %s: the fingerprint differs", address)
			}
			return nil
		},
	}))
	err = l.send(frameToken, secret)
	if err == nil {
		if kind, _, broken := l.next(); broken != nil || kind != frameAdmit {
			err = fmt.Errorf("%s: %w", address, errClosed)
		}
	} else if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("%s: %w", address, errClosed)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return l, nil
}
